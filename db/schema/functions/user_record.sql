-- Returns a user's row as the ledger stores it: with their departments, without password_hash, and without user_key, which
-- follows from user_name. Like record_user_change(), it keeps its plans.
create or replace function user_record(tenant text, id bigint) returns jsonb
  language plpgsql stable set search_path = banyan, pg_temp set timezone = 'UTC'
  set plan_cache_mode = force_generic_plan as $$
begin
  return (
    select to_jsonb(u) - 'password_hash' - 'user_key' || jsonb_build_object(
      'dept_id', (select m.dept_id from user_departments m
        where m.tenant_id = tenant and m.user_id = id and m.main),
      'dept_ids', array(select m.dept_id from user_departments m
        where m.tenant_id = tenant and m.user_id >= id and m.user_id <= id and not m.main order by m.user_id, m.dept_id))
    from users u where u.tenant_id = tenant and u.user_id = id);
end $$;
