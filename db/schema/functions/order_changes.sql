-- Assigns committed changes of all tenants their positions, at most `max_rows`, and returns how many. Writers do not wait for it.
-- A later call waits for the lock until the earlier one has committed, so positions become visible in their order. The statement
-- after the lock sees all changes that are committed by then, in one snapshot. A change that depends on another, even one of
-- another tenant, has the greater id and cannot be visible without it. So the order by id never puts an effect before its cause.
-- It runs as the owner of the tables, because the service sees one tenant at a time.
create or replace function order_changes(max_rows int) returns int
  language plpgsql volatile security definer set search_path = banyan, pg_temp set enable_seqscan = off set jit = off as $$
declare
  last bigint;
  ordered int;
begin
  if not exists (select from unordered_changes) then return 0; end if;
  select o.position into last from change_order o for update;
  perform set_config('banyan.ordering', 'on', true);
  with waiting as materialized (
    select u.tenant_id, u.change_id from unordered_changes u order by u.change_id limit max_rows
  ), removed as (
    delete from unordered_changes u using waiting w where u.tenant_id = w.tenant_id and u.change_id = w.change_id
    returning u.tenant_id, u.change_id, u.is_copy
  )
  insert into change_positions (tenant_id, position, change_id, is_copy)
  select r.tenant_id, last + row_number() over (order by r.change_id), r.change_id, r.is_copy from removed r;
  get diagnostics ordered = row_count;
  perform set_config('banyan.ordering', '', true);
  update change_order o set position = last + ordered;
  return ordered;
end $$;
revoke execute on function order_changes from public;
