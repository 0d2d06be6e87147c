-- Records the updates of departments, with one statement for all of them. A connection caches the plan of that statement,
-- which was made for as many rows as its first update had, usually one. Nested loops are off so that an update of ten
-- thousand rows is still joined in one pass.
create or replace function record_department_updates() returns trigger
  language plpgsql set search_path = banyan, pg_temp set timezone = 'UTC' set enable_nestloop = off set jit = off as $$
declare
  origin jsonb := request_origin();
  batch bigint;
  change_time timestamptz;
begin
  -- An update that matched no row is not a write. The batch gets its time from the first write that follows, which then holds its
  -- locks.
  if not exists (select from new_rows) then return null; end if;
  batch := batch_id();
  change_time := batch_time();
  with recorded as (
    insert into changes (tenant_id, change_id, batch, time, actor_name, actor_user_id, actor_key_id, actor_tenant_id, address,
      request_id, resource, resource_id, action, parent_id, before, after)
    select n.tenant_id, n.change_id, batch, change_time, n.update_by, (origin ->> 'userId')::bigint,
      (origin ->> 'keyId')::bigint, origin ->> 'tenantId', origin ->> 'address', origin ->> 'requestId', 'department', n.dept_id, a.action,
      case when a.action in ('moved', 'restored') then coalesce(n.parent_id, 0) end,
      case when o.del_flag = '0' then o.record end, case when n.del_flag = '0' then n.record end
    from (
      select s.*, nextval('change_serial') as change_id
      from (
        select d.tenant_id, d.dept_id, d.parent_id, d.del_flag, d.update_by, to_jsonb(d) as record
        from new_rows d order by d.dept_id
      ) s
    ) n
    -- Join by dept_id only: with tenant_id too, the planner would expect few rows and join them by a nested loop.
    join (select d.dept_id, d.parent_id, d.del_flag, to_jsonb(d) as record from old_rows d) o on o.dept_id = n.dept_id
    cross join lateral (select case
        when o.del_flag = '0' and n.del_flag <> '0' then 'deleted'
        when o.del_flag <> '0' and n.del_flag = '0' then 'restored'
        when o.parent_id is distinct from n.parent_id then 'moved'
        else 'updated' end as action) a
    where o.del_flag = '0' or n.del_flag = '0'
    returning tenant_id, change_id
  ), unordered as (
    insert into unordered_changes select tenant_id, change_id, false from recorded
  )
  insert into unsealed_changes select tenant_id, change_id from recorded;
  return null;
end $$;
