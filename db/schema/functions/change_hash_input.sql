-- Returns the text of a change that its seal hashes. A column added to `changes` later must not be added here: the seals of
-- earlier changes would no longer match.
create or replace function change_hash_input(tenant_id text, change_id bigint, batch bigint, change_time timestamptz,
    actor_name text, actor_user_id bigint, actor_key_id bigint, actor_tenant_id text, address text, request_id text,
    resource text, resource_id bigint, action text, parent_id bigint, is_copy boolean, before jsonb, after jsonb, before_hash bytea,
    after_hash bytea) returns text
  language sql immutable as $$
  select json_build_array(tenant_id, change_id, batch, extract(epoch from change_time)::text, actor_name, actor_user_id,
    actor_key_id, actor_tenant_id, address, request_id, resource, resource_id, action, parent_id, is_copy, before::text,
    after::text, encode(before_hash, 'hex'), encode(after_hash, 'hex'))::text
$$;
