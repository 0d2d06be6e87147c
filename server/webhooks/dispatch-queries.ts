import { exactTime, type Sql, type Tx } from '../../db/driver.ts';
import type { Outcome } from './sending.ts';

/**
 * Statements of the dispatcher. A process holds a lease on a webhook across transactions, and locks the webhook's row within
 * each of them.
 */

export interface WebhookKey {
  tenantId: string;
  id: number;
}

export interface DueWebhook extends WebhookKey {
  failing: boolean;
  /** The codes from 000000 down to the webhook's tenant. */
  path: string[];
}

/** Finds webhooks that have work to do and no lease, the healthy ones first, except those of subtrees without a free slot. */
export const findDueWebhooks = (
  sql: Sql,
  {
    maxBacklog,
    limit,
    full,
    fullFailing,
  }: { maxBacklog: number; limit: number; full: string[]; fullFailing: string[] },
) => sql<DueWebhook[]>`
  select tenant_id as "tenantId", webhook_id as id, failing, path
  from due_webhooks(${maxBacklog}, ${limit}, ${full}::text[], ${fullFailing}::text[])`;

/** Makes webhooks with `below` due if their subtree has changed. */
export const markSubtreeWebhooksDue = (tx: Tx) => tx`select mark_subtree_webhooks_due()`;

export interface LeasedWebhook {
  url: string;
  kinds: string[];
  below: boolean;
  status: '0' | '1';
  deleted: boolean;
  /** Its position, in the ledger or in the order of all changes: changes up to it have been queued or did not match. */
  seq: number;
  /** The number of pending deliveries. */
  waiting: number;
  /** Failed attempts since the last success. */
  failures: number;
  secrets: Buffer[];
}

const leasedColumns = (tx: Tx) => tx`
  w.url, w.kinds, w.below, w.status, w.del_flag <> '0' as deleted, w.seq, w.waiting, w.failures,
  case when w.old_secret_until > now() then array[w.secret, w.old_secret] else array[w.secret] end as secrets`;

/** Acquires the lease of a webhook. Returns undefined if another process holds it, or another transaction has locked the row. */
export const acquireLeaseOf = async (tx: Tx, { tenantId, id }: WebhookKey, leaseId: string, leaseSeconds: number) => {
  // Skip a locked row: usually another process is acquiring the lease. Otherwise the next poll finds the webhook again.
  const [row] = await tx<LeasedWebhook[]>`
    with free as (
      select webhook_id from webhooks
      where tenant_id = ${tenantId} and webhook_id = ${id} and lease_until < clock_timestamp()
      for no key update skip locked
    )
    update webhooks w set lease_id = ${leaseId}, lease_until = clock_timestamp() + ${leaseSeconds} * interval '1 second'
    from free f where w.tenant_id = ${tenantId} and w.webhook_id = f.webhook_id
    returning ${leasedColumns(tx)}`;
  return row;
};

/** Locks the row of a webhook. `ownsLease` is false if the lease expired and another process acquired it. */
export const lockLeasedWebhook = async (tx: Tx, { tenantId, id }: WebhookKey, leaseId: string) => {
  const [row] = await tx<(LeasedWebhook & { ownsLease: boolean; inService: boolean })[]>`
    select ${leasedColumns(tx)}, w.lease_id = ${leaseId} as "ownsLease",
      tenant_state(w.tenant_id) = 'in service' as "inService"
    from webhooks w
    where w.tenant_id = ${tenantId} and w.webhook_id = ${id} for no key update`;
  return row;
};

export interface AttemptResult extends Outcome {
  deliveryId: number;
  delivered: boolean;
}

/**
 * Records the results of attempts and schedules retries. What cannot be sent fails at once. `backoff` lists the seconds to wait after the first attempt,
 * the second, and so on; its last entry applies to all further ones.
 */
