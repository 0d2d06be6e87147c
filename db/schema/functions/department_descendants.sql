-- Returns the ids of all departments below `root`, level by level. It returns at most `max_rows` of each level and stops
-- after the level that reaches `max_rows` in total (null: no limit). department_children explains the settings.
create or replace function department_descendants(tenant text, root bigint, max_rows int) returns setof bigint
  language plpgsql stable set search_path = banyan, pg_temp
  set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  level bigint[] := array[root];
  found_rows int := 0;
begin
  loop
    level := department_children(tenant, level, max_rows);
    exit when cardinality(level) = 0;
    return query select unnest(level);
    found_rows := found_rows + cardinality(level);
    exit when found_rows >= max_rows;
  end loop;
end $$;
