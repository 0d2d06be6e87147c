import type { LedgerResource } from '../ledger/resources.ts';

/** How the ledger shows notices. They cannot be reverted. */
export const noticeResource: LedgerResource = {
  resource: 'notice',
  show: (_tx, rows) =>
    rows.map(({ tenantId, row }) => ({
      tenantId: row.tenant_id ?? tenantId,
      quota: row.quota ?? null,
      percent: row.percent ?? null,
      total: row.total ?? null,
      used: row.used ?? null,
      endTime: row.end_date ?? null,
      days: row.days ?? null,
    })),
};
