import type { Tx } from '../../db/sql.ts';
import { enterTenant } from '../../db/tenancy.ts';
import type { Caller } from '../auth/caller.ts';
import { refuse } from '../http/refusals.ts';
import { codeWithinReach, enterReach } from '../tenants/reach.ts';
import type { Tenant } from '../tenants/schema.ts';
import type { User } from '../users/schema.ts';
import { refuseOtherUser } from '../users/users.ts';
import { type Moment, readRecord } from './queries.ts';

/** Who may read is a question of today: whom a tenant is below now reads what it was, wherever it was then. */
export async function readTenantAt(tx: Tx, caller: Caller, id: string, moment: Moment): Promise<Tenant> {
  const tenantId = await codeWithinReach(tx, caller, id);
  if (!tenantId) throw refuse('TENANT_NOT_FOUND');
  // Its own ledger is the one that has all of its changes, wherever it has been moved.
  await enterTenant(tx, tenantId);
  const tenant = await readRecord<Tenant>(tx, tenantId, 'tenant', id, moment);
  if (!tenant) throw refuse('TENANT_NOT_FOUND');
  return tenant;
}

export async function readUserAt(
  tx: Tx,
  caller: Caller,
  userId: string,
  inTenant: string | undefined,
  moment: Moment,
): Promise<User> {
  refuseOtherUser(caller, userId, inTenant);
  const tenantId = await enterReach(tx, caller, inTenant);
  const user = await readRecord<User>(tx, tenantId, 'user', userId, moment);
  if (!user) throw refuse('USER_NOT_FOUND');
  return user;
}
