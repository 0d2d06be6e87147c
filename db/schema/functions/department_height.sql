-- Returns how many levels a subtree has, 1 for a department without children; `root` null: the whole tree. It visits every
-- department of the subtree, level by level. department_children explains the settings.
create or replace function department_height(tenant text, root bigint) returns int
  language plpgsql stable set search_path = banyan, pg_temp
  set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  level bigint[] := array[root];
  height int := 0;
begin
  if root is null then
    level := array(select c.dept_id from departments c
      where c.tenant_id = tenant and c.parent_id is null and c.del_flag = '0'
      order by c.parent_id, c.order_num, c.dept_id);
  end if;
  while cardinality(level) > 0 loop
    height := height + 1;
    level := department_children(tenant, level, null);
  end loop;
  return height;
end $$;
