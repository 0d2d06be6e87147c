import type { Sql, Tx } from '../../db/driver.ts';
import { storedRow } from './history.ts';

/** The part of the verification that compares records with their changes. */

export interface Retention {
  /** Changes before this time may be missing; null: no change may be missing. */
  cutoff: Date | null;
  /** The first change that the settings keep; null: they keep none of the changes, or there is no cutoff. */
  firstKept: number | null;
}

/** Reads the time from which the settings keep every change. */
export async function readRetention(owner: Sql, ledgerDays: number | 'keep'): Promise<Retention> {
  // Ids are assigned in the order of time, except in long transactions. So they tell the age of a change that was removed
  // from the archive.
  const [retention] = await owner<[Retention]>`
    select r.cutoff,
      (select min(c.change_id) from banyan.changes c where c.time >= r.cutoff + interval '1 hour') as "firstKept"
    from (select now() - ${ledgerDays === 'keep' ? null : ledgerDays}::int * interval '1 day' as cutoff) r`;
  return retention;
}

/**
 * Returns a function that says whether a change may be archived; `time` is null if the archive no longer has the change.
 * BANYAN_LEDGER_DAYS may have been smaller earlier: a change that was archived then is no error while the archive has it. A
 * change that was removed from the archive must be older than the retention period in the settings. The time up to which changes
 * were archived is read in the snapshot of the transaction, because archiving may be running.
 */
export async function readMayBeArchived(
  tx: Tx,
  { cutoff, firstKept }: Retention,
): Promise<(changeId: number, time: Date | null) => boolean> {
  const [{ completeFrom }] = await tx<[{ completeFrom: Date | null }]>`
    select (select complete_from from ledger_retention) as "completeFrom"`;
  const isBefore = (time: Date, limit: Date | null) => limit !== null && time < limit;
  return (changeId, time) =>
    time
      ? isBefore(time, cutoff) || isBefore(time, completeFrom)
      : cutoff !== null && changeId < (firstKept ?? Number.POSITIVE_INFINITY);
}

/** Access to a tenant is decided by its path. The ledger records no paths, because they follow from the parents. */
export async function findPathErrors(owner: Sql): Promise<string[]> {
  const rows = await owner<{ tenantId: string }[]>`
    select t.tenant_id as "tenantId" from banyan.tenants t left join banyan.tenants p on p.tenant_id = t.parent_id
    where t.path is distinct from coalesce(p.path, '{}') || t.tenant_id order by t.id limit 100`;
  return rows.map(({ tenantId }) => `Tenant ${tenantId}: its path does not continue the path of its parent.`);
}

/** Returns a sentence for each record of a tenant that differs from its changes, or whose first changes are missing. */
export async function findRecordErrors(tx: Tx, tenantId: string, { cutoff }: Retention): Promise<string[]> {
  // The ledger stores times in UTC.
  await tx`select set_config('timezone', 'UTC', true)`;
  const [exists] = await tx`select from tenants where tenant_id = ${tenantId}`;
  if (!exists) return ['the tenant of this ledger does not exist'];
  const sentences = [];
  for (const { resource, id, state } of await compareRecords(tx, tenantId, cutoff)) {
    const name = `${resource} ${id}`;
    if (state === 'unrecorded') sentences.push(`${name} has no change: it was inserted, or its changes were removed`);
    if (state === 'missing') sentences.push(`${name} is missing, although its last change did not delete it`);
    if (state === 'different') sentences.push(`${name} is not as its last change left it`);
    if (state === 'no beginning') sentences.push(`the first changes of ${name} are missing`);
  }
  for (const { problem, name } of await findVersionErrors(tx, tenantId)) {
    if (problem === 'altered') sentences.push(`version ${name} of its record was altered`);
    if (problem === 'no version') sentences.push(`the record of change ${name} is missing`);
    if (problem === 'no tenant') sentences.push(`tenant ${name}, which changes in this ledger mention, does not exist`);
  }
  return sentences;
}

interface RecordError {
  resource: string;
  id: string;
  state: 'unrecorded' | 'missing' | 'different' | 'no beginning';
}

