-- Returns the quotas of the tenants below `root` of which something is used or reserved, with what was used in the last 30 days
-- (today and the 29 days before). Those that run out first at that rate, before they are reset, come first. At most `max` are
-- returned: those of which the largest share is used. `matches` is the number of all such quotas, returned or not. For a pool,
-- the uses of the tenants below it count too, as in its counter. The quota `accounts` is left out.
-- quota_state() is too expensive to call for every counter of a large subtree. So `taken` computes the same `used + reserved`
-- without it to find the candidates, and the function is called only for these. Expired reservations are looked up only for
-- counters that have reservations.
-- Row-level security shows the quotas of one tenant only, so this function runs as the owner of the tables, and answers only for
-- the tenant of the transaction.
create or replace function quotas_below(root text, moment timestamptz, max int)
  returns table (tenant_id text, quota text, total bigint, used bigint, reserved bigint, period text, pooled boolean,
    period_start timestamptz, recent bigint, matches bigint)
  language sql stable security definer set search_path = banyan, pg_temp as $$
  with candidates as (
    select c.tenant_id, c.quota, count(*) over () as matches
    from tenants t
    join quota_counters c on c.tenant_id = t.tenant_id
    left join quotas q on q.tenant_id = c.tenant_id and q.quota = c.quota
    cross join lateral (
      select coalesce(q.total, case when c.quota = any (quota_bo_names()) then (t.quotas ->> c.quota)::bigint end, -1) as total,
        case when q.period <> 'none' and date_trunc(q.period, moment) > c.period_start then 0 else c.used end
        + case when c.reserved = 0 then 0 else c.reserved - coalesce((select sum(h.amount) from quota_holds h
          where h.tenant_id = c.tenant_id and h.quota = c.quota and h.expires <= moment), 0) end as taken) s
    where t.path @> array[root] and root = current_setting('banyan.tenant', true) and t.tenant_id <> root and t.del_flag = '0'
      and c.used + c.reserved > 0 and s.taken > 0 and c.quota <> 'accounts'
    order by case s.total when -1 then 0 when 0 then 'infinity' else s.taken / s.total::float8 end desc, t.id, c.quota
    limit max
  )
  select c.tenant_id, s.quota, s.total, s.used, s.reserved, s.period, s.pooled, s.period_start, r.recent, c.matches
  from candidates c
  cross join lateral quota_state(c.tenant_id, array[c.quota], moment) s
  cross join lateral (
    select coalesce(sum(u.amount), 0)::bigint as recent from tenants d
    cross join lateral (
      -- `offset 0`: look up the days of each tenant, whatever the statistics say.
      select a.amount from quota_sums a where a.tenant_id = d.tenant_id and a.quota = c.quota
        and a.day > moment::date - 30 and c.tenant_id = any (a.counted_by)
      offset 0
    ) u
    where d.path @> array[c.tenant_id] and (s.pooled or d.tenant_id = c.tenant_id)
  ) r
  cross join lateral (
    select case when r.recent > 0 then greatest(0, s.total - s.used - s.reserved) * 30 / r.recent::float8 end as days_left,
      case when s.period = 'none' then 'infinity'
        else extract(epoch from date_trunc(s.period, s.period_start + ('1 ' || s.period)::interval) - moment) / 86400
        end::float8 as days_to_reset
  ) d
  order by case
      when s.total = -1 then null
      when s.used + s.reserved >= s.total then 0
      when d.days_left < d.days_to_reset then d.days_left end nulls last,
    case when s.total > 0 then (s.used + s.reserved) / s.total::float8 end desc nulls last, c.tenant_id, s.quota
$$;
revoke execute on function quotas_below from public;
