-- Sums the uses that the counter of a tenant has counted, including, for a pool, those of the tenants below it, by day or month
-- (`format`), quota and tenant. Refunded uses are left out. Row-level security shows the sums of one tenant only, so this
-- function runs as the owner of the tables, and answers only for the tenant of the transaction.
create or replace function usage_by_tenant(pool text, name text, first_day date, last_day date, format text)
  returns table (date text, quota text, amount float8, uses bigint, tenant_id text)
  language sql stable security definer set search_path = banyan, pg_temp as $$
  select to_char(s.day, format), c.quota, sum(s.amount)::float8, sum(s.uses)::bigint, d.tenant_id
  from tenants d
  join quota_counters c on c.tenant_id = d.tenant_id and (name is null or c.quota = name)
  cross join lateral (
    -- `offset 0`: look up the days of each counter, whatever the statistics say.
    select a.day, a.amount, a.uses from quota_sums a
    where a.tenant_id = c.tenant_id and a.quota = c.quota and a.day >= coalesce(first_day, '-infinity')
      and a.day <= coalesce(last_day, 'infinity') and pool = any (a.counted_by) and a.uses > 0
    offset 0
  ) s
  where d.path @> array[pool] and pool = current_setting('banyan.tenant', true)
  group by 1, 2, 5
$$;
revoke execute on function usage_by_tenant from public;
