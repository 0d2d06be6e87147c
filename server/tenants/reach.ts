import type { Tx } from '../../db/sql.ts';
import { enterTenant } from '../../db/tenancy.ts';
import type { Caller } from '../auth/caller.ts';
import { refuse } from '../http/refusals.ts';
import { lockTenantRow, lockTenantTree, readByCode, readCode, readCodes } from './queries.ts';

/** What other domains ask of tenants. */

/**
 * Enters the tenant that an administrator says he acts in: his own, or one below it. From here on the transaction sees
 * that tenant. One that doesn't exist is not told apart from one that isn't his.
 */
export async function enterReach(tx: Tx, caller: Caller, tenantId: string | null | undefined): Promise<string> {
  if (tenantId == null || tenantId === caller.tenantId) return caller.tenantId;
  if (!(await readByCode(tx, caller.tenantId, tenantId))) throw refuse('OTHER_TENANT');
  await enterTenant(tx, tenantId);
  return tenantId;
}

/**
 * The same for writing: the tenant is locked as his own sees it, and only then entered. Were it entered first, a write
 * could follow the move that took the tenant out of his reach.
 */
export async function lockReach(tx: Tx, caller: Caller, named: string | null | undefined) {
  const tenantId = named ?? caller.tenantId;
  const { accountCount } = await lockTenant(tx, caller.tenantId, tenantId);
  if (tenantId !== caller.tenantId) await enterTenant(tx, tenantId);
  return { tenantId, accountCount };
}

/** Locked until the transaction ends; tells the limit on accounts. Lock order: tenant, then ids ascending. */
export async function lockTenant(tx: Tx, callerTenant: string, tenantId = callerTenant) {
  const tenant = await lockTenantRow(tx, callerTenant, tenantId);
  // Another's, or deleted a moment ago. Not 401: the caller's own token may be as good as ever.
  if (!tenant) throw refuse('OTHER_TENANT');
  return tenant;
}

/** No tenant is created, changed, moved or deleted until the transaction ends. Comes before every other lock. */
export const lockTree = (tx: Tx) => lockTenantTree(tx);

/** The codes of a tenant that was entered and of those below it, the nearest first. */
export const codesBelow = (tx: Tx, tenantId: string, limit: number): Promise<string[]> =>
  readCodes(tx, tenantId, limit);

/** The code of the caller's own tenant or of one below it, by its internal id; of a deleted one too. */
export const codeWithinReach = (tx: Tx, { tenantId }: Caller, id: string): Promise<string | undefined> =>
  readCode(tx, tenantId, id);
