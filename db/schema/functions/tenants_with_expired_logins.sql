-- Returns the codes of tenants that have expired counters of failed logins or expired sessions. The service sees one tenant
-- at a time, so this function runs as the owner of the tables and returns nothing but codes.
create or replace function tenants_with_expired_logins(max_rows int) returns setof text
  language sql volatile security definer set search_path = banyan, pg_temp as $$
  select distinct tenant_id from (
    (select tenant_id from login_failures
      where greatest(last_failure, trusted_until) < now() - interval '1 day' and pending_until < now()
      order by greatest(last_failure, trusted_until) limit 10000)
    union all
    (select tenant_id from sessions where expires < now() - interval '1 day' order by expires limit 10000)
  ) expired limit max_rows
$$;
revoke execute on function tenants_with_expired_logins from public;
