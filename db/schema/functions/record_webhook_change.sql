-- Records that a webhook was registered, changed or deleted, or that its secret was rotated. It never records a secret.
create or replace function record_webhook_change() returns trigger
  language plpgsql set search_path = banyan, pg_temp as $$
declare
  old_record jsonb;
  new_record jsonb;
begin
  if tg_op = 'UPDATE' then
    old_record := jsonb_build_object('webhook_id', old.webhook_id, 'name', old.name, 'url', old.url, 'kinds', old.kinds,
      'below', old.below, 'status', old.status);
  end if;
  if new.del_flag = '0' then
    new_record := jsonb_build_object('webhook_id', new.webhook_id, 'name', new.name, 'url', new.url, 'kinds', new.kinds,
      'below', new.below, 'status', new.status);
  end if;
  perform record_change(new.tenant_id, case when tg_op = 'INSERT' then new.create_by else new.update_by end,
    'webhook', new.webhook_id,
    case when tg_op = 'INSERT' then 'created' when new.del_flag <> '0' then 'deleted'
      when old.secret <> new.secret then 'secret changed' else 'updated' end,
    old_record, new_record);
  return null;
end $$;
