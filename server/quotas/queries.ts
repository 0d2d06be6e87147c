import { bigintOf, type Fragment, type Tx } from '../../db/driver.ts';
import type { Period, Quota, QuotaBelow } from './schema.ts';

/** The clock of the database, or the time that a test passes. */
export type Now = Date | undefined;

const timeOf = (tx: Tx, now: Now) => tx`${now?.toISOString() ?? null}::text::timestamptz`;

/**
 * The time at which `used` is reset to 0, for a row `s` of quota_state(). It is truncated, because a day on which the clocks skip
 * midnight starts at 01:00, but the day after it starts at 00:00.
 */
const resetTime = (tx: Tx) => tx`case when s.period <> 'none' then
  to_char(date_trunc(s.period, s.period_start + ('1 ' || s.period)::interval), 'YYYY-MM-DD HH24:MI:SS') end`;

/** A row of `quotaState`. */
export type StateRow = Omit<Quota, 'left'> & { isCounted: boolean };

/** The quotas of a tenant that the transaction sees: its own and those that a tenant above shares with it. */
export const quotaState = (tx: Tx, tenantId: string, now: Now): Fragment => tx`
  select s.quota, s.total, s.used, s.reserved, s.period, s.pooled, s.counted as "isCounted",
    ${resetTime(tx)} as "resetTime"
  from quota_state(${tenantId}, array(
      select unnest(quota_bo_names())
      union select q.quota from quotas q where q.tenant_id = ${tenantId}
      union select pooled_quotas_above(${tenantId})
    ), coalesce(${timeOf(tx, now)}, clock_timestamp())) s
  order by array_position(quota_bo_names(), s.quota), s.quota`;

export const readState = (tx: Tx, tenantId: string, now: Now) => tx<StateRow[]>`${quotaState(tx, tenantId, now)}`;

/**
 * Reads those quotas of a tenant's descendants of which something is used or reserved. The ones that run out first are
 * at the top.
 */
export const readBelow = (tx: Tx, tenantId: string, max: number, now: Now) => tx<
  (Omit<QuotaBelow, 'left'> & { matches: number })[]
>`
  select t.id::text, t.tenant_id as "tenantId", t.tenant_name as "tenantName", s.quota, s.total, s.used, s.reserved, s.period,
    s.pooled, ${resetTime(tx)} as "resetTime", s.recent, s.matches
  from quotas_below(${tenantId}, coalesce(${timeOf(tx, now)}, clock_timestamp()), ${max}::int) with ordinality s
  join tenants t on t.tenant_id = s.tenant_id
  where t.path @> array[${tenantId}::text]
  order by s.ordinality`;

/** A counter that the transaction has locked: that of the tenant itself, or of a pool above it. */
export interface CounterRow {
  tenantId: string;
  quota: string;
  total: number;
  used: number;
  reserved: number;
  period: Period;
  pooled: boolean;
  resets: number;
  /** Whether it still holds the reservation in question. */
  held: boolean;
  moment: Date;
}

/**
 * Locks the counters of a tenant and of the pools above it, in the order that all transactions use, and settles them
 * (lock_quota_counters.sql). With `pools`, locks these instead of those above the tenant at present.
 */
export const lockCounters = (
  tx: Tx,
  tenantId: string,
  quotas: string[],
  { pools = null, reservationId = null, now }: { pools?: string[] | null; reservationId?: string | null; now: Now },
) =>
  tx<CounterRow[]>`
    select tenant_id as "tenantId", quota, total, used, reserved, period, pooled, resets, held, moment
    from lock_quota_counters(${tenantId}, ${quotas}::text[], ${pools}::text[], ${reservationId}::bigint,
      ${timeOf(tx, now)})`.execute();

/** A counter to be written, with reservations that begin and end. */
export interface CounterUpdate {
  tenant_id: string;
  quota: string;
  used: number;
  reserved: number;
  holds?: { reservation_id: number; amount: number; expires: Date }[];
  ended?: number[];
}

export const writeCounters = (tx: Tx, tenantId: string, counters: CounterUpdate[]) =>
  tx`select write_quota_counters(${tenantId}, ${JSON.stringify(counters)}::text::json)`.execute();

/** Reserves ids for uses and reservations. */
export const nextIds = async (tx: Tx, count: number): Promise<number[]> => {
  const rows = await tx<{ id: number }[]>`
    select nextval('quota_use_serial') as id from generate_series(1, ${count}::int)`.execute();
  return rows.map(({ id }) => id);
};

interface Entry {
  quota: string;
  amount: number;
  subject: string | null;
  time: Date;
  user_id: string | null;
  key_id: string | null;
  actor_tenant_id: string;
}

