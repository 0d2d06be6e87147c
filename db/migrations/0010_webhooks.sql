-- Webhooks: addresses that are told of a tenant's changes. Each has its place in the ledger, so what it was not told of
-- yet is nowhere else but there; what it is being told of are its deliveries.

create sequence webhook_serial as bigint start 1001 maxvalue 9007199254740991;
create sequence delivery_serial as bigint start 100001 maxvalue 9007199254740991;

create table webhooks (
  tenant_id        text not null references tenants (tenant_id),
  webhook_id       bigint not null default nextval('webhook_serial'),
  name             text not null,
  url              text not null,
  kinds            text[] not null,            -- department.created, department.*, *
  status           text not null,              -- 0: normal, 1: disabled
  gone             boolean not null default false, -- disabled because the receiver answered 410
  del_flag         text not null default '0',  -- 2: deleted; its row goes once its deliveries are gone
  secret           bytea not null,             -- signs, so it is kept as it is; empty once deleted
  old_secret       bytea,                      -- signs too, until
  old_secret_until timestamptz,
  seq              bigint not null,            -- its place in the ledger: all up to here are deliveries, or not for it
  waiting          int not null default 0,     -- deliveries that are neither delivered nor given up
  failures         int not null default 0,     -- since a delivery last succeeded
  rest_until       timestamptz,                -- a receiver that fails again and again is left alone meanwhile
  next_due         timestamptz,                -- when there is something to send; null: nothing waits
  busy_by          uuid,                       -- who is at work on it
  busy_until       timestamptz not null default '-infinity', -- and when he is taken for dead
  create_by        text not null,
  create_time      timestamptz not null default now(),
  update_by        text not null default '',
  update_time      timestamptz,
  primary key (tenant_id, webhook_id),
  check (status in ('0', '1')),
  check (del_flag in ('0', '2')),
  check (cardinality(kinds) > 0)
) with (fillfactor = 70);                      -- its place is written often, and in no index
alter table webhooks enable row level security;
alter table webhooks force row level security;
create policy own_tenant on webhooks using (tenant_id = current_setting('banyan.tenant', true));

create table webhook_deliveries (
  tenant_id   text not null,
  webhook_id  bigint not null,
  delivery_id bigint not null,
  change_id   bigint,                          -- null: a test
  type        text not null,                   -- department.created
  resource    text not null,
  resource_id bigint not null,
  state       text not null default 'waiting', -- waiting, delivered, failed
  attempts    int not null default 0,          -- since it was made, or sent again on request
  time        timestamptz not null default now(), -- when it was made
  give_up     timestamptz not null,            -- no attempt after this
  next_try    timestamptz,                     -- infinity: an earlier one of the same resource goes first; null: none
  last_time   timestamptz,                     -- of the last attempt, and what came of it:
  last_ms     int,
  last_status int,                             -- null: no answer
  last_answer text,                            -- its first bytes
  last_error  text,                            -- why there was none
  primary key (tenant_id, webhook_id, delivery_id),
  foreign key (tenant_id, webhook_id) references webhooks (tenant_id, webhook_id),
  check (state in ('waiting', 'delivered', 'failed')),
  check ((state = 'waiting') = (next_try is not null))
);
create index deliveries_due on webhook_deliveries (tenant_id, webhook_id, next_try, delivery_id) where state = 'waiting';
create index deliveries_in_line on webhook_deliveries (tenant_id, webhook_id, resource, resource_id, delivery_id)
  where state = 'waiting';
alter table webhook_deliveries enable row level security;
alter table webhook_deliveries force row level security;
create policy own_tenant on webhook_deliveries using (tenant_id = current_setting('banyan.tenant', true));

-- Which webhooks have something to do and nobody who does it: codes and ids alone, for the service, which sees one tenant
-- at a time. Those that work come before those that fail. Tenants out of service are told nothing.
create policy work on webhooks for select to current_user using (true);
create function webhooks_with_work(backlog int, at_most int)
  returns table (tenant_id text, webhook_id bigint, failing boolean)
  language sql volatile security definer set search_path = banyan, pg_temp as $$
  select w.tenant_id, w.webhook_id, w.failures > 0
  from webhooks w left join seal_heads h on h.tenant_id = w.tenant_id
  where w.busy_until < clock_timestamp() and (w.del_flag <> '0' or (w.status = '0'
    and (w.next_due <= clock_timestamp() or (w.waiting < backlog
      and (w.seq < h.seq or exists (select from unsealed u where u.tenant_id = w.tenant_id))))
    and tenant_standing(w.tenant_id) = 'in service'))
  order by w.failures > 0, w.next_due nulls first limit at_most
$$;
revoke execute on function webhooks_with_work from public;

-- Who registered, changed or deleted a webhook, and when its secret was made anew, is in the audit log; never a secret.
create function webhook_shown(w webhooks) returns json language sql stable as $$
  select json_build_object('id', w.webhook_id, 'name', w.name, 'url', w.url, 'kinds', w.kinds, 'status', w.status)
$$;
create function note_webhook() returns trigger language plpgsql set search_path = banyan, pg_temp as $$
begin
  perform note_change(new.tenant_id, case when tg_op = 'INSERT' then new.create_by else new.update_by end,
    'webhook', new.webhook_id,
    case when tg_op = 'INSERT' then 'created' when new.del_flag <> '0' then 'deleted'
      when old.secret <> new.secret then 'secret changed' else 'updated' end,
    case when tg_op = 'UPDATE' then webhook_shown(old) end,
    case when new.del_flag = '0' then webhook_shown(new) end);
  return null;
end $$;
create trigger note_new after insert on webhooks for each row execute function note_webhook();
create trigger note_changed after update on webhooks for each row
  when ((old.name, old.url, old.kinds, old.status, old.del_flag, old.secret)
    is distinct from (new.name, new.url, new.kinds, new.status, new.del_flag, new.secret))
  execute function note_webhook();
