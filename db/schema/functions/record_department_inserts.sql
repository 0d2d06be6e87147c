-- Records the creation of departments, with one statement for all of them.
create or replace function record_department_inserts() returns trigger
  language plpgsql set search_path = banyan, pg_temp set timezone = 'UTC' set jit = off as $$
declare
  origin jsonb := request_origin();
  -- Whether several callers share the statement. Then each department is a batch of its own.
  is_shared boolean := jsonb_typeof(origin) = 'array';
  batch bigint;
  change_time timestamptz;
begin
  if not exists (select from new_rows) then return null; end if;
  batch := case when is_shared then 0 else batch_id() end;
  change_time := batch_time();
  with recorded as (
    insert into changes (tenant_id, change_id, batch, time, actor_name, actor_user_id, actor_key_id, actor_tenant_id, address,
      request_id, resource, resource_id, action, parent_id, after)
    select r.tenant_id, r.change_id, case when is_shared then r.change_id else batch end, change_time, r.create_by,
      (o.origin ->> 'userId')::bigint, (o.origin ->> 'keyId')::bigint, o.origin ->> 'tenantId', o.origin ->> 'address',
      o.origin ->> 'requestId', 'department', r.dept_id, 'created', coalesce(r.parent_id, 0), r.after
    from (
      select s.*, nextval('change_serial') as change_id, row_number() over () as n
      from (
        select d.tenant_id, d.dept_id, d.parent_id, d.create_by, to_jsonb(d) as after from new_rows d order by d.dept_id
      ) s
    ) r
    cross join lateral (select case when is_shared then origin -> (r.n::int - 1) else origin end as origin) o
    returning tenant_id, change_id
  ), unordered as (
    insert into unordered_changes select tenant_id, change_id, false from recorded
  )
  insert into unsealed_changes select tenant_id, change_id from recorded;
  return null;
end $$;
