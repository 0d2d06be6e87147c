-- Returns webhooks that have work to do and no lease, healthy ones before failing ones. Webhooks of tenants out of service
-- receive nothing. It runs as the owner of the tables, because the service sees one tenant at a time.
create or replace function webhooks_with_due_work(max_backlog int, max_rows int)
  returns table (tenant_id text, webhook_id bigint, failing boolean)
  language sql volatile security definer set search_path = banyan, pg_temp as $$
  select w.tenant_id, w.webhook_id, w.failures > 0
  from webhooks w left join seal_heads h on h.tenant_id = w.tenant_id
  where w.lease_until < clock_timestamp() and (w.del_flag <> '0' or (w.status = '0'
    and (w.next_due <= clock_timestamp() or (w.waiting < max_backlog
      and (w.seq < h.seq or exists (select from unsealed_changes u where u.tenant_id = w.tenant_id))))
    and tenant_state(w.tenant_id) = 'in service'))
  order by w.failures > 0, w.next_due nulls first limit max_rows
$$;
revoke execute on function webhooks_with_due_work from public;
