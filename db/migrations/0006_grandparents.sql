-- The same as in 0004, and with each department `above`: the parent of its parent, 0 for none. With it the path of a
-- department follows from that of its grandparent, and a reader who keeps the paths of inner departments need not know
-- those of all parents, which are ten times as many (server/departments/paths.ts).
create or replace function read_departments(tenant text, user_ids bigint[], session_ids uuid[], dept_ids bigint[])
  returns table (callers json, stamp uuid, departments json)
  language plpgsql stable as $$
begin
  perform set_config('banyan.tenant', tenant, true);
  return query select
    (select json_agg(json_build_object(
        'userName', u.user_name, 'administrator', u.administrator, 'status', u.status, 'delFlag', u.del_flag,
        'tenantStanding', standing,
        'sessionLives', exists (
          select from sessions s
          where s.tenant_id = tenant and s.session_id = a.session_id and s.user_id = u.user_id and s.expires > now())
      ) order by a.n)
      from tenant_standing(tenant) standing
      cross join unnest(user_ids, session_ids) with ordinality a (user_id, session_id, n)
      left join users u on u.tenant_id = tenant and u.user_id = a.user_id),
    (select t.tree_stamp from tenants t where t.tenant_id = tenant),
    (select json_agg(shown) from (
      select d.dept_id as "deptId", coalesce(d.parent_id, 0) as "parentId", '' as ancestors,
        d.dept_name as "deptName", d.order_num as "orderNum", d.leader, d.phone, d.email, d.status,
        d.del_flag as "delFlag", d.tenant_id as "tenantId",
        d.create_by as "createBy", to_char(d.create_time, 'YYYY-MM-DD HH24:MI:SS') as "createTime",
        d.update_by as "updateBy", to_char(d.update_time, 'YYYY-MM-DD HH24:MI:SS') as "updateTime",
        coalesce((select p.parent_id from departments p where p.tenant_id = tenant and p.dept_id = d.parent_id), 0) as above
      from departments d where d.tenant_id = tenant and d.dept_id = any(dept_ids)
    ) shown);
end $$;
