-- Returns candidates for a search: the internal ids of the tenant of the transaction and of its descendants that have the
-- terms of one of `parts`, at most `max_rows` for each, in no particular order. find_departments() explains the rest.
create or replace function find_tenants(parts jsonb, max_rows int) returns setof bigint
  language plpgsql stable security definer set search_path = banyan, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_indexscan = off set max_parallel_workers_per_gather = 0 as $$
declare
  tenant text := current_setting('banyan.tenant', true);
  part jsonb;
  all_of bigint[];
  any_of bigint[];
begin
  for part in select jsonb_array_elements(parts) loop
    all_of := search_query_terms('', part);
    any_of := search_query_terms('', part -> 'anyOf');
    if cardinality(any_of) > 0 then
      return query
        select t.id from tenants t
        where tenant_terms(t.tenant_name, t.company_name, t.contact_phone) @> all_of
          and tenant_terms(t.tenant_name, t.company_name, t.contact_phone) && any_of
          -- Not a bare column: the planner could choose the index on paths, and read all descendants.
          and t.del_flag = '0' and t.path || '{}' @> array[tenant]
        limit max_rows;
    elsif cardinality(all_of) > 0 then
      return query
        select t.id from tenants t
        where tenant_terms(t.tenant_name, t.company_name, t.contact_phone) @> all_of
          and t.del_flag = '0' and t.path || '{}' @> array[tenant]
        limit max_rows;
    end if;
  end loop;
end $$;
revoke execute on function find_tenants from public;
