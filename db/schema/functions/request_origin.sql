-- Returns who is calling: an object, or an array of objects where one statement creates departments for several callers, in
-- the order of their ids (db/tenant-scope.ts).
create or replace function request_origin() returns jsonb language sql stable as $$
  select coalesce(nullif(current_setting('banyan.origin', true), ''), '{}')::jsonb
$$;
