-- Returns a keyed hash of a user name under which failed logins are counted: the name may be a password that was typed into
-- the wrong field. It runs as the owner of the tables, because the service must not read the key.
create or replace function login_name_hash(user_key text) returns text
  language sql stable security definer set search_path = banyan, pg_temp as $$
  select encode(sha256(secret || sha256(secret || convert_to(user_key, 'UTF8'))), 'hex') from login_name_key
$$;
revoke execute on function login_name_hash from public;
