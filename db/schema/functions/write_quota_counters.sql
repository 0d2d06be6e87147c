-- Writes counters that the transaction has locked, with the reservations that begin or end. Those of pools belong to other
-- tenants, so the function assumes each of them in turn, and finally its own tenant again.
create or replace function write_quota_counters(tenant text, counters json) returns void
  language plpgsql set search_path = banyan, pg_temp as $$
declare
  counter record;
begin
  for counter in select * from json_to_recordset(counters)
    as c (tenant_id text, quota text, used bigint, reserved bigint, holds json, ended bigint[])
  loop
    perform set_config('banyan.tenant', counter.tenant_id, true);
    update quota_counters c set used = counter.used, reserved = counter.reserved
      where c.tenant_id = counter.tenant_id and c.quota = counter.quota;
    if counter.holds is not null then
      insert into quota_holds (tenant_id, quota, reservation_id, amount, expires)
        select counter.tenant_id, counter.quota, h.reservation_id, h.amount, h.expires
        from json_to_recordset(counter.holds) as h (reservation_id bigint, amount bigint, expires timestamptz);
    end if;
    if counter.ended is not null then
      delete from quota_holds h where h.tenant_id = counter.tenant_id and h.quota = counter.quota
        and h.reservation_id = any (counter.ended);
    end if;
  end loop;
  perform set_config('banyan.tenant', tenant, true);
end $$;
