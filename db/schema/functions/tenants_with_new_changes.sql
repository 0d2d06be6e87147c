-- Returns those of the given tenants whose ledger has changes beyond the given position. It runs as the owner of the
-- tables, because the service sees one tenant at a time, and returns nothing but codes.
create or replace function tenants_with_new_changes(tenants text[], positions bigint[]) returns setof text
  language sql stable security definer set search_path = banyan, pg_temp as $$
  select f.tenant_id from unnest(tenants, positions) f (tenant_id, seq)
  where exists (select from unsealed_changes u where u.tenant_id = f.tenant_id)
    or exists (select from seal_heads h where h.tenant_id = f.tenant_id and h.seq > f.seq)
$$;
revoke execute on function tenants_with_new_changes from public;