/**
 * Compares each record with the `after` of its last change. Only columns that both have are compared, because columns may
 * have been added or removed between them.
 */
const compareRecords = (tx: Tx, tenantId: string, cutoff: Date | null) => tx<RecordError[]>`
  with live as (
    select 'department' as resource, d.dept_id as id, case when d.del_flag = '0' then to_jsonb(d) end as record
    from departments d where d.tenant_id = ${tenantId}
    union all
    select 'user', u.user_id, case when u.del_flag = '0' then user_record(u.tenant_id, u.user_id) end
    from users u where u.tenant_id = ${tenantId}
    union all
    select 'tenant', t.id, case when t.del_flag = '0' then to_jsonb(t) - 'tree_version' - 'path' end
    from tenants t where t.tenant_id = ${tenantId}
    union all
    select 'webhook', w.webhook_id, case when w.del_flag = '0' then jsonb_build_object('webhook_id', w.webhook_id,
      'name', w.name, 'url', w.url, 'kinds', w.kinds, 'status', w.status) end
    from webhooks w where w.tenant_id = ${tenantId}
    union all
    select 'key', k.key_id, case when k.del_flag = '0' then to_jsonb(k) - 'prefix' end
    from api_keys k where k.tenant_id = ${tenantId}
    union all
    select 'quota', q.quota_id, to_jsonb(q) from quotas q where q.tenant_id = ${tenantId}
    union all
    select 'notice', n.notice_id, to_jsonb(n) from notices n where n.tenant_id = ${tenantId}
  ), last as (
    select distinct on (c.resource, c.resource_id) c.resource, c.resource_id as id, ${storedRow(tx, 'after')} as record
    from changes c
    where c.tenant_id = ${tenantId} and not c.is_copy and c.resource <> 'login' and c.action <> 'password changed'
    order by c.resource, c.resource_id, c.change_id desc
  ), first as (
    select distinct on (c.resource, c.resource_id) c.resource, c.resource_id as id, c.action, c.time
    from (
      select resource, resource_id, change_id, action, time, is_copy from changes where tenant_id = ${tenantId}
      union all
      select resource, resource_id, change_id, action, time, is_copy from changes_archive where tenant_id = ${tenantId}
    ) c
    where not c.is_copy and c.resource <> 'login' order by c.resource, c.resource_id, c.change_id
  ), compared as (
    select resource, id, case
      when r.resource is null then 'unrecorded'
      when l.resource is null and r.record is not null then 'missing'
      when l.resource is not null and ((l.record is null) <> (r.record is null) or exists (
        select from jsonb_each(l.record) a join jsonb_each(r.record) b on b.key = a.key where a.value <> b.value))
        then 'different'
      when f.action <> 'created' and f.time >= ${cutoff?.toISOString() ?? '-infinity'}::text::timestamptz then 'no beginning' end as state
    from live l full join last r using (resource, id) left join first f using (resource, id)
  )
  select resource, id::text, state from compared where state is not null order by resource, compared.id limit 100`;

/** Finds altered versions of the tenant's record, and versions and tenants that its ledger mentions but that are missing. */
const findVersionErrors = (tx: Tx, tenantId: string) => tx<
  { problem: 'altered' | 'no version' | 'no tenant'; name: string }[]
>`
  select 'altered' as problem, encode(v.hash, 'hex') as name from (
    select * from tenant_versions where tenant_id = ${tenantId}
    union all
    select * from tenant_versions_archive where tenant_id = ${tenantId}
  ) v where v.hash <> sha256(convert_to(v.record::text, 'UTF8'))
  union all
  select 'no version', c.change_id::text from changes c join tenants t on t.id = c.resource_id
  cross join lateral unnest(array[c.before_hash, c.after_hash]) version
  where c.tenant_id = ${tenantId} and c.resource = 'tenant' and version is not null
    and not exists (select from tenant_versions v where v.tenant_id = t.tenant_id and v.hash = version)
  union all
  select distinct 'no tenant', c.resource_id::text from changes c
  where c.tenant_id = ${tenantId} and c.resource = 'tenant'
    and not exists (select from tenants t where t.id = c.resource_id)
  limit 100`;
