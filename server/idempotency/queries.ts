import type { Tx } from '../../db/driver.ts';

/** The Idempotency-Key of a request, and the fingerprint that distinguishes the request from others. */
export interface KeyedRequest {
  key: string;
  fingerprint: Buffer;
}

/** The user or the API key that sent the Idempotency-Key. */
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

/** A request with a key, and who sent it. */
export type OwnedRequest = KeyedRequest & { owner: KeyOwner };

/** The part of the primary key within a tenant, as columns. */
const columnsOf = ({ owner: { userId = NONE, keyId = NONE }, key }: Omit<OwnedRequest, 'fingerprint'>) => ({
  user_id: userId,
  key_id: keyId,
  key,
});

/** Identifies a key within its tenant. */
export const identify = ({ owner: { userId = NONE, keyId = NONE }, key }: Omit<OwnedRequest, 'fingerprint'>): string =>
  `${userId} ${keyId} ${key}`;

/**
 * Claims keys of one tenant; `requests` must not contain a key twice. Returns those that are new or older than a day, in the
 * form of `identify`. Waits for concurrent requests with the same keys. All transactions claim keys before they lock anything
 * else, and claim several in the same order.
 */
export const claimKeys = async (tx: Tx, tenantId: string, requests: readonly OwnedRequest[]): Promise<Set<string>> => {
  const rows = requests.map((request) => ({
    ...columnsOf(request),
    fingerprint: request.fingerprint.toString('hex'),
  }));
  const claimed = await tx<{ id: string }[]>`
    insert into idempotency_keys as k (tenant_id, user_id, key_id, key, fingerprint)
    select ${tenantId}, c.user_id, c.key_id, c.key, decode(c.fingerprint, 'hex')
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as c (user_id bigint, key_id bigint, key text, fingerprint text)
    order by c.user_id, c.key_id, c.key
    on conflict (tenant_id, user_id, key_id, key) do update
      set fingerprint = excluded.fingerprint, result = null, error = null, create_time = now()
      where k.create_time <= now() - interval '24 hours'
    returning k.user_id || ' ' || k.key_id || ' ' || k.key as id`.execute();
  return new Set(claimed.map(({ id }) => id));
};

export type StoredRequest = StoredOutcome & { fingerprint: Buffer };

/** Reads what is stored with keys of one tenant. The result has the keys in the form of `identify`. */
export const readOutcomes = async (
  tx: Tx,
  tenantId: string,
  requests: readonly Omit<OwnedRequest, 'fingerprint'>[],
): Promise<Map<string, StoredRequest>> => {
  const rows = await tx<(StoredRequest & { id: string })[]>`
    select k.fingerprint, k.result, k.error, c.user_id || ' ' || c.key_id || ' ' || c.key as id
    from json_to_recordset(${JSON.stringify(requests.map(columnsOf))}::text::json) as c (user_id bigint, key_id bigint, key text)
    -- limit 1 makes the planner use the primary key, even without statistics. The time is compared outside: inside, the planner
    -- would choose the index by time, and read all keys of the day.
    cross join lateral (
      select k.fingerprint, k.result, k.error, k.create_time from idempotency_keys k
      where k.tenant_id = ${tenantId} and k.user_id = c.user_id and k.key_id = c.key_id and k.key = c.key limit 1
    ) k
    where k.create_time > now() - interval '24 hours'`.execute();
  return new Map(rows.map(({ id, ...stored }) => [id, stored]));
};

/** Stores the outcomes of requests whose keys the transaction has claimed. */
export const storeOutcomes = (tx: Tx, tenantId: string, outcomes: readonly (OwnedRequest & StoredOutcome)[]) => {
  const rows = outcomes.map(({ result, error, ...request }) => ({
    ...columnsOf(request),
    ...{ fingerprint: request.fingerprint.toString('hex'), result, error },
  }));
  // The rows exist. An upsert finds them by their primary key, whatever the planner knows of the table.
  return tx`
    insert into idempotency_keys (tenant_id, user_id, key_id, key, fingerprint, result, error)
    select ${tenantId}, o.user_id, o.key_id, o.key, decode(o.fingerprint, 'hex'), o.result, o.error
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as o (user_id bigint, key_id bigint, key text,
      fingerprint text, result json, error json)
    on conflict (tenant_id, user_id, key_id, key) do update set result = excluded.result, error = excluded.error`.execute();
};

/** Releases a key that the transaction has claimed: its request was not executed. */
export const releaseKey = (tx: Tx, tenantId: string, { owner: { userId = NONE, keyId = NONE }, key }: OwnedRequest) =>
  tx`
    delete from idempotency_keys
    where tenant_id = ${tenantId} and user_id = ${userId} and key_id = ${keyId} and key = ${key}`.execute();

/** Deletes a few expired keys. Every transaction that claims keys does so: the table keeps about one day of keys. */
export const removeExpiredKeys = (tx: Tx, tenantId: string) =>
  tx`
  delete from idempotency_keys where (tenant_id, user_id, key_id, key) in (
    select tenant_id, user_id, key_id, key from idempotency_keys
    where tenant_id = ${tenantId} and create_time <= now() - interval '24 hours'
    limit 20 for update skip locked)`.execute();
