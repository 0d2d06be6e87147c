-- Locks the counters of a tenant and of the pools above it (counters_to_lock), then settles them: removes reservations that
-- have expired, and begins a new period. Returns their state. The time is read after the locks: while this transaction waited,
-- another one may have removed an expired reservation and used its amount. `held` says whether a counter still holds the
-- reservation. `at` replaces the clock in tests. Pools belong to other tenants, so the function assumes each of them in turn,
-- and finally its own tenant again.
create or replace function lock_quota_counters(tenant text, names text[], recorded_pools text[],
    reservation bigint, at timestamptz)
  returns table (tenant_id text, quota text, total bigint, used bigint, reserved bigint, period text, pooled boolean,
    resets int, held boolean, moment timestamptz)
  language plpgsql set search_path = banyan, pg_temp as $$
#variable_conflict use_column
declare
  tenants text[];
  quotas text[];
  state record;
begin
  select array_agg(c.tenant_id), array_agg(c.quota) into tenants, quotas
    from counters_to_lock(tenant, names, recorded_pools) c;
  for n in 1 .. coalesce(cardinality(tenants), 0) loop
    perform set_config('banyan.tenant', tenants[n], true);
    perform from quota_counters c where c.tenant_id = tenants[n] and c.quota = quotas[n] for update;
    if not found then
      insert into quota_counters (tenant_id, quota) values (tenants[n], quotas[n]) on conflict do nothing;
      perform from quota_counters c where c.tenant_id = tenants[n] and c.quota = quotas[n] for update;
    end if;
  end loop;
  moment := coalesce(at, clock_timestamp());
  for n in 1 .. coalesce(cardinality(tenants), 0) loop
    perform set_config('banyan.tenant', tenants[n], true);
    select * into state from quota_state(tenants[n], array[quotas[n]], moment);
    delete from quota_holds h where h.tenant_id = tenants[n] and h.quota = quotas[n] and h.expires <= moment;
    if quotas[n] <> 'accounts' then
      update quota_counters c set used = state.used, reserved = state.reserved, period_start = state.period_start,
        resets = state.resets
      where c.tenant_id = tenants[n] and c.quota = quotas[n]
        and (c.reserved, c.resets) <> (state.reserved, state.resets);
    end if;
    tenant_id := tenants[n];
    quota := quotas[n];
    total := state.total;
    used := state.used;
    reserved := state.reserved;
    period := state.period;
    pooled := state.pooled;
    resets := state.resets;
    held := exists (select from quota_holds h
      where h.tenant_id = tenants[n] and h.quota = quotas[n] and h.reservation_id = reservation);
    return next;
  end loop;
  perform set_config('banyan.tenant', tenant, true);
end $$;
