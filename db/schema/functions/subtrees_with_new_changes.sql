-- Returns those of the given tenants that have changes beyond the given position, in their own ledger or in one below, and the
-- last position that was considered. It runs as the owner of the tables, because the service sees one tenant at a time, and
-- returns nothing but codes.
create or replace function subtrees_with_new_changes(subtrees text[], positions bigint[], out last bigint, out changed text[])
  language plpgsql stable security definer set search_path = banyan, pg_temp set enable_seqscan = off set jit = off as $$
begin
  select o.position into last from change_order o;
  with recursive writing (tenant_id) as (
    -- Steps from tenant to tenant in the index: one tenant may have very many changes without a position.
    (select u.tenant_id from unordered_changes u order by u.tenant_id limit 1)
    union all
    select (select u.tenant_id from unordered_changes u where u.tenant_id > w.tenant_id order by u.tenant_id limit 1)
    from writing w where w.tenant_id is not null
  ), latest (tenant_id, position) as (
    select w.tenant_id, last + 1 from writing w where w.tenant_id is not null
    union all
    select p.tenant_id, max(p.position) from change_positions p
    where p.position > (select min(f.position) from unnest(positions) f (position)) group by p.tenant_id
  ), grown (tenant_id, position) as (
    select b.code, max(l.position) from latest l join tenants t on t.tenant_id = l.tenant_id
    cross join lateral unnest(t.path) b (code) group by b.code
  )
  select coalesce(array_agg(f.tenant_id), '{}') into changed
  from unnest(subtrees, positions) f (tenant_id, position)
  join grown g on g.tenant_id = f.tenant_id and g.position > f.position;
end $$;
revoke execute on function subtrees_with_new_changes from public;
