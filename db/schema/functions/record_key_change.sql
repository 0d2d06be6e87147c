-- Records that an API key was created, changed, rotated or deleted. It records no part of a secret. A rotation changes the
-- prefix, and nothing else does.
create or replace function record_key_change() returns trigger
  language plpgsql set search_path = banyan, pg_temp set timezone = 'UTC' as $$
declare
  old_record jsonb;
  new_record jsonb;
begin
  if tg_op = 'UPDATE' then old_record := to_jsonb(old) - 'prefix'; end if;
  if new.del_flag = '0' then new_record := to_jsonb(new) - 'prefix'; end if;
  perform record_change(new.tenant_id, case when tg_op = 'INSERT' then new.create_by else new.update_by end,
    'key', new.key_id,
    case when tg_op = 'INSERT' then 'created' when new.del_flag <> '0' then 'deleted'
      when old.prefix <> new.prefix then 'secret changed' else 'updated' end,
    old_record, new_record);
  return null;
end $$;
