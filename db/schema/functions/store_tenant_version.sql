-- Stores a version of a tenant's record, unless it is stored already, and returns its hash.
create or replace function store_tenant_version(code text, record jsonb) returns bytea
  language plpgsql set search_path = banyan, pg_temp as $$
declare
  tenant text := current_setting('banyan.tenant', true);
  hash bytea := sha256(convert_to(record::text, 'UTF8'));
begin
  perform set_config('banyan.tenant', code, true);
  insert into tenant_versions values (code, hash, record) on conflict do nothing;
  perform set_config('banyan.tenant', coalesce(tenant, ''), true);
  return hash;
end $$;
