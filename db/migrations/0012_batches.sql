-- A connection keeps the plan of a trigger's statement, and with it what it believed of the transition tables when it
-- first met them: one row, mostly. With nested loops a thousand departments written at once would then take minutes. So:
-- no nested loops, and nothing joined but what was with what became.
alter function note_new_departments() set enable_nestloop = off;

create or replace function note_changed_departments() returns trigger
  language plpgsql set search_path = banyan, pg_temp set enable_nestloop = off as $$
declare
  origin jsonb := change_origin();
  batch bigint := change_batch();
  moment timestamptz := change_moment();
begin
  with noted as (
    insert into changes (tenant_id, change_id, batch, time, by_name, by_user, by_tenant, address, request_id,
      resource, resource_id, action, parent_id, before, after)
    select b.tenant_id, b.change_id, batch, moment, b.update_by, (origin ->> 'userId')::bigint, origin ->> 'tenantId',
      origin ->> 'address', origin ->> 'requestId', 'department', b.dept_id, k.action,
      case when k.action in ('moved', 'restored') then coalesce(b.parent_id, 0) end,
      case when w.del_flag = '0' then
        department_shown((w.tenant_id, w.dept_id, w.parent_id, w.dept_name, w.order_num, w.leader, w.phone, w.email,
          w.status, w.del_flag, w.create_by, w.create_time, w.update_by, w.update_time)::departments, wp.path) end,
      case when b.del_flag = '0' then
        department_shown((b.tenant_id, b.dept_id, b.parent_id, b.dept_name, b.order_num, b.leader, b.phone, b.email,
          b.status, b.del_flag, b.create_by, b.create_time, b.update_by, b.update_time)::departments, bp.path) end
    from (
      select s.*, nextval('change_serial') as change_id from (select * from became order by dept_id) s
    ) b
    join was w on w.tenant_id = b.tenant_id and w.dept_id = b.dept_id
    cross join lateral (select department_path(b.tenant_id, b.parent_id) as path offset 0) bp
    cross join lateral (select case when w.parent_id is not distinct from b.parent_id then bp.path
      else department_path(w.tenant_id, w.parent_id) end as path offset 0) wp
    cross join lateral (select case
        when w.del_flag = '0' and b.del_flag <> '0' then 'deleted'
        when w.del_flag <> '0' and b.del_flag = '0' then 'restored'
        when w.parent_id is distinct from b.parent_id then 'moved'
        else 'updated' end as action) k
    where w.del_flag = '0' or b.del_flag = '0'
    returning tenant_id, change_id
  )
  insert into unsealed select tenant_id, change_id from noted;
  return null;
end $$;
