-- Counts the users of several tenants. Row-level security shows users of one tenant only, so the function assumes each tenant
-- in turn, and finally the one that the transaction had. It runs with the caller's rights.
create or replace function count_accounts(codes text[]) returns table (tenant_id text, accounts bigint)
  language plpgsql set search_path = banyan, pg_temp as $$
declare
  assumed text := current_setting('banyan.tenant', true);
begin
  foreach tenant_id in array codes loop
    perform set_config('banyan.tenant', tenant_id, true);
    select count(*) into accounts from users u where u.tenant_id = count_accounts.tenant_id and u.del_flag = '0';
    return next;
  end loop;
  perform set_config('banyan.tenant', assumed, true);
end $$;
