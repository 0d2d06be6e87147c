import type { Tx } from '../../db/driver.ts';

/** The Idempotency-Key of a request, and the fingerprint that distinguishes the request from others. */
export interface KeyedRequest {
  key: string;
  fingerprint: Buffer;
}

/** The user or the API key that sent the key. */
export type KeyOwner = { tenantId: string } & (
  | { userId: string; keyId?: undefined }
  | { userId?: undefined; keyId: string }
);

/** Stands for "no user" or "no API key" in the primary key. No user and no API key has this id. */
const NONE = '0';

/** The outcome of a request: a result, or the code and details of an error. */
export interface StoredOutcome {
  result: unknown;
  error: unknown;
}

/** Returns true when the key is new or older than a day. Waits for a concurrent request with the same key. */
export const claimKey = async (
  tx: Tx,
  { tenantId, userId = NONE, keyId = NONE }: KeyOwner,
  { key, fingerprint }: KeyedRequest,
): Promise<boolean> => {
  const rows = await tx`
    insert into idempotency_keys as k (tenant_id, user_id, key_id, key, fingerprint)
    values (${tenantId}, ${userId}, ${keyId}, ${key}, ${fingerprint})
    on conflict (tenant_id, user_id, key_id, key) do update
      set fingerprint = excluded.fingerprint, result = null, error = null, create_time = now()
      where k.create_time <= now() - interval '24 hours'
    returning 1`;
  return rows.length > 0;
};

export const readOutcome = async (tx: Tx, { tenantId, userId = NONE, keyId = NONE }: KeyOwner, key: string) => {
  const [row] = await tx<(StoredOutcome & { fingerprint: Buffer })[]>`
    select fingerprint, result, error from idempotency_keys
    where tenant_id = ${tenantId} and user_id = ${userId} and key_id = ${keyId} and key = ${key}
      and create_time > now() - interval '24 hours'`;
  return row;
};

export const storeOutcome = (
  tx: Tx,
  { tenantId, userId = NONE, keyId = NONE }: KeyOwner,
  key: string,
  { result, error }: StoredOutcome,
) => tx`
  update idempotency_keys set result = ${tx.json(result as never)}, error = ${error ? tx.json(error as never) : null}
  where tenant_id = ${tenantId} and user_id = ${userId} and key_id = ${keyId} and key = ${key}`;

/** Deletes a few expired keys. Every request with a key does so, which limits the table to about one day of keys. */
export const removeExpiredKeys = (tx: Tx, tenantId: string) => tx`
  delete from idempotency_keys where (tenant_id, user_id, key_id, key) in (
    select tenant_id, user_id, key_id, key from idempotency_keys
    where tenant_id = ${tenantId} and create_time <= now() - interval '24 hours'
    limit 20 for update skip locked)`;
