-- Returns 'in service', 'disabled', 'not started', 'ended', 'deleted' or 'unknown'. A tenant is out of service when it or
-- any of its ancestors is. The service's role cannot see ancestors, so this function runs as the owner of the tables,
-- whose policy allows it to read all tenants; it reveals nothing but this one word.
create or replace function tenant_state(code text) returns text
  -- pg_temp comes last, or a caller could shadow the tables with temporary ones.
  language sql stable security definer set search_path = banyan, pg_temp as $$
  select coalesce(
    (select case
        when t.del_flag <> '0' then 'deleted'
        when t.status <> '0' then 'disabled'
        when t.start_date > current_date then 'not started'
        when t.end_date < current_date then 'ended'
      end
      from tenants target
      join tenants t on t.tenant_id = any (target.path)
      where target.tenant_id = code
        and (t.del_flag <> '0' or t.status <> '0' or t.start_date > current_date or t.end_date < current_date)
      order by cardinality(t.path) desc
      limit 1),
    (select 'in service' from tenants target where target.tenant_id = code),
    'unknown')
$$;
revoke execute on function tenant_state from public;
