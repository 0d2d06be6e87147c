-- Returns the version of a tenant's record to which a change refers, or null if the archive that held it was emptied. The
-- tenant may be a descendant, or no longer be one, and the service sees one tenant at a time. So this function runs as the
-- owner of the tables. It returns only records to which a ledger refers that the transaction may read.
create or replace function tenant_version(ledger text, change bigint, version bytea) returns jsonb
  language plpgsql stable strict security definer set search_path = banyan, pg_temp as $$
declare
  code text;
begin
  if ledger is distinct from current_setting('banyan.tenant', true)
    and not coalesce(is_readable_descendant(ledger), false) then
    return null;
  end if;
  select t.tenant_id into code from (
    select c.resource_id from changes c where c.tenant_id = ledger and c.change_id = change
      and c.resource = 'tenant' and version in (c.before_hash, c.after_hash)
    union all
    select c.resource_id from changes_archive c where c.tenant_id = ledger and c.change_id = change
      and c.resource = 'tenant' and version in (c.before_hash, c.after_hash)
  ) c join tenants t on t.id = c.resource_id limit 1;
  return (select v.record from tenant_versions v where v.tenant_id = code and v.hash = version
    union all
    select v.record from tenant_versions_archive v where v.tenant_id = code and v.hash = version limit 1);
end $$;
revoke execute on function tenant_version from public;
