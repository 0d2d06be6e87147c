import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import { okAround } from '../http/envelope.ts';
import { idOf } from '../http/fields.ts';
import { refuse } from '../http/refusals.ts';
import type { Piece } from '../http/streaming.ts';
import { countUsersIn } from '../users/memberships.ts';
import {
  closeSkeleton,
  fetchSkeleton,
  keepTalking,
  keepToKeys,
  type NodeRow,
  openSkeleton,
  type Part,
  readContents,
  readNodes,
} from './queries.ts';
import type { TreeFilter } from './schema.ts';
import { Skeleton, type Step, stepsThrough } from './skeleton.ts';

/** Up to this many nodes a tree is read with one statement and told from memory. */
const SMALL = 10_000;
/** Contents of a larger one are read this many at a time. */
const AT_ONCE = 1_000;
/** And told this many at a time: long texts outlive many collections of the short-lived. */
const IN_A_PIECE = 200;

export type { NodeRow };

/** A tree to be told: of today, or of the past. */
export interface TreeSource {
  part: Part;
  /** The nodes, children of one parent together and in display order; undefined, or too many, when they are more. */
  nodes(atMost: number): Promise<NodeRow[] | undefined>;
  /** The shape of it, of any size; undefined when nobody waits for it any more. */
  skeleton(isAwaited: () => boolean): Promise<Skeleton | undefined>;
  /** What some nodes show, in no order. */
  contents(skeleton: Skeleton, nodes: number[]): Promise<NodeRow[]>;
}

export function treeNow(tx: Tx, { tenantId }: Caller, filter: TreeFilter): TreeSource {
  const part = partOf(filter);
  return {
    part,
    async nodes(atMost) {
      await keepToKeys(tx);
      const rows = await readNodes(tx, tenantId, part, atMost + 1);
      if (filter.counts && rows.length <= atMost) {
        const ids = rows.map(({ deptId }) => deptId);
        tellCounts(rows, await countUsersIn(tx, tenantId, ids));
      }
      return rows;
    },
    async skeleton(isAwaited) {
      await keepToKeys(tx);
      return readSkeleton(tx, tenantId, part, isAwaited);
    },
    contents: (skeleton, nodes) =>
      readSome(
        tx,
        tenantId,
        nodes.map((node) => skeleton.id(node)),
        part,
        filter.counts,
      ),
  };
}

/** A tree in its envelope, as it is sent; undefined when it is too large to be held in memory. */
export async function readSmallTree({ part, nodes }: TreeSource): Promise<Buffer | undefined> {
  const rows = await nodes(SMALL);
  if (!rows || rows.length > SMALL) return undefined;
  if (part.rootId && rows.length === 0) throw refuse('DEPT_NOT_FOUND');
  const skeleton = new Skeleton();
  const contents: NodeRow[] = [];
  for (const row of rows) contents[skeleton.add(row.deptId, parentIn(part, row.deptId, row.parentId))] = row;
  const told = tell(skeleton, [...stepsThrough(skeleton)], (node) => contents[node] as NodeRow);
  return Buffer.concat([Buffer.from(`${okAround.before}[`), told, Buffer.from(`]${okAround.after}`)]);
}

/**
 * The same of any size, piece by piece. First the shape of the whole tree, which is all that is kept of it; then the
 * contents, in the order in which they are told. All of one snapshot: it is the caller's transaction that must be one.
 * `isAwaited` is asked until the first piece is there; then whoever takes the pieces may stop taking them.
 */
