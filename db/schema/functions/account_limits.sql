-- Returns the quota `accounts` of a tenant and the pools of that quota above it, with the number of users that each counts.
-- It takes no locks, for previews in read-only transactions. Pools belong to other tenants, so the function assumes each of them in
-- turn, and finally its own tenant again.
create or replace function account_limits(tenant text)
  returns table (tenant_id text, quota text, total bigint, used bigint, reserved bigint)
  language plpgsql set search_path = banyan, pg_temp as $$
#variable_conflict use_column
begin
  for tenant_id, quota in select c.tenant_id, c.quota from counters_to_lock(tenant, array['accounts'], null) c loop
    perform set_config('banyan.tenant', tenant_id, true);
    select s.total, s.used, s.reserved into total, used, reserved from quota_state(tenant_id, array[quota], now()) s;
    return next;
  end loop;
  perform set_config('banyan.tenant', tenant, true);
end $$;
