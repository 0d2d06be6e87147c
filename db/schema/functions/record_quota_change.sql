-- Records that a quota was created or changed. What was used is not recorded here: uses have their own table.
create or replace function record_quota_change() returns trigger
  language plpgsql set search_path = banyan, pg_temp set timezone = 'UTC' as $$
declare
  old_record jsonb;
begin
  if tg_op = 'UPDATE' then old_record := to_jsonb(old); end if;
  perform record_change(new.tenant_id, case when tg_op = 'INSERT' then new.create_by else new.update_by end,
    'quota', new.quota_id, case when tg_op = 'INSERT' then 'created' else 'updated' end, old_record, to_jsonb(new));
  return null;
end $$;
