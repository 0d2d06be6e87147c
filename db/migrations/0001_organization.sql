-- Tenants, departments, users, sessions.
--
-- Two locks on every door: each statement of the service carries its tenant, and each table below shows only the rows
-- of the tenant that the transaction entered (setting banyan.tenant, see db/tenancy.ts). A transaction that entered
-- none sees nothing: an unset setting reads null or ''. tenant_id leads every key, so no row can point into another
-- tenant.

create table tenants (
  tenant_id         text primary key check (tenant_id ~ '^[0-9]{6,18}$'), -- business code, never reissued
  id                bigint not null unique,                -- snowflake-style; the value in paths
  parent_id         text references tenants,               -- null only for 000000
  path              text[] not null,                       -- codes from 000000 down to the tenant itself
  tenant_name       text check (char_length(tenant_name) <= 100),
  start_date        date,                                  -- first day of service, null: since ever
  end_date          date check (end_date >= start_date),   -- last day of service, included; null: for ever
  contact_user_name text check (char_length(contact_user_name) <= 50),
  contact_phone     text check (char_length(contact_phone) <= 32),
  company_name      text check (char_length(company_name) <= 100),
  status            text not null default '0' check (status in ('0', '1')),  -- 1: disabled
  account_count     int not null default -1 check (account_count >= -1),     -- -1: no limit
  menu_ids          text[] not null default '{}',
  quotas            jsonb not null,                        -- ten keys, see QuotaBo; integers of 0 or more
  rules             jsonb not null,                        -- seven keys, see RuleBo; texts or null
  del_flag          text not null default '0' check (del_flag in ('0', '2')), -- 2: deleted
  create_by         text not null,
  create_time       timestamptz not null default now(),
  update_by         text not null default '',
  update_time       timestamptz,                           -- null: never updated
  check ((parent_id is null) = (tenant_id = '000000')),
  check (path[cardinality(path)] = tenant_id)
);
create index tenants_below on tenants using gin (path) where del_flag = '0';
create index tenants_parent on tenants (parent_id) where del_flag = '0';

-- A tenant sees itself and the tenants below it. Written so that the index on path serves the policy itself: row
-- security lets only what cannot leak go before a policy, and the `@>` of a statement is not of these.
alter table tenants enable row level security;
alter table tenants force row level security;
create policy own_and_below on tenants using (path @> array[current_setting('banyan.tenant', true)]);

-- One row, locked by whoever changes the shape of the tree of tenants: such changes are rare, and two at once could
-- each look right.
create table tenant_tree (only_row boolean primary key default true check (only_row));
insert into tenant_tree default values;

create sequence tenant_serial as bigint;
-- 41 bits of milliseconds since 2024, 22 bits of a counter.
create function next_tenant_id() returns bigint language sql volatile as $$
  select ((extract(epoch from clock_timestamp()) * 1000)::bigint - 1704067200000) << 22
       | (nextval('tenant_serial') & 4194303)
$$;

-- A tenant is out of service when it, or any tenant above it, is disabled or outside its period. The tenants above are
-- hidden from the service's role, so this one function looks for it: it runs as the tables' owner, who may read (only
-- read) all tenants through the policy below, and it tells one word.
create policy standing on tenants for select to current_user using (true);
create function tenant_standing(code text) returns text
  -- pg_temp last, or whoever calls could put tables of his own before the real ones.
  language sql stable security definer set search_path = banyan, pg_temp as $$
  select coalesce(
    (select case
        when t.del_flag <> '0' then 'deleted'
        when t.status <> '0' then 'disabled'
        when t.start_date > current_date then 'not started'
        when t.end_date < current_date then 'ended'
      end
      from tenants target
      join tenants t on t.tenant_id = any (target.path)
      where target.tenant_id = code
        and (t.del_flag <> '0' or t.status <> '0' or t.start_date > current_date or t.end_date < current_date)
      order by cardinality(t.path) desc
      limit 1),
    (select 'in service' from tenants target where target.tenant_id = code),
    'unknown')
$$;
revoke execute on function tenant_standing from public;

