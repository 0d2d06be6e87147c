import type { Database } from '../../db/connect.ts';
import { bigintOf, type Tx } from '../../db/driver.ts';
import { writeOutsideTenants } from '../../db/tenant-scope.ts';
import type { Key, KeyFilter } from './schema.ts';

/** The fields of a key that an update replaces. */
export interface KeyFields {
  keyName: string;
  permissions: string[];
  addresses: string[] | null;
  requestsPerMinute: number | null;
  /** A time in the configured time zone. */
  expiresTime: string | null;
  status: '0' | '1';
}

const columns = (tx: Tx) => tx`
  k.key_id as "keyId", k.key_name as "keyName", k.prefix, k.permissions, k.below, k.addresses::text[] as addresses,
  k.requests_per_minute as "requestsPerMinute", k.status, to_char(k.expires, 'YYYY-MM-DD HH24:MI:SS') as "expiresTime",
  to_char(u.time, 'YYYY-MM-DD HH24:MI:SS') as "lastUsedTime", u.address as "lastUsedAddress",
  k.create_by as "createBy", to_char(k.create_time, 'YYYY-MM-DD HH24:MI:SS') as "createTime",
  k.update_by as "updateBy", to_char(k.update_time, 'YYYY-MM-DD HH24:MI:SS') as "updateTime"`;

const existing = (tx: Tx, tenantId: string) => tx`
  from api_keys k left join api_key_uses u on u.tenant_id = ${tenantId} and u.key_id = k.key_id
  where k.tenant_id = ${tenantId} and k.del_flag = '0'`;

/** Host bits of a network are cleared: 10.1.2.3/8 becomes 10.0.0.0/8. */
const networks = (tx: Tx, addresses: string[] | null) => tx`
  (select array_agg(network(a::inet) order by n) from unnest(${addresses}::text[]) with ordinality s (a, n))`;

const expires = (tx: Tx, time: string | null) => tx`${time}::text::timestamp::timestamptz`;

export const insertKey = async (
  tx: Tx,
  tenantId: string,
  { keyName, permissions, addresses, requestsPerMinute, expiresTime, status }: KeyFields,
  { below, prefix, by }: { below: boolean; prefix: string; by: string },
): Promise<number> => {
  const [row] = await tx<[{ id: number }]>`
    insert into api_keys (tenant_id, key_name, prefix, permissions, below, addresses, requests_per_minute, status, expires,
      create_by)
    values (${tenantId}, ${keyName}, ${prefix}, ${permissions}::text[], ${below}, ${networks(tx, addresses)},
      ${requestsPerMinute}, ${status}, ${expires(tx, expiresTime)}, ${by})
    returning key_id as id`;
  return row.id;
};

export const countKeys = async (tx: Tx, tenantId: string): Promise<number> => {
  const [row] = await tx<[{ count: number }]>`
    select count(*) from api_keys where tenant_id = ${tenantId} and del_flag = '0'`;
  return row.count;
};

const matching = (tx: Tx, tenantId: string, { keyName, status }: KeyFilter) => tx`
  ${existing(tx, tenantId)}
  ${keyName === undefined ? tx`` : tx`and strpos(lower(k.key_name), lower(${keyName})) > 0`}
  ${status === undefined ? tx`` : tx`and k.status = ${status}`}`;

export const listKeys = (tx: Tx, tenantId: string, filter: KeyFilter, page: { limit: number; offset: number }) =>
  tx<
    Key[]
  >`select ${columns(tx)} ${matching(tx, tenantId, filter)} order by k.key_id limit ${page.limit} offset ${page.offset}`;

/** The keys after one with the given id, for a page with a cursor. */
export const listKeysAfter = (tx: Tx, tenantId: string, filter: KeyFilter, id: string, limit: number) => tx<Key[]>`
  select ${columns(tx)} ${matching(tx, tenantId, filter)} and k.key_id > ${bigintOf(id)} order by k.key_id limit ${limit}`;

export const countMatching = async (tx: Tx, tenantId: string, filter: KeyFilter): Promise<number> => {
  const [row] = await tx<[{ count: number }]>`select count(*) ${matching(tx, tenantId, filter)}`;
  return row.count;
};

export const readKey = async (tx: Tx, tenantId: string, id: string) => {
  const [row] = await tx<Key[]>`select ${columns(tx)} ${existing(tx, tenantId)} and k.key_id = ${bigintOf(id)}`;
  return row;
};

/** Locks the row of a key. Every change of a key or its secrets takes this lock first. */
export const lockKey = async (tx: Tx, tenantId: string, id: string) => {
  const [row] = await tx<Key[]>`
    select ${columns(tx)} ${existing(tx, tenantId)} and k.key_id = ${bigintOf(id)} for no key update of k`;
  return row;
};

export const updateKey = (
  tx: Tx,
  tenantId: string,
  id: number,
  { keyName, permissions, addresses, requestsPerMinute, expiresTime, status }: KeyFields,
  by: string,
) => tx`
  update api_keys set key_name = ${keyName}, permissions = ${permissions}::text[], addresses = ${networks(tx, addresses)},
    requests_per_minute = ${requestsPerMinute}, expires = ${expires(tx, expiresTime)}, status = ${status},
    update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and key_id = ${id}`;

export const insertSecret = (tx: Tx, tenantId: string, id: number, hash: Buffer) => tx`
  insert into api_key_secrets (tenant_id, key_id, hash) values (${tenantId}, ${id}, ${hash})`;

/**
 * Makes the secrets of a key expire, none later than before. Removes those that have expired, and the oldest beyond
 * `maxSecrets`, so that frequent rotations do not fill the table.
 */
export const expireSecrets = async (
  tx: Tx,
  tenantId: string,
  id: number,
  { graceSeconds, maxSecrets }: { graceSeconds: number; maxSecrets: number },
): Promise<void> => {
  // least() ignores null, which the newest secret has.
  await tx`
    update api_key_secrets set expires = least(expires, now() + ${graceSeconds} * interval '1 second')
    where tenant_id = ${tenantId} and key_id = ${id}`;
  await tx`
    delete from api_key_secrets where tenant_id = ${tenantId} and key_id = ${id} and (expires <= now() or secret_id in (
      select secret_id from api_key_secrets where tenant_id = ${tenantId} and key_id = ${id}
      order by secret_id desc offset ${maxSecrets}))`;
};

/** Stores the visible prefix of the newest secret. */
export const updatePrefix = (tx: Tx, tenantId: string, id: number, prefix: string, by: string) => tx`
  update api_keys set prefix = ${prefix}, update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and key_id = ${id}`;

export const markDeleted = (tx: Tx, tenantId: string, id: number, by: string) => tx`
  with removed as (delete from api_key_secrets where tenant_id = ${tenantId} and key_id = ${id})
  update api_keys set del_flag = '2', update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and key_id = ${id}`;

export interface KeyUse {
  tenantId: string;
  keyId: string;
  address: string;
}

/** Records uses of keys of several tenants, in one round trip. */
export const recordUses = (db: Database, uses: readonly KeyUse[]) =>
  writeOutsideTenants(
    db,
    (tx) => tx`
      select record_key_uses(${uses.map(({ tenantId }) => tenantId)}::text[], ${uses.map(({ keyId }) => keyId)}::bigint[],
        ${uses.map(({ address }) => address)}::text[])`,
  );
