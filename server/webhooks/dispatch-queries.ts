import type { Sql, Tx } from '../../db/sql.ts';
import type { Outcome } from './sending.ts';

/** Statements of the dispatcher. Whoever is at work on a webhook holds a lease on it, and in each transaction its row. */

export interface Work {
  tenantId: string;
  id: number;
  failing: boolean;
}

/** What has something to do and nobody who does it, those that work first. */
export const findWork = (sql: Sql, backlog: number, atMost: number) => sql<Work[]>`
  select tenant_id as "tenantId", webhook_id as id, failing from webhooks_with_work(${backlog}, ${atMost})`;

export interface Held {
  url: string;
  kinds: string[];
  status: '0' | '1';
  deleted: boolean;
  seq: number;
  waiting: number;
  failures: number;
  resting: boolean;
  secrets: Buffer[];
}

const held = (tx: Tx) => tx`
  w.url, w.kinds, w.status, w.del_flag <> '0' as deleted, w.seq, w.waiting, w.failures,
  coalesce(w.rest_until > now(), false) as resting,
  case when w.old_secret_until > now() then array[w.secret, w.old_secret] else array[w.secret] end as secrets`;

/** Nobody waits for another's claim: who comes second finds other work. */
export const claim = async (tx: Tx, { tenantId, id }: Work, by: string, leaseSeconds: number) => {
  const [row] = await tx<Held[]>`
    with free as (
      select webhook_id from webhooks
      where tenant_id = ${tenantId} and webhook_id = ${id} and busy_until < clock_timestamp()
      for no key update skip locked
    )
    update webhooks w set busy_by = ${by}, busy_until = clock_timestamp() + ${leaseSeconds} * interval '1 second'
    from free f where w.tenant_id = ${tenantId} and w.webhook_id = f.webhook_id
    returning ${held(tx)}`;
  return row;
};

/** Its row, locked; `mine`: the lease is still this one's. */
export const hold = async (tx: Tx, { tenantId, id }: Work, by: string) => {
  const [row] = await tx<(Held & { mine: boolean; inService: boolean })[]>`
    select ${held(tx)}, w.busy_by = ${by} as mine, tenant_standing(w.tenant_id) = 'in service' as "inService"
    from webhooks w
    where w.tenant_id = ${tenantId} and w.webhook_id = ${id} for no key update`;
  return row;
};

export interface Told extends Outcome {
  deliveryId: number;
  delivered: boolean;
}

/** What came of attempts. `delays`: seconds until the next, by how many there were; then the last of them, always. */
export const record = (tx: Tx, { tenantId, id }: Work, told: Told[], delays: readonly number[]) => tx`
  update webhook_deliveries d set attempts = d.attempts + 1, last_time = now(), last_ms = t.ms,
    last_status = t.status, last_answer = t.answer, last_error = t.error, state = n.state,
    next_try = case when n.state = 'waiting' then n.time end
  from json_to_recordset(${JSON.stringify(told)}::text::json)
      t ("deliveryId" bigint, delivered boolean, ms int, status int, answer text, error text),
    webhook_deliveries e
    cross join lateral (
      select now() + interval '1 second' * (${[...delays]}::int[])[least(e.attempts + 1, ${delays.length})] as time
    ) l
    cross join lateral (
      select l.time, case when t.delivered then 'delivered' when l.time > e.give_up then 'failed' else 'waiting' end as state
    ) n
  where e.tenant_id = ${tenantId} and e.webhook_id = ${id} and e.delivery_id = t."deliveryId" and e.state = 'waiting'
    and d.tenant_id = ${tenantId} and d.webhook_id = ${id} and d.delivery_id = e.delivery_id`;

/** Of the records of these deliveries: the earliest that waits behind one that is done has its turn. */
export const promote = (tx: Tx, { tenantId, id }: Work, told: Told[]) => tx`
  update webhook_deliveries d set next_try = now()
  from webhook_deliveries e cross join lateral (
    select n.delivery_id from webhook_deliveries n
    where n.tenant_id = ${tenantId} and n.webhook_id = ${id} and n.state = 'waiting'
      and n.resource = e.resource and n.resource_id = e.resource_id
    order by n.delivery_id limit 1
  ) n
  where e.tenant_id = ${tenantId} and e.webhook_id = ${id} and e.state <> 'waiting'
    and e.delivery_id = any(${told.map(({ deliveryId }) => String(deliveryId))}::bigint[])
    and d.tenant_id = ${tenantId} and d.webhook_id = ${id} and d.delivery_id = n.delivery_id
    and d.next_try = 'infinity'`;

/** A receiver that is back gets at once what it missed. */
export const hastenAll = (tx: Tx, { tenantId, id }: Work) => tx`
  update webhook_deliveries set next_try = now()
  where tenant_id = ${tenantId} and webhook_id = ${id} and state = 'waiting' and next_try < 'infinity'`;

