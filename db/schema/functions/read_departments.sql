-- Reads departments for several callers of one tenant in one round trip: the callers, the tree version, and the departments
-- as arrays in the order of FoundRow (server/departments/queries.ts). It is `stable`, so all of it sees one snapshot. It sets
-- the tenant itself and runs with the caller's rights, so row-level security applies. The service adds `ancestors`, whose
-- paths it may have cached. The callers have the columns of readCallers (server/auth/queries.ts): change both.
create or replace function read_departments(tenant text, user_ids bigint[], session_ids uuid[], key_ids bigint[],
    secret_ids bigint[], dept_ids bigint[])
  returns table (callers json, tree_version uuid, departments json)
  language plpgsql stable as $$
begin
  perform set_config('banyan.tenant', tenant, true);
  -- The subselects hide the length of the arrays: the planner would otherwise replan every call for a few elements, which
  -- takes four times as long as executing it. `limit 1` forces lookups by primary key, whatever the statistics say.
  return query select
    (select json_agg(json_build_object(
        'userName', u.user_name, 'administrator', u.administrator, 'status', u.status, 'delFlag', u.del_flag,
        'mustChangePassword', u.must_change_password, 'tenantState', state, 'sessionExists', s.session_id is not null,
        'key', k.key
      ) order by a.n)
      from tenant_state(tenant) state
      cross join unnest((select user_ids), (select session_ids), (select key_ids), (select secret_ids))
        with ordinality a (user_id, session_id, key_id, secret_id, n)
      left join lateral (
        select * from users u where u.tenant_id = tenant and u.user_id = a.user_id limit 1
      ) u on true
      left join lateral (
        select s.session_id from sessions s
        where s.tenant_id = tenant and s.session_id = a.session_id and s.user_id = u.user_id and s.expires > now() limit 1
      ) s on true
      left join lateral (
        select json_build_object('keyName', k.key_name, 'status', k.status, 'permissions', k.permissions, 'below', k.below,
          'addresses', k.addresses, 'requestsPerMinute', k.requests_per_minute,
          'secondsLeft', extract(epoch from least(k.expires, s.expires) - now())) as key
        from api_key_secrets s join api_keys k on k.tenant_id = tenant and k.key_id = s.key_id
        where s.tenant_id = tenant and s.key_id = a.key_id and s.secret_id = a.secret_id
          and (s.expires is null or s.expires > now()) and k.del_flag = '0' limit 1
      ) k on true),
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
