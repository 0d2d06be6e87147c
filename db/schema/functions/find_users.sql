-- Returns candidates for a search: the ids of users who have the terms of one of `parts`, at most `max_rows` for each, in no
-- particular order. find_departments() explains the rest.
create or replace function find_users(parts jsonb, max_rows int) returns setof bigint
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
        select u.user_id from users u
        where user_terms(u.tenant_id, u.user_name, u.nick_name, u.phone) @> all_of
          and user_terms(u.tenant_id, u.user_name, u.nick_name, u.phone) && any_of
          and u.del_flag = '0' and u.tenant_id || '' = tenant
        limit max_rows;
    elsif cardinality(all_of) > 0 then
      return query
        select u.user_id from users u
        where user_terms(u.tenant_id, u.user_name, u.nick_name, u.phone) @> all_of
          and u.del_flag = '0' and u.tenant_id || '' = tenant
        limit max_rows;
    end if;
  end loop;
end $$;
revoke execute on function find_users from public;
