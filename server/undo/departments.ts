import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import { forgetPaths } from '../departments/branch.ts';
import { moveDepartment, parentOf, refuseInUse } from '../departments/departments.ts';
import type { Dept } from '../departments/schema.ts';
import { refuse } from '../http/refusals.ts';
import { lockTenant } from '../tenants/reach.ts';
import { type Goal, refuseContradicted } from './contradictions.ts';
import { lockDepts, markDeleted, restoreDepts, wasDisabled, writeDepts } from './queries.ts';

/** Departments are those of the caller's own tenant. */
export async function revertDepartments(tx: Tx, caller: Caller, ledger: string, goals: Goal<Dept>[]): Promise<void> {
  const { tenantId, userName } = caller;
  if (ledger !== tenantId) throw refuse('OTHER_TENANT');
  const unmade = goals.filter(({ to }) => !to).map(({ id }) => id);
  const returning = goals.filter(({ from }) => !from);
  const moving = goals.filter(({ from, to }) => from && to && from.parentId !== to.parentId);
  const staying = goals.filter(({ from, to }) => from && to && from.parentId === to.parentId);

  // Locked first: nothing moves, and nothing else comes back, while we look.
  await lockTenant(tx, tenantId);
  const parents = parentsOutside([...returning, ...moving], returning);
  const locked = await lockDepts(tx, tenantId, [...new Set([...goals.map(({ id }) => id), ...parents.keys()])]);
  const found = new Map(locked.map((dept) => [dept.deptId, dept]));
  await refuseContradicted(tx, tenantId, goals);
  for (const [parentId, change] of parents) {
    const parent = found.get(parentId);
    if (parent?.delFlag !== '0') throw refuse('PARENT_GONE', { parentId: Number(parentId) });
    // Who was below a disabled one may be there again; but if it was disabled since, nobody comes to it any more.
    const disabled = parent.status !== '0' && !(await wasDisabled(tx, tenantId, parentId, change));
    if (disabled) throw refuse('PARENT_DISABLED');
  }

  if (unmade.length > 0) {
    await markDeleted(tx, tenantId, userName, unmade);
    // Now that they are gone themselves, what is still below them is not of the batch.
    await refuseInUse(tx, tenantId, unmade);
  }
  if (returning.length > 0) {
    const places = new Map(returning.map(({ id, to }) => [id, placeOf(to as Dept)]));
    await restoreDepts(tx, tenantId, userName, places);
    if ([...places].some(([id, parentId]) => found.get(id)?.parentId !== parentId)) await forgetPaths(tx, tenantId);
  }
  for (const { id, to } of moving) {
    const dept = to as Dept;
    await moveDepartment(tx, caller, id, { ...dept, parentId: placeOf(dept) }, { evenDisabled: true });
  }
  if (staying.length > 0) {
    await writeDepts(
      tx,
      tenantId,
      userName,
      staying.map(({ to }) => to as Dept),
    );
  }
}

const placeOf = ({ parentId }: Dept): string | null => parentOf(parentId);

/** The parents they go to, but those that come back with them; each with the first change that led away from it. */
function parentsOutside(goals: readonly Goal<Dept>[], returning: readonly Goal<Dept>[]): Map<string, number> {
  const inside = new Set(returning.map(({ id }) => id));
  const parents = new Map<string, number>();
  for (const { to, first } of goals) {
    const parentId = to && placeOf(to);
    if (parentId && !inside.has(parentId) && !parents.has(parentId)) parents.set(parentId, first);
  }
  return parents;
}
