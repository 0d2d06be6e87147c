-- Takes up to `wanted` tokens from the bucket of an API key, or of a tenant if the key is 0. All nodes share the bucket. Refills
-- it first, by the database's clock: the clocks of the nodes may differ. Returns how many were granted and how many are left.
-- If `wanted` is negative, so is the number of granted tokens: these are put back.
create or replace function take_request_tokens(tenant text, key bigint, wanted int, per_second float8, capacity float8)
  returns table (granted int, remaining float8)
  language plpgsql as $$
declare
  available float8;
begin
  perform set_config('banyan.tenant', tenant, true);
  insert into request_buckets (tenant_id, key_id, tokens, refilled) values (tenant, key, capacity, clock_timestamp())
    on conflict (tenant_id, key_id) do nothing;
  -- Lock the row before reading the clock: concurrent calls would otherwise refill the same time twice.
  perform from request_buckets b where b.tenant_id = tenant and b.key_id = key for update;
  select least(capacity, b.tokens + per_second * greatest(0, extract(epoch from clock_timestamp() - b.refilled)))
    into available from request_buckets b where b.tenant_id = tenant and b.key_id = key;
  granted := least(wanted, floor(available));
  remaining := available - granted;
  update request_buckets b set tokens = remaining, refilled = greatest(b.refilled, clock_timestamp())
    where b.tenant_id = tenant and b.key_id = key;
  return next;
end $$;