export async function* readTree(tx: Tx, source: TreeSource, isAwaited: () => boolean): AsyncGenerator<Piece, void> {
  const skeleton = await source.skeleton(isAwaited);
  if (!skeleton) return;
  if (source.part.rootId && skeleton.size === 0) throw refuse('DEPT_NOT_FOUND');
  const steps = stepsThrough(skeleton);
  const readMore = () => {
    const some = take(steps, AT_ONCE);
    const nodes = some.map(({ node }) => node);
    const rows = nodes.length > 0 ? source.contents(skeleton, nodes) : undefined;
    // It is heard of when it is awaited, below.
    rows?.catch(() => {});
    return { some, rows };
  };
  const hush = keepTalking(tx);
  let now = readMore();
  try {
    yield `${okAround.before}[`;
    for (let ended = 0; now.rows; ) {
      const { some } = now;
      const contents = new Map((await now.rows).map((row) => [row.deptId, row]));
      // While one piece is told, the next is read.
      now = readMore();
      for (let at = 0; at < some.length; at += IN_A_PIECE) {
        const piece = some.slice(at, at + IN_A_PIECE);
        yield tell(skeleton, piece, (node) => contents.get(skeleton.id(node)) as NodeRow, ended);
        ended = piece.at(-1)?.ends ?? 0;
      }
    }
  } finally {
    hush();
    skeleton.release();
    // Whoever stops taking pieces ends the transaction: not while a statement of it is under way.
    await now.rows;
  }
  yield `]${okAround.after}`;
}

async function readSome(tx: Tx, tenantId: string, ids: number[], { depth }: Part, counts = false) {
  // Sent together.
  const [rows, users] = await Promise.all([
    readContents(tx, tenantId, ids, depth !== null),
    counts ? countUsersIn(tx, tenantId, ids) : undefined,
  ]);
  if (users) tellCounts(rows, users);
  return rows;
}

function tellCounts(rows: NodeRow[], users: Map<number, number>): void {
  for (const row of rows) {
    row.beginning = Buffer.concat([row.beginning, Buffer.from(`"userCount":${users.get(row.deptId) ?? 0},`)]);
  }
}

async function readSkeleton(tx: Tx, tenantId: string, part: Part, isAwaited: () => boolean) {
  const skeleton = new Skeleton();
  await openSkeleton(tx, tenantId, part);
  for (;;) {
    const rows = await fetchSkeleton(tx);
    if (rows.length === 0) break;
    if (!isAwaited()) return undefined;
    for (const [deptId, parentId] of rows) skeleton.add(deptId, parentIn(part, deptId, parentId));
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

/** The root of a branch has a parent, but not in this tree. */
const parentIn = ({ rootId }: Part, deptId: number, parentId: number) => (String(deptId) === rootId ? 0 : parentId);

const WITH_CHILDREN = Buffer.from('"hasChildren":true,"children":[');
const WITHOUT = Buffer.from('"hasChildren":false,"children":[');
const END = Buffer.from(']}');

/**
 * These nodes as they are sent. Bytes all the way from PostgreSQL: as texts they would be read and written once more.
 * `ended`: how many ended before the first of these; 0 when it is a first child, or the first of all.
 */
function tell(skeleton: Skeleton, steps: Step[], rowOf: (node: number) => NodeRow, ended = 0): Buffer {
  const rows = steps.map(({ node }) => rowOf(node));
  const size = (sum: number, { beginning }: NodeRow, at: number) =>
    sum + beginning.length + WITHOUT.length + END.length * (steps[at] as Step).ends + 1;
  const bytes = Buffer.allocUnsafe(rows.reduce(size, 0));
  let length = 0;
  const put = (some: Buffer) => {
    bytes.set(some, length);
    length += some.length;
  };
  let before = ended;
  for (const [at, { node, ends }] of steps.entries()) {
    const { beginning, hasChildren = false } = rows[at] as NodeRow;
    if (before > 0) bytes[length++] = COMMA;
    put(beginning);
    put(hasChildren || skeleton.firstChild(node) !== 0 ? WITH_CHILDREN : WITHOUT);
    for (let n = 0; n < ends; n++) put(END);
    before = ends;
  }
  return bytes.subarray(0, length);
}
const COMMA = ','.charCodeAt(0);

export const partOf = ({ rootId, depth }: TreeFilter): Part => {
  const id = rootId === undefined ? '0' : idOf(rootId);
  return { rootId: id === '0' ? null : id, depth: depth ?? null };
};
