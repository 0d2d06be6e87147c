-- Reads users and API keys of one tenant who call the service, numbered in the order of the arrays. For an unknown user, the
-- columns that come from the table users are null. The columns have the names of CallerRow (server/auth/queries.ts). The function
-- has no settings and is not strict, so PostgreSQL inlines it into its callers. It runs with the caller's rights, so row-level
-- security applies.
create or replace function read_callers(tenant text, user_ids bigint[], session_ids uuid[], key_ids bigint[],
    secret_ids bigint[])
  returns table (n bigint, "userName" text, administrator boolean, status text, "delFlag" text,
    "mustChangePassword" boolean, "tenantState" text, "sessionExists" boolean, key json)
  language sql stable as $$
  -- The subselects hide the length of the arrays: the planner would otherwise replan every call for a few elements, which
  -- takes four times as long as executing it. `limit 1` forces lookups by primary key, whatever the statistics say.
  select a.n, u.user_name, u.administrator, u.status, u.del_flag, u.must_change_password, state, s.session_id is not null, k.key
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
  ) k on true
$$;
