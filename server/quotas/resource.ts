import type { LedgerResource } from '../ledger/resources.ts';

/** How the ledger shows quotas. Their changes cannot be reverted. */
export const quotaResource: LedgerResource = {
  resource: 'quota',
  show: (_tx, rows) =>
    rows.map(({ row: { quota, total = null, period, pooled } }) => ({ quota, total, period, pooled })),
};
