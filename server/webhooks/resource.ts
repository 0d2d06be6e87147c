import type { LedgerResource } from '../ledger/resources.ts';

/** How the ledger shows webhooks. Their changes cannot be reverted. */
export const webhookResource: LedgerResource = {
  resource: 'webhook',
  show: (_tx, rows) =>
    rows.map(({ row: { webhook_id: id, name, url, kinds, below, status } }) => ({
      id,
      name,
      url,
      kinds,
      below,
      status,
    })),
};
