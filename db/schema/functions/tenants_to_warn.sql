-- Returns the codes of tenants whose service ends soon and that have not been warned. The service sees one tenant at a time, so
-- this function runs as the owner of the tables and returns nothing but codes.
create or replace function tenants_to_warn(today date, max_rows int) returns setof text
  language sql stable security definer set search_path = banyan, pg_temp as $$
  select t.tenant_id from tenants t
  where t.del_flag = '0' and t.end_date between today and today + 30
    and not exists (select from notices n where n.tenant_id = t.tenant_id and n.end_date = t.end_date
      and n.days = days_of_notice(t.end_date - today))
  order by t.end_date, t.id limit max_rows
$$;
revoke execute on function tenants_to_warn from public;
