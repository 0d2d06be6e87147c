-- Records when and from where API keys were used, for keys of several tenants. A use less than a minute after the last one is
-- not recorded, whichever node serves it. It sets each tenant itself and runs with the caller's rights, so row-level security applies.
create or replace function record_key_uses(tenants text[], keys bigint[], addresses text[]) returns void
  language plpgsql as $$
declare
  used record;
begin
  -- All nodes take the row locks in the same order.
  for used in
    select u.tenant_id, u.key_id, u.address from unnest(tenants, keys, addresses) u (tenant_id, key_id, address)
    order by u.tenant_id, u.key_id
  loop
    perform set_config('banyan.tenant', used.tenant_id, true);
    insert into api_key_uses as u (tenant_id, key_id, time, address)
    values (used.tenant_id, used.key_id, clock_timestamp(), used.address)
    on conflict (tenant_id, key_id) do update set time = excluded.time, address = excluded.address
      where u.time <= excluded.time - interval '1 minute';
  end loop;
end $$;
