-- Returns the names of the quotas that tenants above this one share with it. It runs as the owner of the tables, because the
-- service's role cannot see those tenants; it reveals no numbers, and answers only for the tenant of the
-- transaction.
create or replace function pooled_quotas_above(tenant text) returns setof text
  language sql stable security definer set search_path = banyan, pg_temp as $$
  select distinct q.quota from tenants target
  join quotas q on q.tenant_id = any (target.path) and q.tenant_id <> tenant and q.pooled
  where target.tenant_id = tenant and tenant = current_setting('banyan.tenant', true)
$$;
revoke execute on function pooled_quotas_above from public;
