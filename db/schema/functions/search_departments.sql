-- Returns the ids of departments whose name and leader contain these parts, at most `max_rows` of them, in no particular
-- order. Under row-level security the statements of the service cannot use the search index, because @> is not leakproof. This
-- function runs as the owner of the tables, searches the tenant of the transaction only, and returns nothing but ids.
create or replace function search_departments(name_part text, leader_part text, max_rows int) returns setof bigint
  -- pg_temp comes last, or a caller could shadow the tables with temporary ones. Each call is planned for its own
  -- parameters, never scans the whole table, and starts no parallel workers: that would take longer than the search.
  language plpgsql stable security definer set search_path = banyan, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off set max_parallel_workers_per_gather = 0 as $$
declare
  tenant text := current_setting('banyan.tenant', true);
  wanted bigint[] := search_query_ngrams(tenant || 'n', name_part) || search_query_ngrams(tenant || 'l', leader_part);
begin
  -- An empty search finds nothing rather than everything.
  if cardinality(wanted) = 0 then
    return;
  end if;
  return query
    (select d.dept_id from departments d
    where search_ngrams(d.tenant_id || 'n', d.dept_name) || search_ngrams(d.tenant_id || 'l', d.leader)
        || pinyin_terms(d.tenant_id || 'p', d.dept_name) @> wanted
      and d.del_flag = '0'
      -- Not a bare column: the planner would choose an index that leads with tenant_id and read the whole tenant.
      and d.tenant_id || '' = tenant
      -- Compare the texts too: the n-grams may occur in another order.
      and (name_part is null or strpos(lower(d.dept_name), lower(name_part)) > 0)
      and (leader_part is null or strpos(lower(d.leader), lower(leader_part)) > 0))
    union all
    -- Departments that show the name of a user as their leader.
    (select d.dept_id from departments d
    join users u on u.tenant_id = tenant and u.user_id = d.leader_id and u.del_flag = '0'
    where leader_part is not null and d.tenant_id = tenant and d.leader_id is not null and d.del_flag = '0'
      and d.leader is null and strpos(lower(coalesce(nullif(u.nick_name, ''), u.user_name)), lower(leader_part)) > 0
      and (name_part is null or strpos(lower(d.dept_name), lower(name_part)) > 0))
    limit max_rows;
end $$;
revoke execute on function search_departments from public;
