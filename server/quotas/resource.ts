import type { LedgerResource } from '../ledger/resources.ts';
import type { QuotaRecord } from './schema.ts';

/** How the ledger shows quotas. Their changes cannot be reverted. */
export const quotaResource: LedgerResource = {
  resource: 'quota',
  show: (_tx, rows) =>
    rows.map(
      ({ row }): QuotaRecord => ({
        quota: String(row.quota),
        total: (row.total ?? null) as number | null,
        period: row.period as QuotaRecord['period'],
        pooled: row.pooled === true,
      }),
    ),
};
