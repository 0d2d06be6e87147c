-- Search by any part of a name, lists in several orders, moves of tenants: each by an index.

-- The keys under which a text is found: each of its characters, and every two that stand side by side, letter case
-- ignored. So one or two characters are enough to search for, in Chinese too, and whatever holds a text has all the keys
-- of that text. A key is a hash with `mark` in it.
create function search_keys(mark text, content text) returns bigint[]
  language plpgsql immutable parallel safe as $$
declare
  keys bigint[] := '{}';
  letter text;
  prior text;
begin
  foreach letter in array coalesce(string_to_array(lower(content), null), '{}') loop
    keys := keys || hashtextextended(mark || letter, 0);
    if prior is not null then
      keys := keys || hashtextextended(mark || prior || letter, 0);
    end if;
    prior := letter;
  end loop;
  return keys;
end $$;

-- Those to look for: the pairs say all that the single characters do, which are in many more texts.
create function search_keys_asked(mark text, part text) returns bigint[] language sql immutable parallel safe as $$
  select coalesce(array_agg(hashtextextended(mark || substr(lower(part), n, 2), 0)), '{}')
  from generate_series(1, greatest(char_length(lower(part)) - 1, 1)) n
  where part <> ''
$$;

-- The mark has the tenant in it, so nothing of other tenants is looked at. New keys are put in by the few hundred, which
-- costs half of one by one; with PostgreSQL's own limit of 4 MB, every now and then a create would take long.
create index departments_search on departments
  using gin ((search_keys(tenant_id || 'n', dept_name) || search_keys(tenant_id || 'l', leader)))
  with (fastupdate = on, gin_pending_list_limit = 256) where del_flag = '0';

-- Row security lets only what cannot leak go before a policy, and `@>` is not of these: the service's own statements
-- cannot use that index. So this one function looks for it. It runs as the tables' owner, who may read (only read) all
-- departments through the policy below; it looks in the tenant that the transaction has entered, whatever it is asked,
-- and tells ids alone. Of `enough` ids or more it tells `enough`, which ones is left open.
create policy search on departments for select to current_user using (true);
create function departments_found(name_part text, leader_part text, enough int) returns setof bigint
  -- pg_temp last, or whoever calls could put tables of his own before the real ones. The plan is made for the words
  -- asked for, never goes through the whole table, and starts no helpers: that would take longer than the search.
  language plpgsql stable security definer set search_path = banyan, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off set max_parallel_workers_per_gather = 0 as $$
declare
  tenant text := current_setting('banyan.tenant', true);
  asked bigint[] := search_keys_asked(tenant || 'n', name_part) || search_keys_asked(tenant || 'l', leader_part);
begin
  -- Nothing asked for is nothing found, not everything.
  if cardinality(asked) = 0 then
    return;
  end if;
  return query
    select d.dept_id from departments d
    where search_keys(d.tenant_id || 'n', d.dept_name) || search_keys(d.tenant_id || 'l', d.leader) @> asked
      and d.del_flag = '0'
      -- Not as a bare column: an index that leads with the tenant would tempt the planner to go through all of it.
      and d.tenant_id || '' = tenant
      -- Keys may be there in another order.
      and (name_part is null or strpos(lower(d.dept_name), lower(name_part)) > 0)
      and (leader_part is null or strpos(lower(d.leader), lower(leader_part)) > 0)
    limit enough;
end $$;
revoke execute on function departments_found from public;

-- The orders of a list, beside departments_in_order. Names by code point, alike in every database.
create index departments_by_name on departments (tenant_id, dept_name collate "C", dept_id) where del_flag = '0';
create index departments_by_creation on departments (tenant_id, create_time, dept_id) where del_flag = '0';
create index departments_by_update on departments
  (tenant_id, (coalesce(update_time, '-infinity'::timestamptz)), dept_id) where del_flag = '0';

-- A move takes the deleted tenants below along, so the index on the path has them too.
drop index tenants_below;
create index tenants_below on tenants using gin (path);
