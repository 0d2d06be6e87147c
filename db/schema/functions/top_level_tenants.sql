-- Returns the top-level tenant of each of the given tenants: its ancestor directly below 000000, or the tenant itself. It
-- runs as the owner of the tables, because the service cannot see ancestors; the service never shows its result to callers.
create or replace function top_level_tenants(codes text[]) returns table (tenant_id text, top_level text)
  language sql stable security definer set search_path = banyan, pg_temp as $$
  select t.tenant_id, coalesce(t.path[2], t.path[1]) from unnest(codes) code
  cross join lateral (select * from tenants t where t.tenant_id = code limit 1) t
$$;
revoke execute on function top_level_tenants from public;
