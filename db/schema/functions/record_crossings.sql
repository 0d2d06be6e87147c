-- Records that counters have reached a percentage of their total, once for each total and period. The transaction has locked the
-- counters. Those of pools belong to other tenants, so the function assumes each of them in turn, and finally its own again.
create or replace function record_crossings(tenant text, crossings json) returns void
  language plpgsql set search_path = banyan, pg_temp as $$
declare
  crossing record;
begin
  for crossing in select * from json_to_recordset(crossings)
    as c (tenant_id text, quota text, percent int, total bigint, used bigint, resets int)
  loop
    perform set_config('banyan.tenant', crossing.tenant_id, true);
    insert into notices (tenant_id, quota, percent, total, used, resets)
      values (crossing.tenant_id, crossing.quota, crossing.percent, crossing.total, crossing.used, crossing.resets)
      on conflict (tenant_id, quota, resets, total, percent) where quota is not null do nothing;
  end loop;
  perform set_config('banyan.tenant', tenant, true);
end $$;
