import type { Tx } from '../../../db/driver.ts';
import { forceIndexScans } from '../../../db/planner.ts';
import type { Caller } from '../../auth/caller.ts';
import { createSlices, mapInSlices, sortInSlices } from '../../http/slices.ts';
import { invalid } from '../../http/validation.ts';
import type { PointInTime } from '../../ledger/point-in-time.ts';
import { type Leaders, showLeader } from '../leaders.ts';
import { department } from '../record.ts';
import type { TreeFilter } from '../tree/schema.ts';
import { Skeleton } from '../tree/skeleton.ts';
import { type NodeRow, subtreeOf, type TreeSource } from '../tree/tree.ts';
import { readLeadersAt } from './leaders.ts';
import {
  closeShape,
  fetchShape,
  openSubtreeShape,
  openWholeShape,
  type PastNode,
  readAllAt,
  readRowsAfter,
  readSubtreeAt,
} from './tree-queries.ts';

export function treeAt(tx: Tx, { tenantId }: Caller, filter: TreeFilter, time: PointInTime): TreeSource {
  if (filter.counts) throw invalid('counts', 'notWithAsOf');
  const subtree = subtreeOf(filter);
  const isWhole = subtree.rootId === null && subtree.depth === null;
  /** The latest change of each node. */
  const changes: number[] = [];
  const nodesOf = async (rows: readonly PastNode[]) => {
    const leaders = await readLeadersAt(
      tx,
      tenantId,
      rows.map(({ leaderId }) => leaderId),
      time,
    );
    return mapInSlices(rows, (row) => nodeOf(row, leaders));
  };

  return {
    subtree,
    async nodes(maxRows) {
      await forceIndexScans(tx);
      if (!isWhole) return nodesOf(await readSubtreeAt(tx, tenantId, subtree, time, maxRows + 1));
      // Departments that had been deleted by then, or were created afterwards, are read too, so allow twice as many rows.
      const rows = await readAllAt(tx, tenantId, time, 2 * maxRows);
      if (!rows) return undefined;
      const sorted = await sortInSlices(Int32Array.from(rows.keys()), (a, b) =>
        compareDisplayOrder(at(rows, a), at(rows, b)),
      );
      return nodesOf(Array.from(sorted, (n) => at(rows, n)));
    },
    async skeleton(isClientWaiting) {
      await forceIndexScans(tx);
      await (isWhole ? openWholeShape(tx, tenantId, time) : openSubtreeShape(tx, tenantId, subtree, time));
      const shape = await fetchWholeShape(tx, isClientWaiting);
      if (!shape) return undefined;
      const skeleton = new Skeleton();
      const pause = createSlices();
      for (const n of isWhole ? await sortedIndexes(shape) : shape.ids.keys()) {
        if (n % 1_000 === 0) await pause();
        const id = at(shape.ids, n);
        const isRoot = String(id) === subtree.rootId;
        changes[skeleton.add(id, isRoot ? 0 : at(shape.parents, n))] = at(shape.changes, n);
      }
      return skeleton;
    },
    contents: async (_, nodes) => {
      const ids = nodes.map((node) => changes[node] as number);
      return nodesOf(await readRowsAfter(tx, tenantId, ids, time, { depthLimited: subtree.depth !== null }).execute());
    },
  };
}

/** The nodes of a tree, stored by column: this takes a fifth of the memory of rows. */
interface Shape {
  ids: number[];
  parents: number[];
  changes: number[];
  orders: number[];
}

async function fetchWholeShape(tx: Tx, isClientWaiting: () => boolean): Promise<Shape | undefined> {
  const shape: Shape = { ids: [], parents: [], changes: [], orders: [] };
  for (;;) {
    const rows = await fetchShape(tx);
    if (rows.length === 0) break;
    if (!isClientWaiting()) return undefined;
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

/** Returns the indexes of the nodes, with the children of each parent consecutive and in display order. */
function sortedIndexes({ ids, parents, orders }: Shape): Promise<Int32Array> {
  return sortInSlices(
    Int32Array.from(ids.keys()),
    (a, b) => at(parents, a) - at(parents, b) || at(orders, a) - at(orders, b) || at(ids, a) - at(ids, b),
  );
}

const at = <T>(items: readonly T[], index: number): T => items[index] as T;

const { deptName: name, orderNum: order, status } = department.fields;

const compareDisplayOrder = (a: PastNode, b: PastNode): number =>
  a.parentId - b.parentId || (a.orderNum ?? order.default) - (b.orderNum ?? order.default) || a.deptId - b.deptId;

function nodeOf({ hasChildren, leaderId, ...node }: PastNode, leaders: Leaders): NodeRow {
  const { deptId, parentId } = node;
  const text = JSON.stringify({
    deptId,
    parentId,
    deptName: node.deptName ?? name.default,
    orderNum: node.orderNum ?? order.default,
    leader: showLeader({ leader: node.leader, leaderId }, leaders).leader,
    status: node.status ?? status.default,
  });
  return { deptId, parentId, jsonPrefix: Buffer.from(`${text.slice(0, -1)},`), hasChildren };
}
