-- Sets next_due of webhooks with `below` when their subtree has changes with new positions. This is
-- not part of order_changes(): readers of the order must not wait for the row of a webhook. It runs as the owner of the tables,
-- because the service sees one tenant at a time. Like mark_webhooks_due, it also updates those that are due already. Lock order:
-- webhook_subtree_marks, then webhooks.
create or replace function mark_subtree_webhooks_due() returns void
  language plpgsql volatile security definer set search_path = banyan, pg_temp set enable_seqscan = off set jit = off as $$
declare
  marked bigint;
  last bigint;
begin
  if (select m.position from webhook_subtree_marks m) >= (select o.position from change_order o) then return; end if;
  select m.position into marked from webhook_subtree_marks m for update;
  select o.position into last from change_order o;
  perform set_config('banyan.ordering', 'on', true);
  update webhooks w set next_due = statement_timestamp()
  from (
    select distinct b.code
    from (select distinct p.tenant_id from change_positions p where p.position > marked and p.position <= last) c
    join tenants t on t.tenant_id = c.tenant_id cross join lateral unnest(t.path) b (code)
  ) grown
  where w.below and w.tenant_id = grown.code and w.status = '0' and w.del_flag = '0';
  perform set_config('banyan.ordering', '', true);
  update webhook_subtree_marks m set position = last;
end $$;
revoke execute on function mark_subtree_webhooks_due from public;
