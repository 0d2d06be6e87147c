-- Records a tenant's change in its own ledger and in the ledgers of its ancestors, whose subscribers follow their
-- descendants. The record is stored once, and all of these ledgers refer to it. A tenant that moves disappears from the
-- ledgers of ancestors that it leaves and appears in the ledgers of those that it joins. So do all tenants that move with
-- it, although their own rows keep their parent.
create or replace function record_tenant_change() returns trigger
  language plpgsql set search_path = banyan, pg_temp set timezone = 'UTC' as $$
declare
  ledger text;
  joins boolean;
  leaves boolean;
  actor text;
  old_record jsonb;
  new_record jsonb := to_jsonb(new) - 'tree_version' - 'path';
  old_hash bytea;
  new_hash bytea;
  action text := case
    when tg_op = 'INSERT' then 'created'
    when old.del_flag = '0' and new.del_flag <> '0' then 'deleted'
    when old.del_flag <> '0' and new.del_flag = '0' then 'restored'
    when old.parent_id is distinct from new.parent_id then 'moved'
    else 'updated' end;
begin
  if tg_op = 'INSERT' then
    new_hash := store_tenant_version(new.tenant_id, new_record);
    foreach ledger in array new.path loop
      perform record_change(ledger, new.create_by, 'tenant', new.id, action, null, null, ledger <> new.tenant_id,
        null, new_hash);
    end loop;
    return null;
  end if;
  old_record := to_jsonb(old) - 'tree_version' - 'path';
  -- A deleted tenant that moves along neither disappears from a ledger nor appears in one.
  if old.del_flag <> '0' and old_record = new_record then return null; end if;
  if action <> 'restored' then old_hash := store_tenant_version(old.tenant_id, old_record); end if;
  if action <> 'deleted' then new_hash := store_tenant_version(new.tenant_id, new_record); end if;
  actor := coalesce(nullif(current_setting('banyan.mover', true), ''), new.update_by);
  foreach ledger in array array(select p.code from unnest(old.path || new.path) with ordinality p (code, n)
      group by p.code order by min(p.n)) loop
    joins := not ledger = any (old.path);
    leaves := not ledger = any (new.path);
    if joins or leaves then
      continue when old.del_flag <> '0';
    else
      -- Skip a descendant that moves along: only its path has changed.
      continue when old_record = new_record;
    end if;
    perform record_change(ledger, actor, 'tenant', new.id, case when joins or leaves then 'moved' else action end,
      null, null, ledger <> new.tenant_id, case when not joins then old_hash end, case when not leaves then new_hash end,
      -- Readers of a subtree that the tenant leaves can no longer read the tenant's own ledger, and a tenant that moves along
      -- has no change in its own ledger. So both get their positions from this copy.
      ledger = new.tenant_id or leaves or (joins and old_record = new_record));
  end loop;
  return null;
end $$;
