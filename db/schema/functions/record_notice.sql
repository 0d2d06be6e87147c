-- Records a notice in the ledger of its tenant and, like a change of the tenant itself, in those of its ancestors. It is the
-- service that warns, not the caller whose request reached the limit.
create or replace function record_notice() returns trigger
  language plpgsql set search_path = banyan, pg_temp set timezone = 'UTC' as $$
declare
  origin text := coalesce(current_setting('banyan.origin', true), '');
  ledger text;
begin
  perform set_config('banyan.origin', '', true);
  foreach ledger in array (select t.path from tenants t where t.tenant_id = new.tenant_id) loop
    perform record_change(ledger, '', 'notice', new.notice_id, 'created', null, to_jsonb(new), ledger <> new.tenant_id);
  end loop;
  perform set_config('banyan.origin', origin, true);
  return null;
end $$;
