import type { Tx } from '../../../db/driver.ts';
import { forceIndexScans } from '../../../db/planner.ts';
import type { Caller } from '../../auth/caller.ts';
import { successEnvelope } from '../../http/envelope.ts';
import { apiError } from '../../http/errors.ts';
import { idOf } from '../../http/fields.ts';
import { createSlices } from '../../http/slices.ts';
import type { Chunk } from '../../http/streaming.ts';
import { countMembers } from '../members-queries.ts';
import {
  closeSkeleton,
  fetchSkeleton,
  keepAlive,
  type NodeRow,
  openSkeleton,
  readContents,
  readNodes,
} from './queries.ts';
import type { Subtree, TreeFilter } from './schema.ts';
import { Skeleton, type Step, traverse } from './skeleton.ts';

/** Up to this many nodes, a tree is read as a whole and serialized in memory. */
const MAX_IN_MEMORY = 10_000;
/** How many nodes of a larger tree one statement reads. */
const BATCH_SIZE = 1_000;
/** How many of them are serialized at a time: larger pieces would survive many minor garbage collections. */
const PIECE_SIZE = 200;

export type { NodeRow };

/** Reads a tree, as it is now or as it was at a time in the past. */
export interface TreeSource {
  subtree: Subtree;
  /**
   * Reads the nodes, with the children of each parent consecutive and in display order. Returns undefined, or more than
   * `maxRows` rows, when there are more.
   */
  nodes(maxRows: number): Promise<NodeRow[] | undefined>;
  /** Reads the shape of a tree of any size; undefined when the client no longer waits for the response. */
  skeleton(isClientWaiting: () => boolean): Promise<Skeleton | undefined>;
  /** Reads the contents of nodes, in no particular order. */
  contents(skeleton: Skeleton, nodes: number[]): Promise<NodeRow[]>;
}

export function currentTree(tx: Tx, { tenantId }: Caller, filter: TreeFilter): TreeSource {
  const subtree = subtreeOf(filter);
  return {
    subtree,
    async nodes(maxRows) {
      await forceIndexScans(tx);
      const rows = await readNodes(tx, tenantId, subtree, maxRows + 1);
      if (filter.counts && rows.length <= maxRows) {
        const ids = rows.map(({ deptId }) => deptId);
        addCounts(rows, await countMembers(tx, tenantId, ids));
      }
      return rows;
    },
    async skeleton(isClientWaiting) {
      await forceIndexScans(tx);
      return readSkeleton(tx, tenantId, subtree, isClientWaiting);
    },
    async contents(skeleton, nodes) {
      const ids = nodes.map((node) => skeleton.id(node));
      // Both statements are sent together, in one round trip.
      const [rows, users] = await Promise.all([
        readContents(tx, tenantId, ids, { depthLimited: subtree.depth !== null }),
        filter.counts ? countMembers(tx, tenantId, ids) : undefined,
      ]);
      if (users) addCounts(rows, users);
      return rows;
    },
  };
}

/** Returns a tree as the body of a response; undefined when it is too large to be serialized in memory. */
export async function readSmallTree({ subtree, nodes }: TreeSource): Promise<Buffer | undefined> {
  const rows = await nodes(MAX_IN_MEMORY);
  if (!rows || rows.length > MAX_IN_MEMORY) return undefined;
  if (subtree.rootId && rows.length === 0) throw apiError('DEPT_NOT_FOUND');
  const skeleton = new Skeleton();
  const contents: NodeRow[] = [];
  const pause = createSlices();
  for (const [n, row] of rows.entries()) {
    contents[skeleton.add(row.deptId, parentInTree(subtree, row.deptId, row.parentId))] = row;
    if (n % PIECE_SIZE === 0) await pause();
  }
  const pieces: Buffer[] = [Buffer.from(`${successEnvelope.before}[`)];
  const steps = traverse(skeleton);
  let completedBefore = 0;
  for (let piece = take(steps, PIECE_SIZE); piece.length > 0; piece = take(steps, PIECE_SIZE)) {
    pieces.push(serialize(skeleton, piece, (node) => contents[node] as NodeRow, completedBefore));
    completedBefore = piece.at(-1)?.completed ?? 0;
    await pause();
  }
  pieces.push(Buffer.from(`]${successEnvelope.after}`));
  return Buffer.concat(pieces);
}

/**
 * Yields the same for a tree of any size, piece by piece. It reads the shape of the whole tree first, and keeps only that in
 * memory; the contents follow in the order in which they are sent. All statements of the caller's transaction must see one
 * snapshot. `isClientWaiting` is called until the first piece is yielded; after that the consumer may stop early.
 */
