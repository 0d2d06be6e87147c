-- Sums the uses that the counter of a tenant has counted, including those of the tenants below its pool, by day or month
-- (`format`), quota and tenant. Refunded uses are left out. Row-level security shows the uses of one tenant only, so this
-- function runs as the owner of the tables, and answers only for the tenant of the transaction.
create or replace function usage_by_tenant(pool text, name text, since timestamptz, before timestamptz, format text)
  returns table (date text, quota text, amount float8, uses bigint, tenant_id text)
  language sql stable security definer set search_path = banyan, pg_temp as $$
  select to_char(u.time, format), u.quota, sum(u.amount)::float8, count(*), d.tenant_id
  from tenants d
  cross join lateral (
    select a.time, a.quota, a.amount, a.counted from quota_uses a where a.tenant_id = d.tenant_id
      and a.refund_time is null and a.time >= coalesce(since, '-infinity') and a.time < coalesce(before, 'infinity')
    union all
    select a.time, a.quota, a.amount, a.counted from quota_uses_archive a where a.tenant_id = d.tenant_id
      and a.refund_time is null and a.time >= coalesce(since, '-infinity') and a.time < coalesce(before, 'infinity')
  ) u
  where d.path @> array[pool] and pool = current_setting('banyan.tenant', true) and u.counted ? pool and (name is null or u.quota = name)
  group by 1, 2, 5
$$;
revoke execute on function usage_by_tenant from public;
