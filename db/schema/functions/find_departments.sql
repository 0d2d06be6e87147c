-- Returns candidates for a search: the ids of departments that have the terms of one of `parts`, at most `max_rows` for each,
-- in no particular order. A part is what search_query_terms() takes; one of the terms in its field `anyOf` is enough. The
-- caller reads these rows and compares them. Under row-level security the statements of the service cannot use the search
-- index, because @> is not leakproof. This function runs as the owner of the tables, searches the tenant of the transaction
-- only, and returns nothing but ids.
create or replace function find_departments(parts jsonb, max_rows int) returns setof bigint
  -- pg_temp comes last, or a caller could shadow the tables with temporary ones. The plans use the search
  -- index whatever the planner knows about the terms, so they are kept: planning each part of a query took longer than finding it.
  language plpgsql stable security definer set search_path = banyan, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_indexscan = off set max_parallel_workers_per_gather = 0 as $$
declare
  tenant text := current_setting('banyan.tenant', true);
  part jsonb;
  all_of bigint[];
  any_of bigint[];
begin
  for part in select jsonb_array_elements(parts) loop
    all_of := search_query_terms(tenant, part);
    any_of := search_query_terms(tenant, part -> 'anyOf');
    if cardinality(any_of) > 0 then
      return query
        select d.dept_id from departments d
        where search_ngrams(d.tenant_id || 'n', d.dept_name) || search_ngrams(d.tenant_id || 'l', d.leader)
          || pinyin_terms(d.tenant_id || 'p', d.dept_name) @> all_of
          and search_ngrams(d.tenant_id || 'n', d.dept_name) || search_ngrams(d.tenant_id || 'l', d.leader)
          || pinyin_terms(d.tenant_id || 'p', d.dept_name) && any_of
          -- Not a bare column: the planner would choose an index that leads with tenant_id and read the whole tenant.
          and d.del_flag = '0' and d.tenant_id || '' = tenant
        limit max_rows;
    elsif cardinality(all_of) > 0 then
      return query
        select d.dept_id from departments d
        where search_ngrams(d.tenant_id || 'n', d.dept_name) || search_ngrams(d.tenant_id || 'l', d.leader)
          || pinyin_terms(d.tenant_id || 'p', d.dept_name) @> all_of
          and d.del_flag = '0' and d.tenant_id || '' = tenant
        limit max_rows;
    end if;
  end loop;
end $$;
revoke execute on function find_departments from public;