create sequence dept_serial as bigint start 100 maxvalue 9007199254740991;
create table departments (
  tenant_id   text not null references tenants,
  dept_id     bigint not null default nextval('dept_serial'),
  parent_id   bigint,                                      -- null: top level (0 in the interface)
  dept_name   text not null default '' check (char_length(dept_name) <= 100),
  order_num   int not null default 0,
  leader      text check (char_length(leader) <= 50),
  phone       text check (char_length(phone) <= 32),
  email       text check (char_length(email) <= 254),
  status      text not null default '0' check (status in ('0', '1')),   -- 1: disabled
  del_flag    text not null default '0' check (del_flag in ('0', '2')), -- 2: deleted
  create_by   text not null,
  create_time timestamptz not null default now(),
  update_by   text not null default '',
  update_time timestamptz,                                 -- null: never updated
  primary key (tenant_id, dept_id),
  foreign key (tenant_id, parent_id) references departments,
  check (parent_id <> dept_id)
);
create index departments_children on departments (tenant_id, parent_id, order_num, dept_id) where del_flag = '0';
create index departments_in_order on departments (tenant_id, order_num, dept_id) where del_flag = '0';
alter table departments enable row level security;
alter table departments force row level security;
create policy own_tenant on departments using (tenant_id = current_setting('banyan.tenant', true));

create sequence user_serial as bigint start 100 maxvalue 9007199254740991;
create table users (
  tenant_id     text not null references tenants,
  user_id       bigint not null default nextval('user_serial'),
  user_name     text not null check (char_length(user_name) between 1 and 50),
  user_key      text not null,                             -- the name as compared: letter case ignored
  nick_name     text,
  email         text check (char_length(email) <= 254),
  phone         text check (char_length(phone) <= 32),
  status        text not null default '0' check (status in ('0', '1')),   -- 1: disabled
  administrator boolean not null default false,
  password_hash text not null,                             -- argon2id
  del_flag      text not null default '0' check (del_flag in ('0', '2')), -- 2: deleted
  create_by     text not null,
  create_time   timestamptz not null default now(),
  update_by     text not null default '',
  update_time   timestamptz,                               -- null: never updated
  primary key (tenant_id, user_id)
);
create unique index users_name on users (tenant_id, user_key) where del_flag = '0';
create index users_administrators on users (tenant_id) where administrator and status = '0' and del_flag = '0';
alter table users enable row level security;
alter table users force row level security;
create policy own_tenant on users using (tenant_id = current_setting('banyan.tenant', true));

-- Which user is in which department. Rows of deleted users are removed, so these are the "associated users".
create table user_departments (
  tenant_id text not null,
  user_id   bigint not null,
  dept_id   bigint not null,
  main      boolean not null,                              -- the user's deptId; the others are his deptIds
  primary key (tenant_id, user_id, dept_id),
  foreign key (tenant_id, user_id) references users,
  foreign key (tenant_id, dept_id) references departments
);
create unique index user_departments_main on user_departments (tenant_id, user_id) where main;
create index user_departments_dept on user_departments (tenant_id, dept_id);
alter table user_departments enable row level security;
alter table user_departments force row level security;
create policy own_tenant on user_departments using (tenant_id = current_setting('banyan.tenant', true));

-- A login and what was refreshed from it. Tokens are good while their session's row is here.
create table sessions (
  tenant_id    text not null,
  session_id   uuid not null default gen_random_uuid(),
  user_id      bigint not null,
  refresh_hash bytea not null,                             -- sha-256 of the one refresh token that is good now
  address      text not null,
  create_time  timestamptz not null default now(),
  expires      timestamptz not null,
  primary key (tenant_id, session_id),
  foreign key (tenant_id, user_id) references users
);
create index sessions_user on sessions (tenant_id, user_id);
alter table sessions enable row level security;
alter table sessions force row level security;
create policy own_tenant on sessions using (tenant_id = current_setting('banyan.tenant', true));

-- Failed logins. address '' counts an account over all addresses. Unknown names are counted like known ones. Attempts
-- under way are counted too, so that many at the same moment, at whichever node, are no more than allowed.
create table login_failures (
  tenant_id     text not null,
  user_key      text not null,
  address       text not null,
  failures      int not null default 0,                    -- in a row
  pending       int not null default 0,                    -- attempts under way
  pending_until timestamptz not null default now(),        -- by then they have ended, or their node has
  closed        timestamptz not null default '-infinity',  -- refused until then
  trusted       boolean not null default false,            -- this address has logged in to this account before
  seen          timestamptz not null default now(),        -- last failure
  primary key (tenant_id, user_key, address)
);
alter table login_failures enable row level security;
alter table login_failures force row level security;
create policy own_tenant on login_failures using (tenant_id = current_setting('banyan.tenant', true));

-- Failed logins of an address, whatever tenant and account it tried.
create table login_addresses (
  address       text primary key,
  failures      int not null default 0,                    -- since then
  since         timestamptz not null default now(),
  pending       int not null default 0,
  pending_until timestamptz not null default now()
);

-- The keys that sign access tokens. The newest signs, all verify.
create table signing_keys (
  key_id      uuid primary key default gen_random_uuid(),
  secret      bytea not null check (octet_length(secret) = 32),
  create_time timestamptz not null default now()
);
