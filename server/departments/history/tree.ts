import type { Tx } from '../../../db/driver.ts';
import { forceIndexScans } from '../../../db/planner.ts';
import type { Caller } from '../../auth/caller.ts';
import { invalid } from '../../http/validation.ts';
import type { PointInTime } from '../../ledger/point-in-time.ts';
import type { StoredRow } from '../../records/record.ts';
import { department, storedParent } from '../record.ts';
import type { TreeFilter } from '../tree/schema.ts';
import { Skeleton } from '../tree/skeleton.ts';
import { type NodeRow, partOf, type TreeSource } from '../tree/tree.ts';
import {
  closeShape,
  fetchShape,
  openShapeOfAll,
  openShapeOfPart,
  readAllAt,
  readPartAt,
  readRowsAfter,
} from './tree-queries.ts';

/** How to read the tree as it was at a time. */
export function treeAt(tx: Tx, { tenantId }: Caller, filter: TreeFilter, time: PointInTime): TreeSource {
  if (filter.counts) throw invalid('counts', 'notWithAsOf');
  const part = partOf(filter);
  const whole = part.rootId === null && part.depth === null;
  /** The latest change of each node. */
  const changes: number[] = [];

  return {
    part,
    async nodes(maxRows) {
      await forceIndexScans(tx);
      if (!whole) return (await readPartAt(tx, tenantId, part, time, maxRows + 1)).map(nodeOf);
      // Departments that were deleted or created later are read too; twice as many still fit into one short statement.
      const rows = await readAllAt(tx, tenantId, time, 2 * maxRows);
      return rows?.sort(inDisplayOrder).map((row) => nodeOf({ row }));
    },
    async skeleton(isAwaited) {
      await forceIndexScans(tx);
      await (whole ? openShapeOfAll(tx, tenantId, time) : openShapeOfPart(tx, tenantId, part, time));
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
      return (await readRowsAfter(tx, tenantId, ids, time, { depthLimited: part.depth !== null }).execute()).map(
        nodeOf,
      );
    },
  };
}

/** Kept in columns, which takes a fifth of the memory of rows. */
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

function inDisplayOrder(a: StoredRow, b: StoredRow): number {
  const order = (row: StoredRow) => department.fromStored(row).orderNum;
  return storedParent(a) - storedParent(b) || order(a) - order(b) || Number(a.dept_id) - Number(b.dept_id);
}

function nodeOf({ row, hasChildren = false }: { row: StoredRow; hasChildren?: boolean }): NodeRow {
  const [deptId, parentId] = [Number(row.dept_id), storedParent(row)];
  const { deptName, orderNum, leader, status } = department.fromStored(row);
  const text = JSON.stringify({ deptId, parentId, deptName, orderNum, leader, status });
  return { deptId, parentId, jsonPrefix: Buffer.from(`${text.slice(0, -1)},`), hasChildren };
}
