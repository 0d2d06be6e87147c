-- Seals committed changes, oldest first, at most `max_rows`, and returns the tenant's last position. A change that depends
-- on another has the greater id and cannot be visible without it, so ordering visible changes by id never puts an effect
-- before its cause. Index scans are forced and changes are looked up as ranges in key order: usually there is almost
-- nothing to seal, and a connection would cache the plan made for that.
create or replace function seal_changes(tenant text, max_rows int) returns bigint
  language plpgsql volatile set search_path = banyan, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  head seal_heads;
  change changes;
  sealed bigint[] := '{}';
begin
  if not exists (select from unsealed_changes u where u.tenant_id = tenant) then
    return (select h.seq from seal_heads h where h.tenant_id = tenant);
  end if;
  insert into seal_heads values (tenant, 0, '') on conflict do nothing;
  select * into head from seal_heads h where h.tenant_id = tenant for update;
  for change in
    select c.* from (
      select u.change_id from unsealed_changes u where u.tenant_id = tenant order by u.change_id limit max_rows
    ) waiting cross join lateral (
      select * from changes c
      where c.tenant_id = tenant and c.change_id >= waiting.change_id and c.change_id <= waiting.change_id
      order by c.change_id limit 1
    ) c
    order by waiting.change_id
  loop
    head.seq := head.seq + 1;
    head.hash := sha256(head.hash || convert_to(change_hash_input(change.tenant_id, change.change_id, change.batch,
      change.time, change.actor_name, change.actor_user_id, change.actor_key_id, change.actor_tenant_id,
      change.address, change.request_id, change.resource, change.resource_id, change.action, change.parent_id, change.is_copy, change.before,
      change.after, change.before_hash, change.after_hash), 'UTF8'));
    insert into seals values (tenant, head.seq, change.change_id, head.hash);
    sealed := sealed || change.change_id;
  end loop;
  -- Delete only the sealed ones: another change may have become visible in between.
  delete from unsealed_changes u where u.tenant_id = tenant and u.change_id = any (sealed);
  update seal_heads h set seq = head.seq, hash = head.hash where h.tenant_id = tenant;
  return head.seq;
end $$;
