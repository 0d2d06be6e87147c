import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import { refuse } from '../http/refusals.ts';
import { countUnder, type EndingRow, type LimitedRow, readByCode, readEnding, readLimited } from './queries.ts';

/** What the overview asks of tenants. */

/** What the caller's own tenant may use. */
export async function readLimits(tx: Tx, { tenantId }: Caller) {
  const row = await readByCode(tx, tenantId, tenantId);
  if (!row) throw refuse('TENANT_DELETED');
  return row;
}

export const countBelow = async (tx: Tx, { tenantId }: Caller): Promise<number> =>
  // Without the caller's own.
  (await countUnder(tx, tenantId)) - 1;

/** Own and below: what ends within 60 days, or ended within the last 30; soonest first. */
export const endingSoon = (tx: Tx, { tenantId }: Caller, limit: number): Promise<EndingRow[]> =>
  readEnding(tx, tenantId, { past: 30, coming: 60, limit });

export type Limited = LimitedRow;

/** Those below that may have so many accounts and no more, the smallest limits first. */
export const limitedBelow = (tx: Tx, { tenantId }: Caller, limit: number): Promise<Limited[]> =>
  readLimited(tx, tenantId, limit);
