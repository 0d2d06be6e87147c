-- Returns the time of this transaction's changes: the time of its first write, when it holds its locks. The transaction
-- may have begun before a change that it had to wait for.
create or replace function batch_time() returns timestamptz language plpgsql volatile set search_path = banyan, pg_temp as $$
declare
  known text := current_setting('banyan.batch_time', true);
begin
  if known <> '' then return known::timestamptz; end if;
  return set_config('banyan.batch_time', clock_timestamp()::text, true)::timestamptz;
end $$;
