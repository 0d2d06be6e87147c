import type { Tx } from '../../../db/driver.ts';
import { forceIndexScans } from '../../../db/planner.ts';
import { lockTenant } from '../../access/tenant-scope.ts';
import type { Caller } from '../../auth/caller.ts';
import { apiError } from '../../http/errors.ts';
import { idOf, jsonId, jsonIds } from '../../http/fields.ts';
import { decodeCursor, toCursorPage } from '../../http/pagination.ts';
import { invalid } from '../../http/validation.ts';
import { isValidKey, sortOfChildren } from '../filter.ts';
import { countMembers, countSubtreeMembers } from '../members-queries.ts';
import { rowsFitting } from '../path-budget.ts';
import { renumber } from '../queries.ts';
import { readDepartment, toParentId } from '../rules.ts';
import { listChildren as listRows, lockForReorder, readChildIds } from './queries.ts';
import {
  type ChildrenFilter,
  type ChildrenPage,
  type DeptOrder,
  MAX_COUNTED_DEPARTMENTS,
  MAX_ERROR_IDS,
  MAX_SUBTREE_SIZE,
} from './schema.ts';

export async function listChildren(
  tx: Tx,
  caller: Caller,
  deptId: string,
  { limit = 50, cursor, counts = false, branchCounts = false }: ChildrenFilter,
): Promise<ChildrenPage> {
  const sort = sortOfChildren(deptId);
  const last = cursor ? decodeCursor(cursor, sort, isValidKey.orderNum) : undefined;
  const after = last && { orderNum: Number(last.key), deptId: last.id };
  const parentId = toParentId(deptId);
  // Both statements are sent together, in one round trip.
  const [ancestors] = await Promise.all([
    parentId ? ancestorsOfChildren(tx, caller, parentId) : '0',
    forceIndexScans(tx),
  ]);
  const found = await listRows(tx, caller.tenantId, parentId, { after, limit: limit + 1 });
  for (const row of found) row.ancestors = ancestors;
  const page = toCursorPage(found, Math.min(limit, rowsFitting(ancestors)), (row) => ({
    sort,
    key: String(row.orderNum),
    id: String(row.deptId),
  }));
  const ids = page.rows.map(({ deptId }) => deptId);
  const [users, branchUsers] = await Promise.all([
    counts ? countMembers(tx, caller.tenantId, ids) : undefined,
    branchCounts ? countSubtreeMembers(tx, caller.tenantId, ids, MAX_COUNTED_DEPARTMENTS) : undefined,
  ]);
  if (!users && !branchUsers) return page;
  const rows = page.rows.map((row) => ({
    ...row,
    ...(users ? { userCount: users.get(row.deptId) ?? 0 } : {}),
    ...(branchUsers ? { branchUserCount: branchUsers.get(row.deptId) ?? 0 } : {}),
  }));
  return { ...page, rows };
}

async function ancestorsOfChildren(tx: Tx, caller: Caller, deptId: string): Promise<string> {
  const { ancestors } = await readDepartment(tx, caller, deptId);
  return `${ancestors},${deptId}`;
}

export async function orderDepartments(tx: Tx, { tenantId, userName }: Caller, input: DeptOrder): Promise<void> {
  const listed = input.deptIds.map(idOf);
  const distinct = new Set<string>();
  for (const [n, id] of listed.entries()) {
    if (distinct.has(id)) throw invalid(`deptIds[${n}]`, 'repeated');
    distinct.add(id);
  }
  const parentId = toParentId(input.parentId);
  await forceIndexScans(tx);
  // Lock the tenant first: concurrent reorderings would interleave, and a child could be moved away before it is renumbered.
  await lockTenant(tx, tenantId);
  const candidates = await readChildIds(tx, tenantId, parentId, MAX_SUBTREE_SIZE + 1);
  if (candidates.length > MAX_SUBTREE_SIZE) {
    throw apiError('BRANCH_TOO_LARGE', { limit: MAX_SUBTREE_SIZE, parentId: jsonId(parentId ?? '0') });
  }
  // Most updates and deletions do not lock the tenant, so the children are known only once their rows are locked.
  const found = await lockForReorder(tx, tenantId, parentId ? [parentId, ...candidates] : candidates);
  if (parentId && !found.some(({ deptId }) => String(deptId) === parentId)) {
    throw apiError('PARENT_NOT_FOUND', { parentId: jsonId(parentId) });
  }
  const children = new Map(
    found.filter((dept) => String(dept.parentId ?? 0) === (parentId ?? '0')).map((dept) => [String(dept.deptId), dept]),
  );
  const notChildren = listed.filter((id) => !children.has(id));
  if (notChildren.length > 0) throw apiError('NOT_CHILDREN', { deptIds: jsonIds(notChildren.slice(0, MAX_ERROR_IDS)) });
  const unlisted = [...children.values()].filter(({ deptId }) => !distinct.has(String(deptId)));
  unlisted.sort((a, b) => a.orderNum - b.orderNum || a.deptId - b.deptId);
  const inOrder = [...listed, ...unlisted.map(({ deptId }) => String(deptId))];
  const numbered = inOrder.map((id, n): [string, number] => [id, n + 1]);
  const changed = numbered.filter(([id, number]) => children.get(id)?.orderNum !== number);
  await renumber(tx, tenantId, userName, changed);
}
