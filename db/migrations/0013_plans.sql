-- The same as in 0012, planned once. With the number of its arrays in sight, PostgreSQL found the plan for any number too
-- dear for a few departments, and made a new one for each call, which took four times as long as to carry it out. A
-- sub-select hides the number; limit 1 leaves no choice but the primary keys, however small the tables were at that time.
create or replace function read_departments(tenant text, user_ids bigint[], session_ids uuid[], dept_ids bigint[])
  returns table (callers json, stamp uuid, departments json)
  language plpgsql stable as $$
begin
  perform set_config('banyan.tenant', tenant, true);
  return query select
    (select json_agg(json_build_object(
        'userName', u.user_name, 'administrator', u.administrator, 'status', u.status, 'delFlag', u.del_flag,
        'tenantStanding', standing, 'sessionLives', s.session_id is not null
      ) order by a.n)
      from tenant_standing(tenant) standing
      cross join unnest((select user_ids), (select session_ids)) with ordinality a (user_id, session_id, n)
      left join lateral (
        select * from users u where u.tenant_id = tenant and u.user_id = a.user_id limit 1
      ) u on true
      left join lateral (
        select s.session_id from sessions s
        where s.tenant_id = tenant and s.session_id = a.session_id and s.user_id = u.user_id and s.expires > now() limit 1
      ) s on true),
    (select t.tree_stamp from tenants t where t.tenant_id = tenant),
    (select json_agg(json_build_array(
        d.dept_id, coalesce(d.parent_id, 0),
        coalesce((select p.parent_id from departments p where p.tenant_id = tenant and p.dept_id = d.parent_id), 0),
        d.dept_name, d.order_num, d.leader, d.phone, d.email, d.status, d.del_flag,
        d.create_by, to_char(d.create_time, 'YYYY-MM-DD HH24:MI:SS'),
        d.update_by, to_char(d.update_time, 'YYYY-MM-DD HH24:MI:SS')
      ))
      from departments d where d.tenant_id = tenant and d.dept_id = any((select dept_ids)::bigint[]));
end $$;
