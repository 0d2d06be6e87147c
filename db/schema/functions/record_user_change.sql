-- Records a user's change at the commit, when the statements for their departments are done too. The state before it is
-- the one that the ledger recorded last. The plans are kept even where the transaction wants a new plan for each statement
-- (db/planner.ts): an import calls this function for each user, and planning would take longer than the rest.
create or replace function record_user_change() returns trigger
  language plpgsql set search_path = banyan, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  tenant text := current_setting('banyan.tenant', true);
  last_id bigint;
  old_record jsonb;
  new_record jsonb;
  current_record jsonb;
begin
  perform set_config('banyan.tenant', new.tenant_id, true);
  -- A login replaces an imported hash with another one of the same password, which is not a change.
  if tg_op = 'UPDATE' and old.password_hash <> new.password_hash
      and current_setting('banyan.rehash', true) is distinct from 'on' then
    perform record_change(new.tenant_id, new.update_by, 'user', new.user_id, 'password changed', null, null);
  end if;
  select c.change_id, c.after into last_id, old_record from changes c
    -- A range and this order fit only the index by record, also for a plan that is made while the table is empty.
    where c.tenant_id = new.tenant_id and c.resource = 'user' and c.resource_id >= new.user_id
      and c.resource_id <= new.user_id and c.action <> 'password changed'
    order by c.resource_id desc, c.change_id desc limit 1;
  current_record := user_record(new.tenant_id, new.user_id);
  new_record := case when current_record ->> 'del_flag' = '0' then current_record end;
  if last_id is null or old_record is distinct from new_record then
    perform record_change(new.tenant_id,
      coalesce(nullif(current_record ->> 'update_by', ''), current_record ->> 'create_by'), 'user', new.user_id,
      case when last_id is null then 'created' when new_record is null then 'deleted'
        when old_record is null then 'restored' else 'updated' end, old_record, new_record);
  end if;
  perform set_config('banyan.tenant', coalesce(tenant, ''), true);
  return null;
end $$;
