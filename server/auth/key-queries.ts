import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/driver.ts';
import { readInTenant } from '../../db/tenant-scope.ts';

/** A secret of an API key, as it is found by the hash of the key. */
interface SecretRow {
  tenantId: string;
  keyId: string;
  secretId: string;
  hash: Buffer;
  requestsPerMinute: number | null;
}

/** Finds the key with this hash, before the tenant is known. */
export const findSecret = async (sql: Sql, hash: Buffer): Promise<SecretRow | undefined> => {
  const [row] = await sql<SecretRow[]>`
    select tenant_id as "tenantId", key_id::text as "keyId", secret_id::text as "secretId", hash,
      requests_per_minute as "requestsPerMinute"
    from find_api_key(${hash})`;
  return row;
};

/** Reads the limit of a key; null: it has none, or the key does not exist. */
export const readRequestLimit = (db: Database, tenantId: string, keyId: string): Promise<number | null> =>
  readInTenant(db, tenantId, async (tx) => {
    const [key] = await tx<Pick<SecretRow, 'requestsPerMinute'>[]>`
      select requests_per_minute as "requestsPerMinute" from api_keys
      where tenant_id = ${tenantId} and key_id = ${keyId}`;
    return key?.requestsPerMinute ?? null;
  });
