-- Returns the caller and request: an object, or, where one statement creates departments for several callers, an array of
-- objects in the order of the departments' ids (db/tenant-scope.ts, server/departments/queries.ts).
create or replace function request_origin() returns jsonb language sql stable as $$
  select coalesce(nullif(current_setting('banyan.origin', true), ''), '{}')::jsonb
$$;
