-- Makes the webhooks of a tenant due when its ledger has grown, so that the dispatcher finds them without comparing the
-- position of every webhook. Those with `below` follow another order (mark_subtree_webhooks_due). It also updates those that are
-- due already: a process that does not see these changes yet may be about to set next_due to null, and this waits for its row
-- lock. Lock order: the head of the ledger, then webhooks.
create or replace function mark_webhooks_due() returns trigger
  language plpgsql set search_path = banyan, pg_temp as $$
begin
  update webhooks w set next_due = statement_timestamp()
  where w.tenant_id = new.tenant_id and not w.below and w.status = '0' and w.del_flag = '0';
  return null;
end $$;
