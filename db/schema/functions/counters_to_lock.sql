-- Returns the counters that uses of these quotas by a tenant count against: its own and those of the pools above it, or, for
-- a reservation or a use that exists already, the given pools. A quota that the tenant does not have is left out. All
-- transactions lock counters in the order of this function. Tenants are ordered by their internal ids, because those never
-- change: a parent is created before its children, so this is from the top of the tree down, except for tenants that were
-- moved. It runs as the owner of the tables, because the service's role cannot see the tenants above, and
-- answers only for the tenant of the transaction.
create or replace function counters_to_lock(tenant text, names text[], recorded_pools text[])
  returns table (tenant_id text, quota text)
  language plpgsql stable security definer set search_path = banyan, pg_temp as $$
#variable_conflict use_column
begin
  return query
  with pools as (
    select q.tenant_id, q.quota from tenants target
    join quotas q on q.tenant_id = any (target.path) and q.quota = any (names)
    where target.tenant_id = tenant and q.tenant_id <> tenant and q.pooled and recorded_pools is null
    union all
    select p.code, n.quota from unnest(recorded_pools) p (code), unnest(names) n (quota)
  ), own as (
    select tenant as tenant_id, n.quota from unnest(names) n (quota)
    where n.quota = any (quota_bo_names()) or recorded_pools is not null
      or exists (select from quotas q where q.tenant_id = tenant and q.quota = n.quota)
      or exists (select from pools p where p.quota = n.quota)
  )
  select c.tenant_id, c.quota from (select * from pools union all select * from own) c
  join tenants t on t.tenant_id = c.tenant_id
  where tenant = current_setting('banyan.tenant', true)
  order by t.id, c.quota;
end $$;
revoke execute on function counters_to_lock from public;
