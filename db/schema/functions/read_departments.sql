-- Reads departments for several callers of one tenant in one round trip: the callers, the tree version, and the departments
-- as arrays in the order of FoundRow (server/departments/queries.ts). It is `stable`, so all of it sees one snapshot. It sets
-- the tenant itself and runs with the caller's rights, so row-level security applies. The service adds `ancestors`, which
-- it may have cached.
create or replace function read_departments(tenant text, user_ids bigint[], session_ids uuid[], key_ids bigint[],
    secret_ids bigint[], dept_ids bigint[])
  returns table (callers json, tree_version uuid, departments json)
  language plpgsql stable as $$
begin
  perform set_config('banyan.tenant', tenant, true);
  -- The subselect hides the length of the array, and `limit 1` forces lookups by primary key, as in read_callers.
  return query select
    (select json_agg(c order by c.n) from read_callers(tenant, user_ids, session_ids, key_ids, secret_ids) c),
    (select t.tree_version from tenants t where t.tenant_id = tenant),
    (select json_agg(json_build_array(
        d.dept_id, coalesce(d.parent_id, 0),
        coalesce((select p.parent_id from departments p where p.tenant_id = tenant and p.dept_id = d.parent_id), 0),
        d.dept_name, d.order_num, coalesce(d.leader, l.name), l.user_id, d.phone, d.email, d.status, d.source, d.external_id,
        d.del_flag,
        d.create_by, to_char(d.create_time, 'YYYY-MM-DD HH24:MI:SS'),
        d.update_by, to_char(d.update_time, 'YYYY-MM-DD HH24:MI:SS')
      ))
      from departments d
      left join lateral (
        select u.user_id, coalesce(nullif(u.nick_name, ''), u.user_name) as name from users u
        where d.leader_id is not null and u.tenant_id = tenant and u.user_id = d.leader_id and u.del_flag = '0' limit 1
      ) l on true
      where d.tenant_id = tenant and d.dept_id = any((select dept_ids)::bigint[]));
end $$;
