-- Answers kept for a day under the key that the caller gave, so that a repeated request changes nothing twice.
create table idempotency_keys (
  tenant_id   text not null,
  user_id     bigint not null,
  key         text not null check (char_length(key) between 1 and 255),
  fingerprint bytea not null,                              -- of the request: another one under this key is refused
  result      jsonb,                                       -- what the operation told
  refusal     jsonb,                                       -- or for which reason and facts it was refused
  create_time timestamptz not null default now(),
  primary key (tenant_id, user_id, key),
  foreign key (tenant_id, user_id) references users
);
create index idempotency_keys_old on idempotency_keys (tenant_id, create_time);
alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
create policy own_tenant on idempotency_keys using (tenant_id = current_setting('banyan.tenant', true));
