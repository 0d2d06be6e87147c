import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { countInScope, type ExpiringRow, type LimitedRow, readByCode, readExpiring, readLimited } from './queries.ts';

// These functions are called by the overview.

/** Reads the caller's own tenant, with its account limit and quotas. */
export async function readLimits(tx: Tx, { tenantId }: Caller) {
  const row = await readByCode(tx, tenantId, tenantId);
  if (!row) throw apiError('TENANT_DELETED');
  return row;
}

export const countDescendants = async (tx: Tx, { tenantId }: Caller): Promise<number> =>
  // The scope includes the caller's own tenant.
  (await countInScope(tx, tenantId)) - 1;

/** Lists tenants in the caller's scope that end within 60 days or ended within the last 30, the earliest first. */
export const listExpiring = (tx: Tx, { tenantId }: Caller, limit: number): Promise<ExpiringRow[]> =>
  readExpiring(tx, tenantId, { pastDays: 30, comingDays: 60, limit });

export type { LimitedRow };

/** Lists the descendants with an account limit above 0, the smallest limits first. */
export const listLimitedDescendants = (tx: Tx, { tenantId }: Caller, limit: number): Promise<LimitedRow[]> =>
  readLimited(tx, tenantId, limit);