export const recordAttempts = (
  tx: Tx,
  { tenantId, id }: WebhookKey,
  results: AttemptResult[],
  backoff: readonly number[],
) => tx`
  update webhook_deliveries d set attempts = d.attempts + 1, last_time = now(), last_ms = r.ms,
    last_status = r.status, last_answer = r."responseText", last_error = r.error, state = n.state,
    next_try = case when n.state = 'waiting' then n.time end
  from json_to_recordset(${JSON.stringify(results)}::text::json)
      r ("deliveryId" bigint, delivered boolean, sent boolean, ms int, status int, "responseText" text, error text),
    webhook_deliveries e
    cross join lateral (
      select now() + interval '1 second' * (${[...backoff]}::int[])[least(e.attempts + 1, ${backoff.length})] as time
    ) l
    cross join lateral (
      select l.time,
        case when r.delivered then 'delivered' when not r.sent or l.time > e.retry_until then 'failed' else 'waiting' end as state
    ) n
  where e.tenant_id = ${tenantId} and e.webhook_id = ${id} and e.delivery_id = r."deliveryId" and e.state = 'waiting'
    and d.tenant_id = ${tenantId} and d.webhook_id = ${id} and d.delivery_id = e.delivery_id`;

/**
 * Makes the next pending delivery of a record due when one of these attempts has ended the previous one: deliveries of one
 * record are sent one after another.
 */
export const unblockNextDeliveries = (tx: Tx, { tenantId, id }: WebhookKey, results: AttemptResult[]) => tx`
  update webhook_deliveries d set next_try = now()
  from webhook_deliveries e cross join lateral (
    select n.delivery_id from webhook_deliveries n
    where n.tenant_id = ${tenantId} and n.webhook_id = ${id} and n.state = 'waiting'
      and n.resource = e.resource and n.resource_id = e.resource_id
    order by n.delivery_id limit 1
  ) n
  where e.tenant_id = ${tenantId} and e.webhook_id = ${id} and e.state <> 'waiting'
    and e.delivery_id = any(${results.map(({ deliveryId }) => String(deliveryId))}::bigint[])
    and d.tenant_id = ${tenantId} and d.webhook_id = ${id} and d.delivery_id = n.delivery_id
    and d.next_try = 'infinity'`;

/** Makes every scheduled retry due now: the receiver has recovered. */
export const retryAllNow = (tx: Tx, { tenantId, id }: WebhookKey) => tx`
  update webhook_deliveries set next_try = now()
  where tenant_id = ${tenantId} and webhook_id = ${id} and state = 'waiting' and next_try < 'infinity'`;

interface NewDelivery {
  /** The tenant whose ledger has the change. */
  ledger: string;
  changeId: number;
  type: string;
  resource: string;
  resourceId: string;
  /** Whether it is the first delivery of its record in this batch. */
  first: boolean;
}

/** Inserts deliveries in the given order. A delivery is not due while an earlier one of the same record is pending. */
export const insertDeliveries = (
  tx: Tx,
  { tenantId, id }: WebhookKey,
  deliveries: NewDelivery[],
  retryDays: number,
) => tx`
  insert into webhook_deliveries (tenant_id, webhook_id, delivery_id, ledger, change_id, type, resource, resource_id,
    retry_until, next_try)
  select ${tenantId}, ${id}, nextval('delivery_serial'), nullif(m.ledger, ${tenantId}), m.change_id, m.type, m.resource, m.resource_id,
    now() + ${retryDays} * interval '1 day',
    case when m.first and not exists (
      select from webhook_deliveries e
      where e.tenant_id = ${tenantId} and e.webhook_id = ${id} and e.state = 'waiting'
        and e.resource = m.resource and e.resource_id = m.resource_id
    ) then now() else 'infinity' end
  from rows from (json_to_recordset(${JSON.stringify(deliveries)}::text::json)
    as (ledger text, "changeId" bigint, type text, resource text, "resourceId" bigint, first boolean))
    with ordinality m (ledger, change_id, type, resource, resource_id, first, ordinal)
  order by m.ordinal`;

export interface WebhookState {
  seq: number;
  failures: number;
  /** The length of a pause that starts now; 0: a running pause continues unless a delivery has succeeded. */
  pauseSeconds: number;
  /** Whether the receiver responded 410 Gone, which disables the webhook. */
  gone: boolean;
}

/**
 * Saves the state of a webhook and renews its lease. If there are changes beyond its position and the backlog has room for
 * them, the webhook stays due: neither sealing nor mark_subtree_webhooks_due() makes it due again for the same changes.
 */
