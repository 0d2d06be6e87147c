-- Records that counters have reached a percentage of their total, once for each total and period. The transaction has locked the
-- counters. Those of pools belong to other tenants, so the function assumes each of them in turn, and finally its own again.
create or replace function record_quota_notices(tenant text, quota_notices json) returns void
  language plpgsql set search_path = banyan, pg_temp as $$
declare
  new_notice record;
begin
  for new_notice in select * from json_to_recordset(quota_notices)
    as c (tenant_id text, quota text, percent int, total bigint, used bigint, resets int)
  loop
    perform set_config('banyan.tenant', new_notice.tenant_id, true);
    insert into notices (tenant_id, quota, percent, total, used, resets)
      values (new_notice.tenant_id, new_notice.quota, new_notice.percent, new_notice.total, new_notice.used, new_notice.resets)
      on conflict (tenant_id, quota, resets, total, percent) where quota is not null do nothing;
  end loop;
  perform set_config('banyan.tenant', tenant, true);
end $$;
