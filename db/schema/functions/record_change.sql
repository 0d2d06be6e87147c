-- Writes one change to the ledger of the tenant `ledger`, whichever tenant the transaction has set. A tenant's change has
-- hashes instead of records. `in_order` says whether readers of a whole subtree get the change; by default they get it
-- unless it is a copy, a login or a change of a webhook or an API key. Like record_user_change(), it keeps its plans.
create or replace function record_change(ledger text, actor text, resource text, resource_id bigint, action text,
    old_record jsonb, new_record jsonb, is_copy boolean default false, before_hash bytea default null,
    after_hash bytea default null, in_order boolean default null) returns void
  language plpgsql set search_path = banyan, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  origin jsonb := request_origin();
  tenant text := current_setting('banyan.tenant', true);
begin
  perform set_config('banyan.tenant', ledger, true);
  with recorded as (
    insert into changes (tenant_id, change_id, batch, time, actor_name, actor_user_id, actor_key_id, actor_tenant_id, address,
      request_id, resource, resource_id, action, is_copy, before, after, before_hash, after_hash)
    values (ledger, nextval('change_serial'), batch_id(), batch_time(), actor,
      (origin ->> 'userId')::bigint, (origin ->> 'keyId')::bigint, origin ->> 'tenantId', origin ->> 'address',
      origin ->> 'requestId', resource, resource_id, action, is_copy, old_record, new_record, before_hash, after_hash)
    returning change_id
  ), unordered as (
    insert into unordered_changes select ledger, r.change_id, record_change.is_copy from recorded r
    where coalesce(in_order, not record_change.is_copy and record_change.resource not in ('login', 'webhook', 'key'))
  )
  insert into unsealed_changes select ledger, change_id from recorded;
  perform set_config('banyan.tenant', coalesce(tenant, ''), true);
end $$;