export async function* readTree(
  tx: Tx,
  source: TreeSource,
  isClientWaiting: () => boolean,
): AsyncGenerator<Chunk, void> {
  const skeleton = await source.skeleton(isClientWaiting);
  if (!skeleton) return;
  if (source.subtree.rootId && skeleton.size === 0) throw apiError('DEPT_NOT_FOUND');
  const steps = traverse(skeleton);
  const readNext = () => {
    const batch = take(steps, BATCH_SIZE);
    const nodes = batch.map(({ node }) => node);
    const rows = nodes.length > 0 ? source.contents(skeleton, nodes) : undefined;
    // The error is thrown where `rows` is awaited; until then it must not count as an unhandled rejection.
    rows?.catch(() => {});
    return { batch, rows };
  };
  const stopKeepAlive = keepAlive(tx);
  const pause = createSlices();
  let next = readNext();
  try {
    yield `${successEnvelope.before}[`;
    for (let completedBefore = 0; next.rows; ) {
      const { batch } = next;
      const contents = new Map((await next.rows).map((row) => [row.deptId, row]));
      // While one batch is serialized, the next is read.
      next = readNext();
      for (let start = 0; start < batch.length; start += PIECE_SIZE) {
        const piece = batch.slice(start, start + PIECE_SIZE);
        yield serialize(skeleton, piece, (node) => contents.get(skeleton.id(node)) as NodeRow, completedBefore);
        completedBefore = piece.at(-1)?.completed ?? 0;
        await pause();
      }
    }
  } finally {
    stopKeepAlive();
    skeleton.release();
    // If the consumer stops early, the transaction ends next: wait for the statement that is still in flight.
    await next.rows;
  }
  yield `]${successEnvelope.after}`;
}

function addCounts(rows: NodeRow[], users: Map<number, number>): void {
  for (const row of rows) {
    row.jsonPrefix = Buffer.concat([row.jsonPrefix, Buffer.from(`"userCount":${users.get(row.deptId) ?? 0},`)]);
  }
}

async function readSkeleton(tx: Tx, tenantId: string, subtree: Subtree, isClientWaiting: () => boolean) {
  const skeleton = new Skeleton();
  await openSkeleton(tx, tenantId, subtree);
  for (;;) {
    const rows = await fetchSkeleton(tx);
    if (rows.length === 0) break;
    if (!isClientWaiting()) return undefined;
    for (const [deptId, parentId] of rows) skeleton.add(deptId, parentInTree(subtree, deptId, parentId));
  }
  await closeSkeleton(tx);
  return skeleton;
}

function take(steps: Generator<Step, void>, count: number): Step[] {
  const taken: Step[] = [];
  while (taken.length < count) {
    const { value } = steps.next();
    if (!value) break;
    taken.push(value);
  }
  return taken;
}

/** The root of a subtree has a parent, but not in this tree. */
const parentInTree = ({ rootId }: Subtree, deptId: number, parentId: number) =>
  String(deptId) === rootId ? 0 : parentId;

const WITH_CHILDREN = Buffer.from('"hasChildren":true,"children":[');
const WITHOUT_CHILDREN = Buffer.from('"hasChildren":false,"children":[');
const END_OF_NODE = Buffer.from(']}');
const COMMA = ','.charCodeAt(0);

/**
 * Serializes nodes. It copies the bytes that PostgreSQL sent, because decoding them to strings and encoding them again is
 * expensive. `completedBefore` is the `completed` of the step before the first of these; 0: no comma precedes it.
 */
function serialize(skeleton: Skeleton, steps: Step[], rowOf: (node: number) => NodeRow, completedBefore = 0): Buffer {
  const rows = steps.map(({ node }) => rowOf(node));
  // `WITHOUT_CHILDREN` is the longer of the two, and the 1 is for a comma.
  const maxSize = (sum: number, { jsonPrefix }: NodeRow, n: number) =>
    sum + jsonPrefix.length + WITHOUT_CHILDREN.length + END_OF_NODE.length * (steps[n] as Step).completed + 1;
  const bytes = Buffer.allocUnsafe(rows.reduce(maxSize, 0));
  let length = 0;
  const append = (source: Buffer) => {
    bytes.set(source, length);
    length += source.length;
  };
  let before = completedBefore;
  for (const [n, { node, completed }] of steps.entries()) {
    const { jsonPrefix, hasChildren = false } = rows[n] as NodeRow;
    if (before > 0) bytes[length++] = COMMA;
    append(jsonPrefix);
    append(hasChildren || skeleton.firstChild(node) !== 0 ? WITH_CHILDREN : WITHOUT_CHILDREN);
    // Tens of thousands of levels may end here, which a loop would take too long to close.
    bytes.fill(END_OF_NODE, length, length + END_OF_NODE.length * completed);
    length += END_OF_NODE.length * completed;
    before = completed;
  }
  return bytes.subarray(0, length);
}

export const subtreeOf = ({ rootId, depth }: TreeFilter): Subtree => {
  const id = rootId === undefined ? '0' : idOf(rootId);
  return { rootId: id === '0' ? null : id, depth: depth ?? null };
};