export interface NewDelivery {
  changeId: number;
  type: string;
  resource: string;
  resourceId: string;
  /** Of its record, among those that come with it. */
  first: boolean;
}

/** In their order; of a record only one has its turn. */
export const insertDeliveries = (tx: Tx, { tenantId, id }: Work, made: NewDelivery[], days: number) => tx`
  insert into webhook_deliveries (tenant_id, webhook_id, delivery_id, change_id, type, resource, resource_id, give_up,
    next_try)
  select ${tenantId}, ${id}, nextval('delivery_serial'), m.change_id, m.type, m.resource, m.resource_id,
    now() + ${days} * interval '1 day',
    case when m.first and not exists (
      select from webhook_deliveries e
      where e.tenant_id = ${tenantId} and e.webhook_id = ${id} and e.state = 'waiting'
        and e.resource = m.resource and e.resource_id = m.resource_id
    ) then now() else 'infinity' end
  from rows from (json_to_recordset(${JSON.stringify(made)}::text::json)
    as ("changeId" bigint, type text, resource text, "resourceId" bigint, first boolean))
    with ordinality m (change_id, type, resource, resource_id, first, place)
  order by m.place`;

export interface Standing {
  seq: number;
  failures: number;
  /** Seconds; 0: not at all. */
  rest: number;
  gone: boolean;
}

/** How it stands now, and the lease anew. */
export const keepStanding = async (
  tx: Tx,
  { tenantId, id }: Work,
  { seq, failures, rest, gone }: Standing,
  leaseSeconds: number,
) => {
  const [row] = await tx<[{ waiting: number; resting: boolean }]>`
    with line as (
      select count(*) as waiting, min(next_try) filter (where next_try < 'infinity') as next_try
      from webhook_deliveries where tenant_id = ${tenantId} and webhook_id = ${id} and state = 'waiting'
    ), rest as (
      select case when ${rest} > 0 then now() + ${rest} * interval '1 second'
        when ${failures} > 0 then rest_until end as until
      from webhooks where tenant_id = ${tenantId} and webhook_id = ${id}
    )
    update webhooks w set seq = ${seq}, failures = ${failures}, waiting = line.waiting, rest_until = rest.until,
      next_due = case when line.next_try is not null then greatest(line.next_try, rest.until) end,
      busy_until = clock_timestamp() + ${leaseSeconds} * interval '1 second',
      status = case when ${gone} then '1' else w.status end, gone = w.gone or ${gone},
      update_by = case when ${gone} then 'banyan' else w.update_by end,
      update_time = case when ${gone} then now() else w.update_time end
    from line, rest where w.tenant_id = ${tenantId} and w.webhook_id = ${id}
    returning w.waiting, coalesce(w.rest_until > now(), false) as resting`;
  return row;
};

export interface Due {
  deliveryId: number;
  changeId: number | null;
  type: string;
  time: string;
}

export const pick = (tx: Tx, { tenantId, id }: Work, atMost: number) => tx<Due[]>`
  select delivery_id as "deliveryId", change_id as "changeId", type,
    to_char(time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as time
  from webhook_deliveries
  where tenant_id = ${tenantId} and webhook_id = ${id} and state = 'waiting' and next_try <= now()
  order by next_try, delivery_id limit ${atMost}`;

/** The lease ends; so do a few deliveries that are too old. */
export const release = (tx: Tx, { tenantId, id }: Work, by: string, days: number) => tx`
  with old as (
    delete from webhook_deliveries d using (
      select delivery_id from webhook_deliveries where tenant_id = ${tenantId} and webhook_id = ${id}
      order by delivery_id limit 500
    ) o
    where d.tenant_id = ${tenantId} and d.webhook_id = ${id} and d.delivery_id = o.delivery_id
      and d.state <> 'waiting' and d.time < now() - ${days} * interval '1 day'
  )
  update webhooks set busy_by = null, busy_until = '-infinity'
  where tenant_id = ${tenantId} and webhook_id = ${id} and busy_by = ${by}`;

/** Of a webhook that was deleted: tells how many deliveries went. */
export const dropDeliveries = async (tx: Tx, { tenantId, id }: Work, atMost: number): Promise<number> => {
  const { count } = await tx`
    delete from webhook_deliveries where tenant_id = ${tenantId} and webhook_id = ${id} and delivery_id in (
      select delivery_id from webhook_deliveries where tenant_id = ${tenantId} and webhook_id = ${id} limit ${atMost})`;
  return count;
};

export const dropWebhook = (tx: Tx, { tenantId, id }: Work, by: string) => tx`
  delete from webhooks where tenant_id = ${tenantId} and webhook_id = ${id} and busy_by = ${by} and del_flag <> '0'`;
