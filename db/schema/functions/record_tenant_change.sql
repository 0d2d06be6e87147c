-- Records a tenant's change in its own ledger and copies it to the ledgers of its ancestors, whose subscribers follow their
-- descendants. A tenant that moves disappears from the ledgers of ancestors that it leaves and appears in the ledgers of
-- those that it joins. So do all tenants that move with it, although their own rows keep their parent.
create or replace function record_tenant_change() returns trigger
  language plpgsql set search_path = banyan, pg_temp set timezone = 'UTC' as $$
declare
  ledger text;
  joins boolean;
  leaves boolean;
  actor text;
  old_record jsonb;
  new_record jsonb := to_jsonb(new) - 'tree_version';
  action text := case
    when tg_op = 'INSERT' then 'created'
    when old.del_flag = '0' and new.del_flag <> '0' then 'deleted'
    when old.del_flag <> '0' and new.del_flag = '0' then 'restored'
    when old.parent_id is distinct from new.parent_id then 'moved'
    else 'updated' end;
begin
  if tg_op = 'INSERT' then
    foreach ledger in array new.path loop
      perform record_change(ledger, new.create_by, 'tenant', new.id, action, null, new_record, ledger <> new.tenant_id);
    end loop;
    return null;
  end if;
  old_record := to_jsonb(old) - 'tree_version';
  actor := coalesce(nullif(current_setting('banyan.mover', true), ''), new.update_by);
  foreach ledger in array array(select p.code from unnest(old.path || new.path) with ordinality p (code, n)
      group by p.code order by min(p.n)) loop
    joins := not ledger = any (old.path);
    leaves := not ledger = any (new.path);
    if joins or leaves then
      -- A tenant that is already deleted neither disappears from a ledger nor appears in one.
      continue when old.del_flag <> '0';
    else
      -- Skip a descendant that moves along: only its path has changed.
      continue when old_record - 'path' = new_record - 'path';
    end if;
    perform record_change(ledger, actor, 'tenant', new.id, case when joins or leaves then 'moved' else action end,
      case when action <> 'restored' and not joins then old_record end,
      case when action <> 'deleted' and not leaves then new_record end, ledger <> new.tenant_id);
  end loop;
  return null;
end $$;
