import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import { parentOf, readDepartment } from '../departments/departments.ts';
import { cutPage, placeIn } from '../http/cursor.ts';
import { idOf, shownId, shownIds } from '../http/fields.ts';
import { countLetters } from '../http/letters.ts';
import { etagOf, type IfMatch, refuseChanged } from '../http/preconditions.ts';
import { refuse } from '../http/refusals.ts';
import { invalid } from '../http/validation.ts';
import { lockTenant } from '../tenants/reach.ts';
import { countUsersIn, departmentsWithUsers } from '../users/memberships.ts';
import {
  branchIds,
  childIds,
  keepToKeys,
  listChildren as listRows,
  lockBranch,
  lockForOrder,
  markBranchDeleted,
  renumber,
} from './queries.ts';
import { type ChildrenFilter, type ChildrenPage, type DeptOrder, MAX_IN_BRANCH } from './schema.ts';

/** A refusal names this many at most: more help nobody. */
const NAMED = 100;

export async function listChildren(
  tx: Tx,
  caller: Caller,
  deptId: string,
  { limit = 50, cursor, counts = false }: ChildrenFilter,
): Promise<ChildrenPage> {
  // Of this parent's list alone.
  const sort = `children of ${deptId}`;
  const place = cursor ? placeIn(cursor, sort, isOrderNum) : undefined;
  const after = place && { orderNum: Number(place.key), deptId: place.id };
  const parentId = parentOf(deptId);
  // Sent together: it costs no round trip of its own.
  const [ancestors] = await Promise.all([parentId ? pathBelow(tx, caller, parentId) : '0', keepToKeys(tx)]);
  const found = await listRows(tx, caller.tenantId, parentId, { after, limit: limit + 1 });
  const count = countLetters();
  for (const row of found) {
    row.ancestors = ancestors;
    count(ancestors.length);
  }
  const page = cutPage(found, limit, (row) => ({ sort, key: String(row.orderNum), id: String(row.deptId) }));
  if (!counts) return page;
  const users = await countUsersIn(
    tx,
    caller.tenantId,
    page.rows.map(({ deptId }) => deptId),
  );
  return { ...page, rows: page.rows.map((row) => ({ ...row, userCount: users.get(row.deptId) ?? 0 })) };
}

const isOrderNum = (key: string) => /^-?\d{1,10}$/.test(key) && (Number(key) | 0) === Number(key);

async function pathBelow(tx: Tx, caller: Caller, deptId: string): Promise<string> {
  const { ancestors } = await readDepartment(tx, caller, deptId);
  return `${ancestors},${deptId}`;
}

export async function orderDepartments(tx: Tx, { tenantId, userName }: Caller, input: DeptOrder): Promise<void> {
  const listed = input.deptIds.map(idOf);
  const first = new Set<string>();
  for (const [at, id] of listed.entries()) {
    if (first.has(id)) throw invalid(`deptIds[${at}]`, 'repeated');
    first.add(id);
  }
  const parentId = parentOf(input.parentId);
  await keepToKeys(tx);
  // Locked first: two orders at once would mix, and a move could take a child away from among those that are numbered.
  await lockTenant(tx, tenantId);
  const candidates = await childIds(tx, tenantId, parentId, MAX_IN_BRANCH + 1);
  if (candidates.length > MAX_IN_BRANCH) {
    throw refuse('BRANCH_TOO_LARGE', { limit: MAX_IN_BRANCH, parentId: shownId(parentId ?? '0') });
  }
  // In place others may change, and delete, what we have not locked: only now is it known what there is to number.
  const found = await lockForOrder(tx, tenantId, parentId ? [parentId, ...candidates] : candidates);
  if (parentId && !found.some(({ deptId }) => String(deptId) === parentId)) {
    throw refuse('PARENT_NOT_FOUND', { parentId: shownId(parentId) });
  }
  const children = new Map(
    found.filter((dept) => String(dept.parentId ?? 0) === (parentId ?? '0')).map((dept) => [String(dept.deptId), dept]),
  );
  const strangers = listed.filter((id) => !children.has(id));
  if (strangers.length > 0) throw refuse('NOT_CHILDREN', { deptIds: shownIds(strangers.slice(0, NAMED)) });
  const others = [...children.values()].filter(({ deptId }) => !first.has(String(deptId)));
  others.sort((a, b) => a.orderNum - b.orderNum || a.deptId - b.deptId);
  const inOrder = [...listed, ...others.map(({ deptId }) => String(deptId))];
  const numbered = inOrder.map((id, at): [string, number] => [id, at + 1]);
  const changed = numbered.filter(([id, number]) => children.get(id)?.orderNum !== number);
  await renumber(tx, tenantId, userName, changed);
}

/** Deletes a department with all that is below it, or nothing. */
export async function removeBranch(tx: Tx, caller: Caller, deptId: string, ifMatch: IfMatch): Promise<void> {
  const { tenantId, userName } = caller;
  await keepToKeys(tx);
  // Nothing moves into the branch or out of it any more, and nobody joins it.
  await lockTenant(tx, tenantId);
  const deptIds = await lockWholeBranch(tx, tenantId, deptId);
  if (ifMatch) refuseChanged(ifMatch, etagOf(await readDepartment(tx, caller, deptId)));
  const used = await departmentsWithUsers(tx, tenantId, deptIds);
  if (used.length > 0) throw refuse('DEPT_HAS_USERS', { deptIds: shownIds(used.slice(0, NAMED)) });
  await markBranchDeleted(tx, tenantId, deptIds, userName);
}

/**
 * While we wait for the locks, others may still create below what we don't have yet. Below what we have they can't: who
 * creates holds the parent. So we look again, after the locks, until there is nothing that is not ours.
 */
async function lockWholeBranch(tx: Tx, tenantId: string, deptId: string): Promise<string[]> {
  const ours = new Set<string>();
  for (;;) {
    const branch = await branchIds(tx, tenantId, deptId, MAX_IN_BRANCH + 1);
    if (branch.length === 0) throw refuse('DEPT_NOT_FOUND', { deptIds: shownIds([deptId]) });
    if (branch.length > MAX_IN_BRANCH) throw refuse('BRANCH_TOO_LARGE', { limit: MAX_IN_BRANCH });
    const others = branch.filter((id) => !ours.has(id));
    if (others.length === 0) return branch;
    await lockBranch(tx, tenantId, others);
    for (const id of others) ours.add(id);
  }
}