export type NewUse = Entry & { use_id: number; counted: Record<string, number> };

/** The tenants whose counters have counted a use `u`, sorted like `quota_sums.counted_by`. */
const countingTenants = (tx: Tx) => tx`array(select jsonb_object_keys(u.counted) order by 1)`;

/**
 * Inserts uses and adds them to the sums of their day. The transaction has locked the counters of the tenant, so no other one
 * writes these sums.
 */
export const insertUses = (tx: Tx, tenantId: string, uses: NewUse[]) =>
  tx`
    with inserted as (
      insert into quota_uses as u (tenant_id, use_id, quota, amount, subject, time, day, user_id, key_id, actor_tenant_id, dept_id,
        counted)
      select ${tenantId}, n.use_id, n.quota, n.amount, n.subject, n.time, n.time::date, n.user_id, n.key_id, n.actor_tenant_id,
        (select m.dept_id from user_departments m
          where m.tenant_id = ${tenantId} and m.user_id = n.user_id and m.main and n.actor_tenant_id = ${tenantId}),
        n.counted
      from json_to_recordset(${JSON.stringify(uses)}::text::json) as n (use_id bigint, quota text, amount bigint, subject text,
        time timestamptz, user_id bigint, key_id bigint, actor_tenant_id text, counted jsonb)
      returning u.quota, u.day, u.amount, u.user_id, u.key_id, u.dept_id, u.actor_tenant_id, ${countingTenants(tx)} as counted_by
    ), summed as (
      insert into quota_sums as s (tenant_id, quota, day, counted_by, amount, uses)
      select ${tenantId}, i.quota, i.day, i.counted_by, sum(i.amount), count(*) from inserted i group by 2, 3, 4
      on conflict (tenant_id, quota, day, counted_by)
        do update set amount = s.amount + excluded.amount, uses = s.uses + excluded.uses
    )
    insert into quota_caller_sums as s (tenant_id, quota, day, user_id, key_id, dept_id, actor_tenant_id, amount, uses)
    select ${tenantId}, i.quota, i.day, coalesce(i.user_id, 0), coalesce(i.key_id, 0), coalesce(i.dept_id, 0), i.actor_tenant_id,
      sum(i.amount), count(*)
    from inserted i group by 2, 3, 4, 5, 6, 7
    on conflict (tenant_id, quota, day, user_id, key_id, dept_id, actor_tenant_id)
      do update set amount = s.amount + excluded.amount, uses = s.uses + excluded.uses`.execute();

export type NewReservation = Entry & { reservation_id: number; expires: Date; pools: string[] };

export const insertReservations = (tx: Tx, tenantId: string, reservations: NewReservation[]) =>
  tx`
    insert into quota_reservations (tenant_id, reservation_id, quota, amount, subject, time, expires, user_id, key_id,
      actor_tenant_id, pools)
    select ${tenantId}, r.reservation_id, r.quota, r.amount, r.subject, r.time, r.expires, r.user_id, r.key_id,
      r.actor_tenant_id, r.pools
    from json_to_recordset(${JSON.stringify(reservations)}::text::json) as r (reservation_id bigint, quota text,
      amount bigint, subject text, time timestamptz, expires timestamptz, user_id bigint, key_id bigint,
      actor_tenant_id text, pools text[])`.execute();

/** Locks a reservation, so that it ends only once. */
export const lockReservation = async (tx: Tx, tenantId: string, id: string) => {
  const [row] = await tx<
    {
      reservationId: number;
      quota: string;
      amount: number;
      subject: string | null;
      expires: Date;
      state: 'open' | 'confirmed' | 'released';
      pools: string[];
    }[]
  >`
    select reservation_id as "reservationId", quota, amount, subject, expires, state, pools from quota_reservations
    where tenant_id = ${tenantId} and reservation_id = ${bigintOf(id)} for update`;
  return row;
};

export const endReservation = (
  tx: Tx,
  tenantId: string,
  reservationId: number,
  state: 'confirmed' | 'released',
  useId: number | null,
) => tx`
  update quota_reservations set state = ${state}, use_id = ${useId}
  where tenant_id = ${tenantId} and reservation_id = ${reservationId}`;

/** Locks a use, so that it is refunded only once. */
export const lockUse = async (tx: Tx, tenantId: string, id: string) => {
  const [row] = await tx<
    { useId: number; quota: string; amount: number; counted: Record<string, number>; isRefunded: boolean }[]
  >`
    select use_id as "useId", quota, amount, counted, refund_time is not null as "isRefunded" from quota_uses
    where tenant_id = ${tenantId} and use_id = ${bigintOf(id)} for update`;
  return row;
};

