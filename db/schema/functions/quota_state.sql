-- Returns the state of a tenant's quotas at a moment: `used` is 0 if a new period has begun, and `reserved` leaves out what has
-- expired, whether or not the counter was settled since. The period starts at midnight in the session's time zone. It never
-- goes back: if the clock was set back, the later period stays in effect. The quota `accounts` counts users, so it has no uses.
create or replace function quota_state(tenant text, names text[], moment timestamptz)
  returns table (quota text, total bigint, used bigint, reserved bigint, period text, pooled boolean,
    period_start timestamptz, resets int, counted boolean)
  language plpgsql stable set search_path = banyan, pg_temp as $$
begin
  return query
  select n.name,
    coalesce(q.total, case when n.name = any (quota_bo_names()) then (t.quotas ->> n.name)::bigint end, -1),
    case
      when n.name = 'accounts' and q.pooled then subtree_accounts(tenant)
      when n.name = 'accounts' then
        (select count(*) from users u where u.tenant_id = tenant and u.del_flag = '0')
      when s.start > c.period_start then 0
      else coalesce(c.used, 0) end,
    coalesce(c.reserved, 0) - coalesce((select sum(h.amount) from quota_holds h
      where h.tenant_id = tenant and h.quota = n.name and h.expires <= moment), 0)::bigint,
    coalesce(q.period, 'none'), coalesce(q.pooled, false), greatest(s.start, c.period_start),
    coalesce(c.resets, 0) + case when s.start > c.period_start then 1 else 0 end,
    c.quota is not null
  from unnest(names) n (name)
  join tenants t on t.tenant_id = tenant
  left join quotas q on q.tenant_id = tenant and q.quota = n.name
  left join quota_counters c on c.tenant_id = tenant and c.quota = n.name
  cross join lateral (
    select case when coalesce(q.period, 'none') = 'none' then '-infinity' else date_trunc(q.period, moment) end as start) s;
end $$;
