-- The departments below one, level by level; no more than `at_most` of a level, and no further level once there are so
-- many (null: all). From each department of a small level to its children, by their index; a wide level at once, which
-- takes a tenth of that for each. Always planned with the ids in sight: with a list that is known only later, PostgreSQL
-- compares each row of the tenant with each id of the level where its statistics know nothing of the tenant yet. And never
-- with a sort: the order is the one that only the index of children has. It runs as whoever calls it, so row security binds it.
create function departments_below(tenant text, root bigint, at_most int) returns setof bigint
  language plpgsql stable set search_path = banyan, pg_temp
  set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  level bigint[] := array[root];
  told int := 0;
begin
  loop
    if cardinality(level) <= 100 then
      level := array(
        select c.dept_id from unnest(level) p (id) cross join lateral (
          select c.dept_id from departments c
          where c.tenant_id = tenant and c.parent_id >= p.id and c.parent_id <= p.id and c.del_flag = '0'
          order by c.parent_id, c.order_num, c.dept_id limit at_most
        ) c limit at_most);
    else
      execute 'select array(select c.dept_id from departments c '
        'where c.tenant_id = $1 and c.parent_id = any($2) and c.del_flag = ''0'' '
        'order by c.parent_id, c.order_num, c.dept_id limit $3)' into level using tenant, level, at_most;
    end if;
    exit when cardinality(level) = 0;
    return query select unnest(level);
    told := told + cardinality(level);
    exit when told >= at_most;
  end loop;
end $$;
