-- Returns the batch number of this transaction, the same for all of its changes.
create or replace function batch_id() returns bigint language plpgsql volatile set search_path = banyan, pg_temp as $$
declare
  known text := current_setting('banyan.batch', true);
begin
  if known <> '' then return known::bigint; end if;
  return set_config('banyan.batch', nextval('change_serial')::text, true)::bigint;
end $$;
