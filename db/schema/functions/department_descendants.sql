-- Returns the ids of all departments below `root`, level by level. It returns at most `max_rows` of each level and stops
-- after the level that reaches `max_rows` in total (null: no limit). The children of up to 100 departments are looked up
-- parent by parent in the index departments_children; those of more are read in one query, at a tenth of the cost per row.
-- `execute` plans that query for its actual ids: without statistics of the tenant, a plan for unknown ids would compare
-- every row with every id. Sorting is off because only this index has the order. The function runs with the caller's
-- rights, so row-level security applies.
create or replace function department_descendants(tenant text, root bigint, max_rows int) returns setof bigint
  language plpgsql stable set search_path = banyan, pg_temp
  set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  level bigint[] := array[root];
  found_rows int := 0;
begin
  loop
    if cardinality(level) <= 100 then
      level := array(
        select c.dept_id from unnest(level) p (id) cross join lateral (
          select c.dept_id from departments c
          where c.tenant_id = tenant and c.parent_id >= p.id and c.parent_id <= p.id and c.del_flag = '0'
          order by c.parent_id, c.order_num, c.dept_id limit max_rows
        ) c limit max_rows);
    else
      execute 'select array(select c.dept_id from departments c '
        'where c.tenant_id = $1 and c.parent_id = any($2) and c.del_flag = ''0'' '
        'order by c.parent_id, c.order_num, c.dept_id limit $3)' into level using tenant, level, max_rows;
    end if;
    exit when cardinality(level) = 0;
    return query select unnest(level);
    found_rows := found_rows + cardinality(level);
    exit when found_rows >= max_rows;
  end loop;
end $$;
