-- Returns the codes of tenants that have changes to seal. The service sees one tenant at a time, so this function runs as
-- the owner of the tables and returns nothing but codes.
create or replace function tenants_with_unsealed_changes(max_rows int) returns setof text
  language sql volatile security definer set search_path = banyan, pg_temp as $$
  select distinct tenant_id from (select tenant_id from unsealed_changes limit 10000) waiting limit max_rows
$$;
revoke execute on function tenants_with_unsealed_changes from public;
