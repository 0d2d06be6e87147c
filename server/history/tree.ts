import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import type { TreeFilter } from '../branches/schema.ts';
import { Skeleton } from '../branches/skeleton.ts';
import { type NodeRow, partOf, type TreeSource, treeNow } from '../branches/tree.ts';
import type { Dept } from '../departments/schema.ts';
import { invalid } from '../http/validation.ts';
import { keepToIndexes, type Moment } from './queries.ts';
import { closeShape, fetchShape, openEveryone, openPart, readAfter, readEveryone, readPart } from './tree-queries.ts';

/** Of today without a moment, else as it was. */
export const treeOf =
  (filter: TreeFilter, moment: Moment | undefined) =>
  (tx: Tx, caller: Caller): TreeSource =>
    moment ? treeAt(tx, caller, filter, moment) : treeNow(tx, caller, filter);

function treeAt(tx: Tx, { tenantId }: Caller, filter: TreeFilter, moment: Moment): TreeSource {
  if (filter.counts) throw invalid('counts', 'onlyNow');
  const part = partOf(filter);
  const whole = part.rootId === null && part.depth === null;
  /** By which change each node came to be as it was. */
  const changes: number[] = [];

  return {
    part,
    async nodes(atMost) {
      await keepToIndexes(tx);
      if (!whole) return (await readPart(tx, tenantId, part, moment, atMost + 1)).map(nodeOf);
      // Those that were deleted since, or came later, are looked at too; twice as many is still one short statement.
      const depts = await readEveryone(tx, tenantId, moment, 2 * atMost);
      return depts?.sort(inDisplayOrder).map((dept) => nodeOf({ dept }));
    },
    async skeleton(isAwaited) {
      await keepToIndexes(tx);
      await (whole ? openEveryone(tx, tenantId, moment) : openPart(tx, tenantId, part, moment));
      const shape = await fetchAll(tx, isAwaited);
      if (!shape) return undefined;
      const skeleton = new Skeleton();
      for (const at of whole ? sorted(shape) : shape.ids.keys()) {
        const id = shape.ids[at] as number;
        const isRoot = String(id) === part.rootId;
        changes[skeleton.add(id, isRoot ? 0 : (shape.parents[at] as number))] = shape.changes[at] as number;
      }
      return skeleton;
    },
    contents: async (_, nodes) => {
      const ids = nodes.map((node) => changes[node] as number);
      return (await readAfter(tx, tenantId, ids, moment, part.depth !== null).execute()).map(nodeOf);
    },
  };
}

/** Columns, not rows: a fifth of the memory. */
interface Shape {
  ids: number[];
  parents: number[];
  changes: number[];
  orders: number[];
}

async function fetchAll(tx: Tx, isAwaited: () => boolean): Promise<Shape | undefined> {
  const shape: Shape = { ids: [], parents: [], changes: [], orders: [] };
  for (;;) {
    const rows = await fetchShape(tx);
    if (rows.length === 0) break;
    if (!isAwaited()) return undefined;
    for (const [id, parent, change, order] of rows) {
      shape.ids.push(id);
      shape.parents.push(parent);
      shape.changes.push(change);
      shape.orders.push(order);
    }
  }
  await closeShape(tx);
  return shape;
}

/** The children of one parent together, in display order. */
function sorted({ ids, parents, orders }: Shape): Int32Array {
  const of = (column: number[], at: number) => column[at] as number;
  return Int32Array.from(ids.keys()).sort(
    (a, b) => of(parents, a) - of(parents, b) || of(orders, a) - of(orders, b) || of(ids, a) - of(ids, b),
  );
}

const inDisplayOrder = (a: Dept, b: Dept) => a.parentId - b.parentId || a.orderNum - b.orderNum || a.deptId - b.deptId;

function nodeOf({ dept, hasChildren = false }: { dept: Dept; hasChildren?: boolean }): NodeRow {
  const { deptId, parentId, deptName, orderNum, leader, status } = dept;
  const text = JSON.stringify({ deptId, parentId, deptName, orderNum, leader, status });
  return { deptId, parentId, beginning: Buffer.from(`${text.slice(0, -1)},`), hasChildren };
}
