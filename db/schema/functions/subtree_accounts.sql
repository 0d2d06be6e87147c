-- Counts the users of a tenant and of all tenants below it. Row-level security shows the users of one tenant only, so this
-- function runs as the owner of the tables; it reveals nothing but the number, and only to the tenant of the transaction.
-- Deleted tenants do not count: restoring one checks the limit again.
create or replace function subtree_accounts(root text) returns bigint
  language sql stable security definer set search_path = banyan, pg_temp as $$
  select count(*) from tenants t join users u on u.tenant_id = t.tenant_id and u.del_flag = '0'
  where t.path @> array[root] and t.del_flag = '0' and root = current_setting('banyan.tenant', true)
$$;
revoke execute on function subtree_accounts from public;
