import type { Sql } from '../../db/driver.ts';

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
