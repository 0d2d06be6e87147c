-- Whether any tenant has committed changes without a position. It runs as the owner of the tables, because the service sees one
-- tenant at a time.
create or replace function has_unordered_changes() returns boolean
  language sql stable security definer set search_path = banyan, pg_temp set enable_seqscan = off as $$
  select exists (select from unordered_changes)
$$;
revoke execute on function has_unordered_changes from public;