export const saveState = async (
  tx: Tx,
  { tenantId, id }: WebhookKey,
  { seq, failures, pauseSeconds, gone }: WebhookState,
  { leaseSeconds, maxBacklog }: { leaseSeconds: number; maxBacklog: number },
) => {
  const [row] = await tx<[{ waiting: number; paused: boolean }]>`
    with backlog as (
      select count(*) as waiting, min(next_try) filter (where next_try < 'infinity') as next_try
      from webhook_deliveries where tenant_id = ${tenantId} and webhook_id = ${id} and state = 'waiting'
    ), pause as (
      select case when ${pauseSeconds} > 0 then now() + ${pauseSeconds} * interval '1 second'
        when ${failures} > 0 then paused_until end as until
      from webhooks where tenant_id = ${tenantId} and webhook_id = ${id}
    )
    update webhooks w set seq = ${seq}, failures = ${failures}, waiting = backlog.waiting, paused_until = pause.until,
      next_due = case
        when backlog.waiting < ${maxBacklog} and ${seq} < (case when w.below
          then (select m.position from webhook_subtree_marks m)
          else (select h.seq from seal_heads h where h.tenant_id = ${tenantId}) end) then now()
        when backlog.next_try is not null then greatest(backlog.next_try, pause.until)
      end,
      lease_until = clock_timestamp() + ${leaseSeconds} * interval '1 second',
      status = case when ${gone} then '1' else w.status end, gone = w.gone or ${gone},
      update_by = case when ${gone} then 'banyan' else w.update_by end,
      update_time = case when ${gone} then now() else w.update_time end
    from backlog, pause where w.tenant_id = ${tenantId} and w.webhook_id = ${id}
    returning w.waiting, coalesce(w.paused_until > now(), false) as paused`;
  return row;
};

export interface DueDelivery {
  deliveryId: number;
  ledger: string;
  /** null: a test message. */
  changeId: number | null;
  type: string;
  time: string;
}

export const readDueDeliveries = (tx: Tx, { tenantId, id }: WebhookKey, limit: number) => tx<DueDelivery[]>`
  select delivery_id as "deliveryId", coalesce(ledger, tenant_id) as ledger, change_id as "changeId", type,
    ${exactTime(tx, tx`time`)} as time
  from webhook_deliveries
  where tenant_id = ${tenantId} and webhook_id = ${id} and state = 'waiting' and next_try <= now()
  order by next_try, delivery_id limit ${limit}`;

/** Ends the lease, and deletes finished deliveries past their retention, at most 500 at a time. */
export const releaseLease = (tx: Tx, { tenantId, id }: WebhookKey, leaseId: string, retentionDays: number) => tx`
  with old as (
    delete from webhook_deliveries d using (
      select delivery_id from webhook_deliveries where tenant_id = ${tenantId} and webhook_id = ${id}
      order by delivery_id limit 500
    ) o
    where d.tenant_id = ${tenantId} and d.webhook_id = ${id} and d.delivery_id = o.delivery_id
      and d.state <> 'waiting' and d.time < now() - ${retentionDays} * interval '1 day'
  )
  update webhooks set lease_id = null, lease_until = '-infinity'
  where tenant_id = ${tenantId} and webhook_id = ${id} and lease_id = ${leaseId}`;

/** Deletes up to `limit` deliveries of a deleted webhook. Returns how many it deleted. */
export const deleteDeliveries = async (tx: Tx, { tenantId, id }: WebhookKey, limit: number): Promise<number> => {
  const { count } = await tx`
    delete from webhook_deliveries where tenant_id = ${tenantId} and webhook_id = ${id} and delivery_id in (
      select delivery_id from webhook_deliveries where tenant_id = ${tenantId} and webhook_id = ${id} limit ${limit})`;
  return count;
};

export const deleteWebhook = (tx: Tx, { tenantId, id }: WebhookKey, leaseId: string) => tx`
  delete from webhooks
  where tenant_id = ${tenantId} and webhook_id = ${id} and lease_id = ${leaseId} and del_flag <> '0'`;
