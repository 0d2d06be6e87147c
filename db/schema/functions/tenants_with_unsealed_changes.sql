-- Returns the codes of tenants that have changes to seal. The service sees one tenant at a time, so this function runs as
-- the owner of the tables and returns nothing but codes.
-- They come in the order of their codes, beginning after `after`: each tenant costs one index lookup, however many changes wait.
create or replace function tenants_with_unsealed_changes(after text, max_rows int) returns setof text
  language sql volatile security definer set search_path = banyan, pg_temp as $$
  with recursive waiting (code) as (
    select min(tenant_id) from unsealed_changes where tenant_id > after
    union all
    select (select min(u.tenant_id) from unsealed_changes u where u.tenant_id > w.code) from waiting w
    where w.code is not null
  )
  select code from waiting where code is not null limit max_rows
$$;
revoke execute on function tenants_with_unsealed_changes from public;
