-- Whether a transaction that reads the tenants below its own (setting banyan.below) may read the ledger of this tenant. The
-- answer depends on where the tenant is at present.
create or replace function is_readable_below(tenant text) returns boolean
  language plpgsql stable set search_path = banyan, pg_temp as $$
begin
  return current_setting('banyan.below', true) = 'on' and exists (
    select from tenants t where t.tenant_id = tenant and t.path @> array[current_setting('banyan.tenant', true)]);
end $$;
