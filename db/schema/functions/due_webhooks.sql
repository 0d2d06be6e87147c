-- Returns webhooks that have work to do and no lease, healthy ones before failing ones, with the path of their tenant. It leaves
-- out the subtrees in `full_subtrees`, and failing webhooks of those in `full_failing`: the dispatcher has no slot for them.
-- An element of these arrays is the code of a tenant, which stands for the tenant and all its descendants, or `=` followed by
-- the code, which stands for the tenant alone. Webhooks of tenants out of service receive nothing. The function visits only
-- webhooks that may have work: those that are due (sealing makes a tenant's webhooks due), those of tenants with unsealed
-- changes, and deleted ones. It runs as the owner of the tables, because the service sees one tenant at a time.
create or replace function due_webhooks(max_backlog int, max_rows int, full_subtrees text[], full_failing text[])
  returns table (tenant_id text, webhook_id bigint, failing boolean, path text[])
  language sql stable security definer set search_path = banyan, pg_temp as $$
  with recursive writing (tenant_id) as (
    -- Steps from tenant to tenant in the index: one tenant may have very many unsealed changes.
    (select u.tenant_id from unsealed_changes u order by u.tenant_id limit 1)
    union all
    select (select u.tenant_id from unsealed_changes u where u.tenant_id > w.tenant_id order by u.tenant_id limit 1)
    from writing w where w.tenant_id is not null
  ), candidates as (
    select w.tenant_id, w.webhook_id from webhooks w
    where w.status = '0' and w.del_flag = '0' and w.next_due <= statement_timestamp()
    union
    select w.tenant_id, w.webhook_id from writing c join webhooks w on w.tenant_id = c.tenant_id
    where not w.below and w.status = '0' and w.del_flag = '0' and w.waiting < max_backlog
    union
    select w.tenant_id, w.webhook_id from webhooks w where w.del_flag <> '0'
  )
  select w.tenant_id, w.webhook_id, w.failures > 0, t.path
  from candidates c
  join webhooks w on w.tenant_id = c.tenant_id and w.webhook_id = c.webhook_id
  join tenants t on t.tenant_id = w.tenant_id
  where w.lease_until < statement_timestamp()
    and not (t.path || ('=' || t.tenant_id)) && (case when w.failures > 0 then full_subtrees || full_failing else full_subtrees end)
    and (w.del_flag <> '0' or tenant_state(w.tenant_id) = 'in service')
  order by w.failures > 0, w.next_due nulls first limit max_rows
$$;
revoke execute on function due_webhooks from public;
