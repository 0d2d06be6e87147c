-- Returns how many levels a subtree has, 1 for a department without children; `root` null: the whole tree. It visits every
-- department of the subtree, level by level. The function runs with the caller's rights, so row-level security applies.
-- The settings and `execute` have the same reasons as in department_descendants.
create or replace function department_height(tenant text, root bigint) returns int
  language plpgsql stable set search_path = banyan, pg_temp
  set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  level bigint[];
  height int := 0;
begin
  if root is null then
    level := array(select c.dept_id from departments c
      where c.tenant_id = tenant and c.parent_id is null and c.del_flag = '0'
      order by c.parent_id, c.order_num, c.dept_id);
  else
    level := array[root];
  end if;
  while cardinality(level) > 0 loop
    height := height + 1;
    if cardinality(level) <= 100 then
      level := array(
        select c.dept_id from unnest(level) p (id) cross join lateral (
          select c.dept_id from departments c
          where c.tenant_id = tenant and c.parent_id >= p.id and c.parent_id <= p.id and c.del_flag = '0'
          order by c.parent_id, c.order_num, c.dept_id offset 0
        ) c);
    else
      execute 'select array(select c.dept_id from departments c '
        'where c.tenant_id = $1 and c.parent_id = any($2) and c.del_flag = ''0'' '
        'order by c.parent_id, c.order_num, c.dept_id)' into level using tenant, level;
    end if;
  end loop;
  return height;
end $$;
