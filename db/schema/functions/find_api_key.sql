-- Finds an API key by the hash of its secret, before the tenant is known. It runs as the owner of the tables, because the
-- service sees one tenant at a time, and reveals nothing to a caller who does not have the key. It does not check whether the
-- key may be used: every request does, in the key's tenant.
create or replace function find_api_key(key_hash bytea)
  returns table (tenant_id text, key_id bigint, secret_id bigint, hash bytea, requests_per_minute int)
  language sql stable security definer set search_path = banyan, pg_temp as $$
  select s.tenant_id, s.key_id, s.secret_id, s.hash, k.requests_per_minute
  from api_key_secrets s
  join api_keys k on k.tenant_id = s.tenant_id and k.key_id = s.key_id
  where s.hash = key_hash
$$;
revoke execute on function find_api_key from public;