/** Marks a use as refunded and subtracts it from the sums of its day. The transaction has locked the counter of the tenant. */
export const markRefunded = (tx: Tx, tenantId: string, useId: number, by: string, time: Date) => tx`
  with refunded as (
    update quota_uses u set refund_time = ${time.toISOString()}::text::timestamptz, refund_by = ${by}
    where u.tenant_id = ${tenantId} and u.use_id = ${useId}
    returning u.quota, u.day, u.amount, u.user_id, u.key_id, u.dept_id, u.actor_tenant_id, ${countingTenants(tx)} as counted_by
  ), summed as (
    update quota_sums s set amount = s.amount - r.amount, uses = s.uses - 1 from refunded r
    where s.tenant_id = ${tenantId} and s.quota = r.quota and s.day = r.day and s.counted_by = r.counted_by
  )
  update quota_caller_sums s set amount = s.amount - r.amount, uses = s.uses - 1 from refunded r
  where s.tenant_id = ${tenantId} and s.quota = r.quota and s.day = r.day and s.user_id = coalesce(r.user_id, 0)
    and s.key_id = coalesce(r.key_id, 0) and s.dept_id = coalesce(r.dept_id, 0) and s.actor_tenant_id = r.actor_tenant_id`;

export const readSettings = async (tx: Tx, tenantId: string, quota: string) => {
  const [row] = await tx<{ total: number | null; period: Period; pooled: boolean }[]>`
    select total, period, pooled from quotas where tenant_id = ${tenantId} and quota = ${quota}`;
  return row;
};

export const writeSettings = (
  tx: Tx,
  tenantId: string,
  {
    quota,
    total,
    period,
    pooled,
    by,
  }: { quota: string; total: number | null; period: Period; pooled: boolean; by: string },
) => tx`
  insert into quotas as q (tenant_id, quota, total, period, pooled, create_by)
  values (${tenantId}, ${quota}, ${total}, ${period}, ${pooled}, ${by})
  on conflict (tenant_id, quota) do update set total = excluded.total, period = excluded.period, pooled = excluded.pooled,
    update_by = ${by}, update_time = now()
  where (q.total, q.period, q.pooled) is distinct from (excluded.total, excluded.period, excluded.pooled)`;

/**
 * Starts a period of another length, in which the uses so far count. If the clock was set back, the new period is the one that
 * contains the latest of now, the last use and the former start: otherwise a period whose uses are already counted would begin
 * later and set `used` to 0. Without a period, the counter keeps the former start for the next change.
 */
export const startPeriod = (tx: Tx, tenantId: string, quota: string, period: Period, now: Now) => {
  const time = tx`coalesce(${timeOf(tx, now)}, clock_timestamp())`;
  if (period === 'none')
    return tx`insert into quota_counters (tenant_id, quota) values (${tenantId}, ${quota}) on conflict do nothing`;
  return tx`
    insert into quota_counters as c (tenant_id, quota, period_start)
    values (${tenantId}, ${quota}, date_trunc(${period}, ${time}))
    on conflict (tenant_id, quota) do update set period_start = date_trunc(${period}, greatest(${time}, c.period_start, (
      select max(u.date)::date::timestamptz
      from usage_by_tenant(${tenantId}, ${quota}, ${time}::date, null, 'YYYY-MM-DD') u)))`;
};

/** Sets what was used. The transaction has locked the counter, if it exists. */
export const setUsed = (tx: Tx, tenantId: string, quota: string, used: number) => tx`
  insert into quota_counters (tenant_id, quota, used) values (${tenantId}, ${quota}, ${used})
  on conflict (tenant_id, quota) do update set used = excluded.used`;

/** Reads the path of a tenant that the transaction sees: the codes from 000000 down to the tenant itself. */
export const readPath = async (tx: Tx, tenantId: string): Promise<string[]> => {
  const [row] = await tx<{ path: string[] }[]>`select path from tenants where tenant_id = ${tenantId}`;
  return row?.path ?? [];
};

/** Counts the users of a tenant and of all tenants below it. */
export const countSubtreeAccounts = async (tx: Tx, tenantId: string): Promise<number> => {
  const [row] = await tx<[{ count: number }]>`select subtree_accounts(${tenantId}) as count`;
  return row.count;
};

/** Reads the quota `accounts` of a tenant that the transaction sees and the pools above it, without locks. */
export const readAccountLimits = (tx: Tx, tenantId: string) =>
  tx<
    Pick<CounterRow, 'tenantId' | 'quota' | 'total' | 'used' | 'reserved'>[]
  >`select tenant_id as "tenantId", quota, total, used, reserved from account_limits(${tenantId})`;
