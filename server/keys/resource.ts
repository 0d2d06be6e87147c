import type { LedgerResource } from '../ledger/resources.ts';
import { createTimeFormatter } from '../records/record.ts';
import type { KeyRecord } from './schema.ts';

/**
 * How the ledger shows API keys. Their changes cannot be reverted: a revert could give back permissions that the caller does
 * not have, and the secrets of a deleted key are gone.
 */
export function keyResource(timeZone: string): LedgerResource {
  const formatTime = createTimeFormatter(timeZone);
  return {
    resource: 'key',
    show: (_tx, rows) =>
      rows.map(
        ({ row }): KeyRecord => ({
          keyId: Number(row.key_id),
          keyName: String(row.key_name),
          permissions: row.permissions as string[],
          below: row.below === true,
          addresses: (row.addresses ?? null) as string[] | null,
          requestsPerMinute: (row.requests_per_minute ?? null) as number | null,
          status: row.status as KeyRecord['status'],
          expiresTime: formatTime(row.expires),
        }),
      ),
  };
}
