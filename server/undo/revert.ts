import type { Tx } from '../../db/sql.ts';
import { enterTenant } from '../../db/tenancy.ts';
import type { Caller } from '../auth/caller.ts';
import type { Dept } from '../departments/schema.ts';
import { Refusal, refuse } from '../http/refusals.ts';
import { codeWithinReach, enterReach, lockReach, lockTree } from '../tenants/reach.ts';
import type { TenantUpdate } from '../tenants/schema.ts';
import { bringBackTenant, removeTenant, updateTenant } from '../tenants/tenants.ts';
import type { User } from '../users/schema.ts';
import { bringBackUser, removeUsers, updateUser } from '../users/users.ts';
import { type Goal, goalsOf, refuseContradicted } from './contradictions.ts';
import { revertDepartments } from './departments.ts';
import { keepToKeys, lockUsers, type NotedRecords, readBatch } from './queries.ts';

/** Reverses all that one request did, by one of its changes, or nothing of it. What is done here is in the ledger too. */
export async function revertChange(
  tx: Tx,
  caller: Caller,
  changeId: string,
  inTenant: string | undefined,
): Promise<void> {
  const ledger = await enterReach(tx, caller, inTenant);
  await keepToKeys(tx);
  const batch = await readBatch(tx, ledger, changeId);
  if (batch.length === 0) throw refuse('CHANGE_NOT_FOUND');
  if (batch.some(({ old }) => old)) throw refuse('CHANGE_TOO_OLD');
  if (batch.some(isIrreversible)) throw refuse('CHANGE_IRREVERSIBLE');
  const tenants = goalsOf<TenantUpdate>(batch, 'tenant');
  // A tenant comes and goes with its first administrator, who is there as long as it is.
  if (tenants.length > 0) return revertTenants(tx, caller, tenants);
  const users = goalsOf<User>(batch, 'user');
  if (users.length > 0) await revertUsers(tx, caller, ledger, users);
  const departments = goalsOf<Dept>(batch, 'department');
  if (departments.length > 0) await revertDepartments(tx, caller, ledger, departments);
}

/** A tenant that came from where this ledger does not reach, or went there, is not brought back from here. */
const isIrreversible = ({ resource, action, before, after }: NotedRecords): boolean =>
  !['department', 'tenant', 'user'].includes(resource) ||
  action === 'password changed' ||
  (action === 'moved' && !(before && after));

async function revertTenants(tx: Tx, caller: Caller, goals: Goal<TenantUpdate>[]): Promise<void> {
  await lockTree(tx);
  for (const goal of goals) {
    await enterTenant(tx, caller.tenantId);
    const code = await codeWithinReach(tx, caller, goal.id);
    if (!code) throw refuse('TENANT_NOT_FOUND');
    // Its own ledger has all that happened to it, also while it was elsewhere.
    await enterTenant(tx, code);
    await refuseContradicted(tx, code, [goal]);
    await enterTenant(tx, caller.tenantId);
    const { id, from, to } = goal;
    if (!to) await removeTenant(tx, caller, id, undefined);
    else if (!from) await bringBackTenant(tx, caller, id);
    else await updateTenant(tx, caller, to, undefined).catch(isGone({ tenantParent: to.tenantParent ?? '' }));
  }
}

async function revertUsers(tx: Tx, caller: Caller, ledger: string, goals: Goal<User>[]): Promise<void> {
  const { tenantId } = await lockReach(tx, caller, ledger);
  await lockUsers(
    tx,
    tenantId,
    goals.map(({ id }) => id),
  );
  await refuseContradicted(tx, tenantId, goals);
  const made = goals.filter(({ to }) => !to).map(({ id }) => id);
  if (made.length > 0) await removeUsers(tx, caller, made, tenantId, undefined);
  for (const { id: userId, from, to } of goals) {
    if (to && from) await updateUser(tx, caller, { ...to, tenantId }, undefined, undefined).catch(isGone());
    else if (to) await bringBackUser(tx, caller, { tenantId, userId, ...placesOf(to) }).catch(isGone());
  }
}

/** Nobody sent what is refused here: it was there once, and is gone. */
const isGone =
  (facts = {}) =>
  (error: unknown): never => {
    if (!(error instanceof Refusal)) throw error;
    if (error.reason === 'USER_DEPT_NOT_FOUND') throw refuse('USER_DEPT_GONE', error.facts);
    if (error.reason === 'TENANT_PARENT_NOT_FOUND') throw refuse('TENANT_PARENT_GONE', facts);
    throw error;
  };

const placesOf = ({ deptId, deptIds }: User) => ({ deptId, deptIds });
