import { bigintOf, type Fragment, raw, type Tx } from '../../db/driver.ts';
import type { QuotaUse, UsageBy } from './schema.ts';

export interface UseSearch {
  quota: string | null;
  subject: string | null;
  /** The first and the last day, in the configured time zone. */
  from: string | null;
  to: string | null;
}

/** Each use, including archived ones. With `marginDays`, also those up to this many days earlier or later. */
const uses = (tx: Tx, tenantId: string, { quota, subject, from, to }: UseSearch, marginDays = 0): Fragment => {
  const matching = (table: string, archived: boolean) => tx`
    select u.*, ${raw(tx, String(archived))} as archived from ${raw(tx, table)} u where u.tenant_id = ${tenantId}
      ${quota === null ? tx`` : tx`and u.quota = ${quota}`} ${subject === null ? tx`` : tx`and u.subject = ${subject}`}
      ${from === null ? tx`` : tx`and u.time >= (${from}::text::date - ${marginDays}::int)::timestamptz`}
      ${to === null ? tx`` : tx`and u.time < (${to}::text::date + 1 + ${marginDays}::int)::timestamptz`}`;
  return tx`(${matching('quota_uses', false)} union all ${matching('quota_uses_archive', true)})`;
};

/** Users and keys of a tenant above are shown only to callers of that tenant. */
const columns = (tx: Tx, tenantId: string, reader: string) => {
  const isShown = tx`u.actor_tenant_id in (${tenantId}, ${reader})`;
  return tx`
    u.use_id as "useId", u.quota, u.amount, u.subject, to_char(u.time, 'YYYY-MM-DD HH24:MI:SS') as time,
    case when ${isShown} then u.user_id end as "userId", case when ${isShown} then u.key_id end as "keyId",
    u.dept_id as "deptId", to_char(u.refund_time, 'YYYY-MM-DD HH24:MI:SS') as "refundTime", u.refund_by as "refundBy", u.archived`;
};

interface Reader {
  tenantId: string;
  ownTenantId: string;
}

/** Lists uses, the latest first. */
export const listUses = (
  tx: Tx,
  { tenantId, ownTenantId }: Reader,
  search: UseSearch,
  { before = null, limit, offset = 0 }: { before?: string | null; limit: number; offset?: number },
) => tx<QuotaUse[]>`
  select ${columns(tx, tenantId, ownTenantId)} from ${uses(tx, tenantId, search)} u
  ${before === null ? tx`` : tx`where u.use_id < ${bigintOf(before)}`}
  order by u.use_id desc limit ${limit} offset ${offset}`;

export const countUses = async (tx: Tx, { tenantId }: Reader, search: UseSearch): Promise<number> => {
  const [row] = await tx<[{ count: number }]>`select count(*) from ${uses(tx, tenantId, search)} u`;
  return row.count;
};

/** The stored sums that a search matches. */
const storedSums = (
  tx: Tx,
  table: 'quota_sums' | 'quota_caller_sums',
  tenantId: string,
  { quota, from, to }: UseSearch,
): Fragment => tx`
  (select * from ${raw(tx, table)} a where a.tenant_id = ${tenantId} and a.uses > 0
    ${quota === null ? tx`` : tx`and a.quota = ${quota}`}
    ${from === null ? tx`` : tx`and a.day >= ${from}::text::date`}
    ${to === null ? tx`` : tx`and a.day <= ${to}::text::date`})`;

/** The day of a use in a former time zone may differ from its day in the current one by this many days. */
const TIME_ZONE_DAYS = 2;

/** Each use as a sum of its own. Sums by subject are not stored, because there may be as many subjects as uses. */
const singleUses = (tx: Tx, tenantId: string, search: UseSearch): Fragment => tx`
  (select u.day, u.quota, u.subject, u.amount, 1 as uses from ${uses(tx, tenantId, search, TIME_ZONE_DAYS)} u
    where u.refund_time is null ${search.from === null ? tx`` : tx`and u.day >= ${search.from}::text::date`}
      ${search.to === null ? tx`` : tx`and u.day <= ${search.to}::text::date`})`;

/** The sums that a response is made of, and the column for `by`. */
function sumsBy(
  tx: Tx,
  { tenantId, ownTenantId }: Reader,
  search: UseSearch,
  by: Exclude<UsageBy, 'tenant'> | undefined,
): { sums: Fragment; column?: Fragment } {
  const isShown = tx`s.actor_tenant_id in (${tenantId}, ${ownTenantId})`;
  const byCaller = () => storedSums(tx, 'quota_caller_sums', tenantId, search);
  switch (by) {
    case 'user':
      return { sums: byCaller(), column: tx`case when ${isShown} then nullif(s.user_id, 0) end as "userId"` };
    case 'key':
      return { sums: byCaller(), column: tx`case when ${isShown} then nullif(s.key_id, 0) end as "keyId"` };
    case 'department':
      return { sums: byCaller(), column: tx`nullif(s.dept_id, 0) as "deptId"` };
    case 'subject':
      return { sums: singleUses(tx, tenantId, search), column: tx`s.subject` };
    default:
      return { sums: storedSums(tx, 'quota_sums', tenantId, search) };
  }
}

const formats = { day: 'YYYY-MM-DD', month: 'YYYY-MM' };
/** What the sums are grouped by: sorting dates is cheaper than sorting formatted texts. */
const dates = { day: 's.day', month: `date_trunc('month', s.day)` };

/** Sums the uses that were not refunded, by day or month and quota, and by one more column. */
export const sumUses = (
  tx: Tx,
  reader: Reader,
  search: UseSearch,
  { per, by, limit }: { per: 'day' | 'month'; by: Exclude<UsageBy, 'tenant'> | undefined; limit: number },
) => {
  const { sums, column } = sumsBy(tx, reader, search, by);
  const date = raw(tx, dates[per]);
  const groups = tx`${date}, 2 ${column ? tx`, 5` : tx``}`;
  return tx<{ date: string; quota: string; amount: number; uses: number }[]>`
    select to_char(${date}, ${raw(tx, `'${formats[per]}'`)}) as date, s.quota, sum(s.amount)::float8 as amount,
      sum(s.uses)::bigint as uses ${column ? tx`, ${column}` : tx``}
    from ${sums} s group by ${groups} order by ${groups} limit ${limit}`;
};

/**
 * Sums what the counters of a tenant have counted, grouped by the tenants whose uses these are: the tenant itself and, with
 * `below`, the descendants whose uses counted against its pools.
 */
export const sumUsesByTenant = (
  tx: Tx,
  tenantId: string,
  { quota, from, to }: UseSearch,
  { per, below, limit }: { per: 'day' | 'month'; below: boolean; limit: number },
) => tx<{ date: string; quota: string; amount: number; uses: number; tenantId: string }[]>`
  select date, quota, amount, uses, tenant_id as "tenantId"
  from usage_by_tenant(${tenantId}, ${quota}::text, ${from}::text::date, ${to}::text::date, ${formats[per]})
  ${below ? tx`` : tx`where tenant_id = ${tenantId}`}
  order by 1, 2, 5 limit ${limit}`;
