-- Whether a transaction that reads the tenants below its own (setting banyan.below) may read the ledger of this tenant. The
-- answer depends on where the tenant is at present. It is called for each row, so its statement must not be planned each time,
-- whatever the transaction has set.
create or replace function is_readable_descendant(tenant text) returns boolean
  language plpgsql stable set search_path = banyan, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  return current_setting('banyan.below', true) = 'on' and exists (
    select from tenants t where t.tenant_id = tenant and t.path @> array[current_setting('banyan.tenant', true)]);
end $$;
