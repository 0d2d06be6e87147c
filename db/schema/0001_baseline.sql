-- The tables of Banyan, by domain: tenants, departments, users, sessions and logins, API keys, quotas, notices, imports,
-- idempotency, ledger, webhooks.
-- Functions are in functions/, one to a file; db/migrate.ts creates them before this file runs.
--
-- Tenant isolation has two layers. Every statement of the service names its tenant, and row-level security shows only the
-- rows of the tenant in the setting banyan.tenant (db/tenant-scope.ts). While that setting is null or empty, no row is
-- visible. tenant_id leads every key of a tenant's data, so no such row can reference a row of another tenant. There are two
-- exceptions: a tenant refers to its parent, and it sees the records of its descendants and, with the setting banyan.below,
-- their changes.

-- Tenants ---------------------------------------------------------------------------------------------------------------

create sequence tenant_serial as bigint;

create table tenants (
  tenant_id         text primary key check (tenant_id ~ '^[0-9]{6,18}$'), -- business code, never reused
  id                bigint not null unique,                -- internal id, the one in paths; see next_tenant_id()
  parent_id         text references tenants,               -- null only for 000000
  path              text[] not null,                       -- codes from 000000 down to the tenant itself
  tenant_name       text check (char_length(tenant_name) <= 100),
  start_date        date,                                  -- first day of service; null: in service from the beginning
  end_date          date check (end_date >= start_date),   -- last day of service, inclusive; null: no end
  contact_user_name text check (char_length(contact_user_name) <= 50),
  contact_phone     text check (char_length(contact_phone) <= 32),
  company_name      text check (char_length(company_name) <= 100),
  status            text not null default '0' check (status in ('0', '1')),  -- 0: enabled, 1: disabled
  account_count     int not null default -1 check (account_count >= -1),     -- maximum number of users; -1: no limit
  menu_ids          text[] not null default '{}',          -- menus of the tenant's package
  quotas            jsonb not null,                        -- the ten keys of QuotaBo, integers of 0 or more
  rules             jsonb not null,                        -- the seven keys of RuleBo, text or null
  tree_version      uuid not null default gen_random_uuid(), -- changes with every move of a department
  del_flag          text not null default '0' check (del_flag in ('0', '2')), -- 0: exists, 2: deleted
  create_by         text not null,                         -- user name of the creator
  create_time       timestamptz not null default now(),
  update_by         text not null default '',              -- user name of the last updater
  update_time       timestamptz,                           -- null: never updated
  check ((parent_id is null) = (tenant_id = '000000')),
  check (path[cardinality(path)] = tenant_id)
);
-- A tree version is random rather than counted: a database restored from a backup must not repeat a version.
create index tenants_path on tenants using gin (path);     -- includes deleted tenants, which move with their subtree
create index tenants_parent on tenants (parent_id) where del_flag = '0';
create index tenants_search on tenants using gin ((tenant_terms(tenant_name, company_name, contact_phone)))
  with (fastupdate = on, gin_pending_list_limit = 256) where del_flag = '0';
create index tenants_end_date on tenants (end_date, id) where del_flag = '0';
alter table tenants enable row level security;
alter table tenants force row level security;
-- A tenant sees itself and its descendants. The policy itself uses the index on path: under row-level security only
-- leakproof operators of a statement are evaluated before the policy, and @> is not one of them.
create policy own_and_descendants on tenants using (path @> array[current_setting('banyan.tenant', true)]);
-- tenant_state() runs as the owner of the tables and reads the ancestors, which the service's role cannot see. find_tenants()
-- uses the search index.
create policy owner_reads on tenants for select to current_user using (true);

-- A single row. Every change of a tenant's record locks it first: such changes are rare, and two concurrent ones could
-- each pass their checks.
create table tenant_tree_lock (only_row boolean primary key default true check (only_row));
insert into tenant_tree_lock default values;

-- Departments -----------------------------------------------------------------------------------------------------------

create sequence dept_serial as bigint start 100 maxvalue 9007199254740991;

create table departments (
  tenant_id   text not null references tenants,
  dept_id     bigint not null default nextval('dept_serial'),
  parent_id   bigint,                                      -- null: top level (0 in the API)
  dept_name   text not null default '' check (char_length(dept_name) <= 100),
  order_num   int not null default 0,                      -- position among siblings
  leader      text check (char_length(leader) <= 50),    -- null: the name of the user in leader_id
  leader_id   bigint,                                      -- the leading user; ignored while that user is deleted
  phone       text check (char_length(phone) <= 32),
  email       text check (char_length(email) <= 254),
  status      text not null default '0' check (status in ('0', '1')),   -- 0: enabled, 1: disabled
  source      text check (char_length(source) between 1 and 50),        -- the system that external_id comes from
  external_id text check (char_length(external_id) between 1 and 200),
  del_flag    text not null default '0' check (del_flag in ('0', '2')), -- 0: exists, 2: deleted
  create_by   text not null,
  create_time timestamptz not null default now(),
  update_by   text not null default '',
  update_time timestamptz,                                 -- null: never updated
  primary key (tenant_id, dept_id),
  foreign key (tenant_id, parent_id) references departments,
  check (parent_id <> dept_id),
  check ((source is null) = (external_id is null))
);
create index departments_children on departments (tenant_id, parent_id, order_num, dept_id) where del_flag = '0';
-- One index for each sort order of the list. Names sort by code point, so the order is the same in every database.
create index departments_by_order on departments (tenant_id, order_num, dept_id) where del_flag = '0';
create index departments_by_name on departments (tenant_id, dept_name collate "C", dept_id) where del_flag = '0';
create index departments_by_creation on departments (tenant_id, create_time, dept_id) where del_flag = '0';
create index departments_by_update on departments
  (tenant_id, (case when update_time is null then '-infinity'::timestamptz else update_time end), dept_id) where del_flag = '0';
create unique index departments_external_id on departments (tenant_id, source, external_id)
  where del_flag = '0' and source is not null;
create index departments_leader on departments (tenant_id, leader_id) where leader_id is not null and del_flag = '0';
-- The prefix contains the tenant, so a search touches no entries of other tenants. A small pending list keeps the cost of
-- inserts even: with the default of 4 MB an occasional create would have to flush all of it.
create index departments_search on departments
  using gin ((search_ngrams(tenant_id || 'n', dept_name) || search_ngrams(tenant_id || 'l', leader)
    || pinyin_terms(tenant_id || 'p', dept_name)))
  with (fastupdate = on, gin_pending_list_limit = 256) where del_flag = '0';
alter table departments enable row level security;
alter table departments force row level security;
create policy own_tenant on departments using (tenant_id = current_setting('banyan.tenant', true));
-- search_departments() and find_departments() run as the owner of the tables.
create policy owner_reads on departments for select to current_user using (true);

-- An upper bound on how deep the departments of a tenant are nested, so that a move need not visit the whole subtree to know that
-- the result is not too deep. A tenant without a row has not been measured yet.
create table department_trees (
  tenant_id text primary key references tenants,
  levels    int not null check (levels >= 0)
);
alter table department_trees enable row level security;
alter table department_trees force row level security;
create policy own_tenant on department_trees using (tenant_id = current_setting('banyan.tenant', true));

-- Users -----------------------------------------------------------------------------------------------------------------

create sequence user_serial as bigint start 100 maxvalue 9007199254740991;

create table users (
  tenant_id     text not null references tenants,
  user_id       bigint not null default nextval('user_serial'),
  user_name     text not null check (char_length(user_name) between 1 and 50),
  user_key      text collate "C" not null,                 -- user_name normalized for comparison, case-insensitive
  nick_name     text,
  position      text check (char_length(position) <= 100), -- what the user does, such as 生产经理
  email         text check (char_length(email) <= 254),
  phone         text check (char_length(phone) <= 32),
  status        text not null default '0' check (status in ('0', '1')),   -- 0: enabled, 1: disabled
  source        text check (char_length(source) between 1 and 50),        -- the system that external_id comes from
  external_id   text check (char_length(external_id) between 1 and 200),
  administrator boolean not null default false,
  password_hash text not null,                             -- argon2id; bcrypt if it was imported, until the next login
  must_change_password boolean not null default false,     -- an administrator has set the password, and the user must replace it
  del_flag      text not null default '0' check (del_flag in ('0', '2')), -- 0: exists, 2: deleted
  create_by     text not null,
  create_time   timestamptz not null default now(),
  update_by     text not null default '',
  update_time   timestamptz,                               -- null: never updated
  primary key (tenant_id, user_id),
  check ((source is null) = (external_id is null))
);
alter table departments add foreign key (tenant_id, leader_id) references users;
-- The list of users is sorted by the primary key or by one of these three. Names sort by code point, like those of departments.
create unique index users_name on users (tenant_id, user_key) where del_flag = '0';
create index users_by_nick_name on users
  (tenant_id, (case when nick_name is null then '' else nick_name end) collate "C", user_id) where del_flag = '0';
create index users_by_creation on users (tenant_id, create_time, user_id) where del_flag = '0';
create unique index users_external_id on users (tenant_id, source, external_id)
  where del_flag = '0' and source is not null;
create index users_search on users using gin ((user_terms(tenant_id, user_name, nick_name, phone)))
  with (fastupdate = on, gin_pending_list_limit = 256) where del_flag = '0';
create index users_administrators on users (tenant_id) where administrator and status = '0' and del_flag = '0';
alter table users enable row level security;
alter table users force row level security;
create policy own_tenant on users using (tenant_id = current_setting('banyan.tenant', true));
-- subtree_accounts() counts the users of a subtree as the owner of the tables; find_users() returns ids.
create policy owner_reads on users for select to current_user using (true);

-- Membership of users in departments. The rows of a deleted user are removed.
create table user_departments (
  tenant_id text not null,
  user_id   bigint not null,
  dept_id   bigint not null,
  main      boolean not null,                              -- true: the user's deptId; false: one of their deptIds
  primary key (tenant_id, user_id, dept_id),
  foreign key (tenant_id, user_id) references users,
  foreign key (tenant_id, dept_id) references departments
);
create unique index user_departments_main on user_departments (tenant_id, user_id) where main;
create index user_departments_dept on user_departments (tenant_id, dept_id, user_id);
alter table user_departments enable row level security;
alter table user_departments force row level security;
create policy own_tenant on user_departments using (tenant_id = current_setting('banyan.tenant', true));

-- Sessions and logins ---------------------------------------------------------------------------------------------------

-- A session begins with a login and is extended by refresh tokens. Its tokens are valid while this row exists.
create table sessions (
  tenant_id     text not null,
  session_id    uuid not null default gen_random_uuid(),
  user_id       bigint not null,
  refresh_hash  bytea not null,                            -- SHA-256 of the refresh token that is valid now
  previous_hash bytea,                                     -- SHA-256 of the one before, for browsers only
  next_salt     bytea,                                     -- derives the current refresh token from the previous one
  address       text not null,
  user_agent    text not null default '' check (char_length(user_agent) <= 500), -- as sent with the login
  create_time   timestamptz not null default now(),
  last_used     timestamptz not null default now(),        -- login or last refresh
  expires       timestamptz not null,
  primary key (tenant_id, session_id),
  foreign key (tenant_id, user_id) references users
);
create index sessions_user on sessions (tenant_id, user_id);
create index sessions_old on sessions (expires);
alter table sessions enable row level security;
alter table sessions force row level security;
create policy own_tenant on sessions using (tenant_id = current_setting('banyan.tenant', true));

create policy owner_reads on sessions for select to current_user using (true);

-- Failed logins by account and address. Unknown names are counted like known ones. Attempts in flight count too, so that
-- concurrent attempts on all nodes together stay within the limit. The service deletes expired rows in the background.
create table login_failures (
  tenant_id     text not null,
  user_key      text not null,                             -- login_name_hash: the name may be a password typed by mistake
  address       text not null,                             -- '': the failures from all addresses
  failures      int not null default 0,                    -- consecutive failures
  pending       int not null default 0,                    -- attempts in flight
  pending_until timestamptz not null default now(),        -- after this time, attempts in flight no longer count
  locked_until  timestamptz not null default '-infinity',  -- attempts before this time are rejected
  trusted_until timestamptz not null default '-infinity',  -- until then, this address is known to log in to this account
  last_failure  timestamptz not null default now(),        -- or the first attempt
  primary key (tenant_id, user_key, address)
);
create index login_failures_old on login_failures (tenant_id, greatest(last_failure, trusted_until));
create index login_failures_oldest on login_failures (greatest(last_failure, trusted_until));
alter table login_failures enable row level security;
alter table login_failures force row level security;
create policy own_tenant on login_failures using (tenant_id = current_setting('banyan.tenant', true));
create policy owner_reads on login_failures for select to current_user using (true);

-- The key of login_name_hash, which only the owner of the tables can read.
create table login_name_key (
  secret bytea not null check (octet_length(secret) = 32)
);
create unique index login_name_key_single on login_name_key ((true));
insert into login_name_key values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- Failed logins of an address over all tenants and accounts.
create table login_addresses (
  address       text primary key,
  failures      int not null default 0,                    -- failures in the current window
  window_start  timestamptz not null default now(),
  pending       int not null default 0,                    -- attempts in flight
  pending_until timestamptz not null default now()
);
create index login_addresses_old on login_addresses (window_start);

-- Token buckets that limit the requests of tenants and of API keys, shared by all nodes. Unlogged: after a crash every bucket
-- is full again.
create unlogged table request_buckets (
  tenant_id text not null,
  key_id    bigint not null,                               -- 0: the bucket of the tenant itself
  tokens    float8 not null,
  refilled  timestamptz not null,                          -- `tokens` is as of this time
  primary key (tenant_id, key_id)
);
alter table request_buckets enable row level security;
alter table request_buckets force row level security;
create policy own_tenant on request_buckets using (tenant_id = current_setting('banyan.tenant', true));

-- Ed25519 keys of access tokens. Other services verify tokens with the public keys, which /.well-known/jwks.json contains. A new
-- key is published there for an hour before it signs. The private key is stored in PKCS #8 form (RFC 8410).
create table signing_keys (
  key_id      uuid primary key default gen_random_uuid(),
  private_key bytea not null check (octet_length(private_key) = 48),
  create_time timestamptz not null default now()
);

-- API keys --------------------------------------------------------------------------------------------------------------

create sequence key_serial as bigint start 1001 maxvalue 9007199254740991;

-- API keys of programs. The key itself is shown once; only its hash is stored, in api_key_secrets.
create table api_keys (
  tenant_id           text not null references tenants,
  key_id              bigint not null default nextval('key_serial'),
  key_name            text not null check (char_length(key_name) between 1 and 100),
  prefix              text not null,                       -- the first characters of the newest secret, to tell keys apart
  permissions         text[] not null,                     -- see server/auth/permissions.ts
  below               boolean not null,                    -- whether the key may act in the tenants below its own
  addresses           cidr[] check (cardinality(addresses) > 0), -- networks from which it may be used; null: any
  requests_per_minute int check (requests_per_minute > 0), -- null: no limit
  status              text not null check (status in ('0', '1')), -- 0: enabled, 1: disabled
  expires             timestamptz,                         -- null: never
  del_flag            text not null default '0' check (del_flag in ('0', '2')), -- 0: exists, 2: deleted
  create_by           text not null,
  create_time         timestamptz not null default now(),
  update_by           text not null default '',
  update_time         timestamptz,                         -- null: never updated
  primary key (tenant_id, key_id)
);
create index api_keys_existing on api_keys (tenant_id, key_id) where del_flag = '0';
alter table api_keys enable row level security;
alter table api_keys force row level security;
create policy own_tenant on api_keys using (tenant_id = current_setting('banyan.tenant', true));
-- find_api_key() runs as the owner of the tables.
create policy owner_reads on api_keys for select to current_user using (true);

-- The secrets of keys. A key has one that does not expire by itself, and after a rotation former ones for a while. Those of a
-- deleted key are removed.
create table api_key_secrets (
  tenant_id text not null,
  key_id    bigint not null,
  secret_id bigint not null default nextval('key_serial'),
  hash      bytea not null check (octet_length(hash) = 32), -- SHA-256 of the whole key
  expires   timestamptz,                                    -- null: the newest, valid as long as the key
  primary key (tenant_id, key_id, secret_id),
  foreign key (tenant_id, key_id) references api_keys
);
create index api_key_secrets_hash on api_key_secrets (hash);
create unique index api_key_secrets_newest on api_key_secrets (tenant_id, key_id) where expires is null;
alter table api_key_secrets enable row level security;
alter table api_key_secrets force row level security;
create policy own_tenant on api_key_secrets using (tenant_id = current_setting('banyan.tenant', true));
create policy owner_reads on api_key_secrets for select to current_user using (true);

-- When and from where keys were last used, to the minute. A separate table: a use is not a change of the key.
create table api_key_uses (
  tenant_id text not null,
  key_id    bigint not null,
  time      timestamptz not null,
  address   text not null,
  primary key (tenant_id, key_id),
  foreign key (tenant_id, key_id) references api_keys
) with (fillfactor = 70);
alter table api_key_uses enable row level security;
alter table api_key_uses force row level security;
create policy own_tenant on api_key_uses using (tenant_id = current_setting('banyan.tenant', true));

-- Quotas ----------------------------------------------------------------------------------------------------------------

create sequence quota_serial as bigint start 1001 maxvalue 9007199254740991;
create sequence quota_use_serial as bigint start 1001 maxvalue 9007199254740991;

-- What administrators of the tenants above have set. The totals of the six quotas of QuotaBo are in tenants.quotas.
create table quotas (
  tenant_id   text not null references tenants,
  quota       text not null check (quota ~ '^[a-z][A-Za-z0-9]{0,49}$'),
  quota_id    bigint not null default nextval('quota_serial'), -- by which the ledger identifies it
  total       bigint check (total between -1 and 9007199254740991), -- -1: no limit; null: in tenants.quotas
  period      text not null check (period in ('none', 'day', 'month', 'year')), -- after which `used` starts at 0 again
  pooled      boolean not null,                            -- uses of the tenants below count against it too
  create_by   text not null,
  create_time timestamptz not null default now(),
  update_by   text not null default '',
  update_time timestamptz,                                 -- null: never updated
  primary key (tenant_id, quota)
);
alter table quotas enable row level security;
alter table quotas force row level security;
create policy own_tenant on quotas using (tenant_id = current_setting('banyan.tenant', true));
-- counters_to_lock() runs as the owner of the tables and looks for pools of the tenants above.
create policy owner_reads on quotas for select to current_user using (true);

-- What was used and is reserved. Each use locks the row. `reserved` includes reservations that have expired and were not
-- settled yet: lock_quota_counters() settles them, and reads subtract them.
create table quota_counters (
  tenant_id    text not null references tenants,
  quota        text not null,
  used         bigint not null default 0 check (used between 0 and 9007199254740991), -- in the period
  reserved     bigint not null default 0 check (reserved >= 0), -- the sum of quota_holds
  period_start timestamptz not null default '-infinity',   -- never goes back, even if the clock does
  resets       int not null default 0,                     -- how often a new period has set `used` to 0
  primary key (tenant_id, quota)
) with (fillfactor = 50);                                  -- room for HOT updates
alter table quota_counters enable row level security;
alter table quota_counters force row level security;
create policy own_tenant on quota_counters using (tenant_id = current_setting('banyan.tenant', true));
-- quotas_below() and usage_by_tenant() run as the owner of the tables and read the quotas of a subtree.
create policy owner_reads on quota_counters for select to current_user using (true);

-- The part of a counter that a reservation holds: one row in the tenant that reserved and one in each pool above it. Rows
-- change only under the lock of their counter.
create table quota_holds (
  tenant_id      text not null,
  quota          text not null,
  reservation_id bigint not null,
  amount         bigint not null check (amount > 0),
  expires        timestamptz not null,
  primary key (tenant_id, quota, reservation_id),
  foreign key (tenant_id, quota) references quota_counters
);
create index quota_holds_expiring on quota_holds (tenant_id, quota, expires);
alter table quota_holds enable row level security;
alter table quota_holds force row level security;
create policy own_tenant on quota_holds using (tenant_id = current_setting('banyan.tenant', true));
create policy owner_reads on quota_holds for select to current_user using (true);

create table quota_reservations (
  tenant_id       text not null,
  reservation_id  bigint not null,
  quota           text not null,
  amount          bigint not null check (amount > 0),
  subject         text check (char_length(subject) <= 200),
  time            timestamptz not null,
  expires         timestamptz not null,
  state           text not null default 'open' check (state in ('open', 'confirmed', 'released')), -- an open one has expired once `expires` has passed
  use_id          bigint,                                  -- the use that confirmed it
  user_id         bigint,
  key_id          bigint,
  actor_tenant_id text not null,                           -- tenant of the user or the key: this one or an ancestor
  pools           text[] not null,                         -- tenants above whose pools hold it too, wherever the tenant moves
  primary key (tenant_id, reservation_id),
  foreign key (tenant_id, quota) references quota_counters
);
create index quota_reservations_expired on quota_reservations (tenant_id, expires);
alter table quota_reservations enable row level security;
alter table quota_reservations force row level security;
create policy own_tenant on quota_reservations using (tenant_id = current_setting('banyan.tenant', true));

-- Every use. There are too many to record them in the ledger.
create table quota_uses (
  tenant_id       text not null,
  use_id          bigint not null,
  quota           text not null,
  amount          bigint not null check (amount > 0),
  subject         text check (char_length(subject) <= 200),
  time            timestamptz not null,
  day             date not null,                           -- of `time`, in the time zone that the service had at that time
  user_id         bigint,
  key_id          bigint,
  actor_tenant_id text not null,                           -- tenant of the user or the key: this one or an ancestor
  dept_id         bigint,                                  -- main department of the user at that time
  counted         jsonb not null,                          -- tenants whose counters have counted it, each with its `resets`
  refund_time     timestamptz,                             -- null: not refunded
  refund_by       text,
  primary key (tenant_id, use_id)
);
create index quota_uses_by_time on quota_uses (tenant_id, time, use_id);
alter table quota_uses enable row level security;
alter table quota_uses force row level security;
create policy own_tenant on quota_uses using (tenant_id = current_setting('banyan.tenant', true));

-- Uses older than BANYAN_LEDGER_DAYS. Only the owner of the tables writes here, so it can be copied and emptied.
create table quota_uses_archive (like quota_uses including defaults, primary key (tenant_id, use_id));
create index quota_uses_archive_by_time on quota_uses_archive (tenant_id, time, use_id);
alter table quota_uses_archive enable row level security;
alter table quota_uses_archive force row level security;
create policy own_tenant on quota_uses_archive using (tenant_id = current_setting('banyan.tenant', true));

-- Sums of the uses of a day that were not refunded, including archived ones. They change in the statement that inserts or refunds
-- uses, under the lock of the tenant's counter, so that two transactions never wait for each other here.
create table quota_sums (
  tenant_id  text not null,
  quota      text not null,
  day        date not null,                                -- as in quota_uses
  counted_by text[] not null,                              -- tenants whose counters have counted these uses, in order
  amount     bigint not null check (amount >= 0),
  uses       bigint not null check (uses >= 0),            -- 0: all of them were refunded
  primary key (tenant_id, quota, day, counted_by),
  foreign key (tenant_id, quota) references quota_counters
) with (fillfactor = 70);                                  -- room for HOT updates
alter table quota_sums enable row level security;
alter table quota_sums force row level security;
create policy own_tenant on quota_sums using (tenant_id = current_setting('banyan.tenant', true));
-- quotas_below() and usage_by_tenant() run as the owner of the tables.
create policy owner_reads on quota_sums for select to current_user using (true);

-- The same sums by caller. A separate table: sums of a day in total do not have to read a row for each caller.
create table quota_caller_sums (
  tenant_id       text not null,
  quota           text not null,
  day             date not null,
  user_id         bigint not null,                         -- 0: none, here and in the next two columns
  key_id          bigint not null,
  dept_id         bigint not null,
  actor_tenant_id text not null,
  amount          bigint not null check (amount >= 0),
  uses            bigint not null check (uses >= 0),
  primary key (tenant_id, quota, day, user_id, key_id, dept_id, actor_tenant_id),
  foreign key (tenant_id, quota) references quota_counters
) with (fillfactor = 70);
alter table quota_caller_sums enable row level security;
alter table quota_caller_sums force row level security;
create policy own_tenant on quota_caller_sums using (tenant_id = current_setting('banyan.tenant', true));

-- Notices ---------------------------------------------------------------------------------------------------------------

create sequence notice_serial as bigint start 1001 maxvalue 9007199254740991;

-- Warnings: a quota that is nearly or completely used, and a service period that ends soon. Each is recorded in the ledger. The
-- unique indexes allow each only once, on however many nodes. A new limit, period or end date is warned about again.
create table notices (
  tenant_id   text not null references tenants,
  notice_id   bigint not null default nextval('notice_serial'), -- by which the ledger identifies it
  quota       text,                                        -- null: the service period ends
  percent     int check (percent in (80, 100)),            -- share of the quota that was reached
  total       bigint,
  used        bigint,
  resets      int,                                         -- the period, as in quota_counters
  end_date    date,                                        -- last day of service
  days        int check (days in (30, 7, 1)),              -- at most this many are left
  create_time timestamptz not null default now(),
  primary key (tenant_id, notice_id),
  check (num_nonnulls(quota, percent, total, used, resets) in (0, 5)),
  check (num_nonnulls(end_date, days) = case when quota is null then 2 else 0 end)
);
create unique index notices_of_quota on notices (tenant_id, quota, resets, total, percent) where quota is not null;
create unique index notices_of_end on notices (tenant_id, end_date, days) where end_date is not null;
alter table notices enable row level security;
alter table notices force row level security;
create policy own_tenant on notices using (tenant_id = current_setting('banyan.tenant', true));
-- tenants_to_warn() runs as the owner of the tables.
create policy owner_reads on notices for select to current_user using (true);

-- Imports ---------------------------------------------------------------------------------------------------------------

-- What the last import from another system read, so that the next one changes only what has changed there since. The records
-- themselves hold their ids in the other system.
create table imported_records (
  tenant_id   text not null references tenants,
  source      text not null,
  kind        text not null check (kind in ('department', 'user')),
  external_id text not null,
  imported_values jsonb not null,                          -- the values as they were imported; of a password, only a digest
  primary key (tenant_id, source, kind, external_id)
);
alter table imported_records enable row level security;
alter table imported_records force row level security;
create policy own_tenant on imported_records using (tenant_id = current_setting('banyan.tenant', true));

-- The tenants that an import has created. Tenants have no external ids, and their codes may differ from those elsewhere.
create table imported_tenants (
  tenant_id   text not null references tenants,            -- the tenant below which they were created
  source      text not null,
  external_id text not null,                               -- the code in the other system
  child_code  text not null,                               -- the tenant that was created
  child_id    bigint not null,                             -- its internal id
  imported_values jsonb not null,
  primary key (tenant_id, source, external_id)
);
alter table imported_tenants enable row level security;
alter table imported_tenants force row level security;
create policy own_tenant on imported_tenants using (tenant_id = current_setting('banyan.tenant', true));

-- Idempotency -----------------------------------------------------------------------------------------------------------

-- Outcomes of requests with an Idempotency-Key, kept for a day.
create table idempotency_keys (
  tenant_id   text not null,
  user_id     bigint not null,                             -- 0: an API key sent the request
  key_id      bigint not null default 0,                   -- 0: a user sent the request
  key         text not null check (char_length(key) between 1 and 255),
  fingerprint bytea not null,                              -- hash of the request; a different request with this key fails
  result      json,                                        -- return value of the operation; json keeps the order of fields
  error       json,                                        -- code and details of its error, if it failed
  create_time timestamptz not null default now(),
  primary key (tenant_id, user_id, key_id, key),
  check ((user_id = 0) <> (key_id = 0))
);
create index idempotency_keys_old on idempotency_keys (tenant_id, create_time);
alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
create policy own_tenant on idempotency_keys using (tenant_id = current_setting('banyan.tenant', true));

-- Ledger ----------------------------------------------------------------------------------------------------------------

-- Every write of a department, tenant, user, webhook, API key, quota or notice, and every login, leaves a row in `changes`.
-- Triggers write it in the same transaction, so no statement can skip it; only logins and ended sessions are recorded by the
-- service itself (server/auth). The audit log, the change feed, webhooks, history and revert read it.
-- The setting banyan.origin identifies the caller (db/tenant-scope.ts).

create sequence change_serial as bigint maxvalue 9007199254740991;

create table changes (
  tenant_id       text not null,
  change_id       bigint not null,
  batch           bigint not null,               -- the same for all changes of one request
  time            timestamptz not null,          -- the same for all changes of one request
  actor_name      text not null,                 -- user name or `key 1001: name`, as in create_by and update_by
  actor_user_id   bigint,                        -- null: an API key, or the service itself
  actor_key_id    bigint,                        -- the API key that made the change; null: a user, or the service itself
  actor_tenant_id text,                          -- tenant of the actor: this one or an ancestor
  address         text,                          -- IP address of the request
  request_id      text,
  resource        text not null,                 -- department, tenant, user, login, webhook, key, quota, notice
  resource_id     bigint not null,
  action          text not null,                 -- created, updated, moved, deleted, restored; see server/ledger/schema.ts
  parent_id       bigint,                        -- new parent of a department, if this change set it; 0: top level
  is_copy         boolean not null default false,-- a descendant's change, in the ledger of an ancestor
  before          jsonb,                         -- the row before, keyed by column name, times in UTC; null: did not exist
  after           jsonb,                         -- the row after; null: does not exist any more
  before_hash     bytea,                         -- of a tenant's change, instead of before and after:
  after_hash      bytea,                         --   keys of tenant_versions
  primary key (tenant_id, change_id),
  check (resource <> 'tenant' or (before is null and after is null))
);
-- The time is in the index so that a read of the past skips later changes without visiting the table.
create index changes_of_resource on changes (tenant_id, resource, resource_id, change_id, time);
create index changes_of_children on changes (tenant_id, parent_id, resource_id) where parent_id is not null;
-- Changes of one request share their time, so this index also finds a batch.
create index changes_by_time on changes (tenant_id, time, change_id);
-- Finds the next change after which paths of departments may differ.
create index changes_of_paths on changes (tenant_id, change_id)
  where resource = 'department' and action in ('moved', 'restored');
-- Finds deleted records.
create index changes_deleted on changes (tenant_id, resource, change_id) where action = 'deleted';
-- Find the changes that refer to a version of a tenant.
create index changes_before_hash on changes (before_hash) where before_hash is not null;
create index changes_after_hash on changes (after_hash) where after_hash is not null;
alter table changes enable row level security;
alter table changes force row level security;
create policy own_tenant on changes using (tenant_id = current_setting('banyan.tenant', true));
-- For reads that include the tenants below. Other reads compare the setting only and do not call the function for each row.
create policy descendants on changes for select
  using (current_setting('banyan.below', true) = 'on' and is_readable_descendant(tenant_id));
-- tenant_version() and archiving (server/ledger/archive.ts) run as the owner of the tables and look for references in all ledgers.
create policy owner_reads on changes for select to current_user using (true);

-- Each version of a tenant's record, stored once. The ledgers of the tenant and of all its ancestors refer to it by its
-- hash, so the hash chains cover it too. A record may be half a megabyte large, and a tenant may have dozens of ancestors.
-- Ancestors read it with tenant_version(). The path is left out: it follows from the parents.
create table tenant_versions (
  tenant_id text not null,
  hash      bytea not null,                      -- SHA-256 of the text of `record`
  record    jsonb not null,                      -- the row, keyed by column name, times in UTC
  primary key (tenant_id, hash)
);
alter table tenant_versions enable row level security;
alter table tenant_versions force row level security;
create policy own_tenant on tenant_versions using (tenant_id = current_setting('banyan.tenant', true));
create policy owner_reads on tenant_versions for select to current_user using (true);

-- The published order of a tenant's changes, and the hash chain that reveals a change that was altered, removed or
-- reordered. Sealing follows the commit, so that writers do not wait for each other: change ids are assigned before the
-- commit and become visible in any order; seq is assigned to visible changes, under a lock, without gaps.
create table seals (
  tenant_id text not null,
  seq       bigint not null,
  change_id bigint not null,
  hash      bytea not null,                      -- SHA-256 of the previous hash and change_hash_input()
  archived  boolean not null default false,      -- the change was moved to changes_archive, which may have been emptied
  primary key (tenant_id, seq),
  unique (tenant_id, change_id)
);
alter table seals enable row level security;
alter table seals force row level security;
create policy own_tenant on seals using (tenant_id = current_setting('banyan.tenant', true));

-- The last seal of each tenant. Sealing locks this row.
create table seal_heads (
  tenant_id text primary key,
  seq       bigint not null,
  hash      bytea not null
);
alter table seal_heads enable row level security;
alter table seal_heads force row level security;
create policy own_tenant on seal_heads using (tenant_id = current_setting('banyan.tenant', true));
create policy owner_reads on seal_heads for select to current_user using (true);

-- Changes without a seal.
create table unsealed_changes (
  tenant_id text not null,
  change_id bigint not null,
  primary key (tenant_id, change_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
alter table unsealed_changes enable row level security;
alter table unsealed_changes force row level security;
create policy own_tenant on unsealed_changes using (tenant_id = current_setting('banyan.tenant', true));
create policy owner_reads on unsealed_changes for select to current_user using (true);

-- The order of the changes of all tenants, for readers of a whole subtree; order_changes() assigns positions to committed
-- changes. Logins and changes of webhooks and API keys are left out, as in the feed of one tenant. Copies in the ledgers of
-- ancestors are left out too, except those of tenants that leave a subtree, or join one along with their parent: no other ledger
-- in that subtree has the change. The setting banyan.ordering lets the functions that maintain the order write rows of all
-- tenants, and nobody else.
create table change_positions (
  tenant_id text not null,                       -- whose ledger has the change
  position  bigint not null,
  change_id bigint not null,
  is_copy   boolean not null,                    -- only for readers of exactly this ledger's subtree
  primary key (tenant_id, position)
);
create index change_positions_order on change_positions (position);
alter table change_positions enable row level security;
alter table change_positions force row level security;
create policy own_tenant on change_positions using (tenant_id = current_setting('banyan.tenant', true));
create policy descendants on change_positions for select
  using (current_setting('banyan.below', true) = 'on' and is_readable_descendant(tenant_id));
create policy owner_reads on change_positions for select to current_user using (true);
create policy owner_orders on change_positions to current_user using (current_setting('banyan.ordering', true) = 'on');

-- Changes without a position.
create table unordered_changes (
  tenant_id text not null,
  change_id bigint not null,
  is_copy   boolean not null,
  primary key (tenant_id, change_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
alter table unordered_changes enable row level security;
alter table unordered_changes force row level security;
create policy own_tenant on unordered_changes using (tenant_id = current_setting('banyan.tenant', true));
create policy owner_reads on unordered_changes for select to current_user using (true);
create policy owner_orders on unordered_changes to current_user using (current_setting('banyan.ordering', true) = 'on');

-- A single row: the last position. Assigning positions locks it.
create table change_order (
  only_row boolean primary key default true check (only_row),
  position bigint not null default 0
);
insert into change_order default values;

-- Logins and superseded changes older than BANYAN_LEDGER_DAYS. Only the owner of the tables writes here (server/ledger), so
-- this table can be copied and emptied while the service runs.
create table changes_archive (like changes including defaults, primary key (tenant_id, change_id));
create index changes_archive_of_resource on changes_archive (tenant_id, resource, resource_id, change_id);
create index changes_archive_of_paths on changes_archive (tenant_id, change_id)
  where resource = 'department' and action in ('moved', 'restored');
alter table changes_archive enable row level security;
alter table changes_archive force row level security;
create policy own_tenant on changes_archive using (tenant_id = current_setting('banyan.tenant', true));
create policy descendants on changes_archive for select
  using (current_setting('banyan.below', true) = 'on' and is_readable_descendant(tenant_id));

-- Versions of tenants to which only archived changes refer. Can be copied and emptied together with changes_archive.
create table tenant_versions_archive (like tenant_versions including defaults, primary key (tenant_id, hash));
alter table tenant_versions_archive enable row level security;
alter table tenant_versions_archive force row level security;
create policy own_tenant on tenant_versions_archive using (tenant_id = current_setting('banyan.tenant', true));
create policy owner_reads on tenant_versions_archive for select to current_user using (true);

-- A single row. All ledgers are complete from `complete_from` on; null: nothing was ever archived.
create table ledger_retention (
  only_row      boolean primary key default true check (only_row),
  complete_from timestamptz
);
insert into ledger_retention default values;

create trigger record_inserts after insert on departments
  referencing new table as new_rows for each statement execute function record_department_inserts();
create trigger record_updates after update on departments
  referencing old table as old_rows new table as new_rows for each statement execute function record_department_updates();
create trigger record_insert after insert on tenants for each row execute function record_tenant_change();
create trigger record_update after update on tenants for each row
  when (to_jsonb(old) - 'tree_version' is distinct from to_jsonb(new) - 'tree_version')
  execute function record_tenant_change();
-- Several statements write a user and their departments. The change is recorded once, at the commit.
create constraint trigger record_change after insert or update on users
  deferrable initially deferred for each row execute function record_user_change();

-- Webhooks --------------------------------------------------------------------------------------------------------------

create sequence webhook_serial as bigint start 1001 maxvalue 9007199254740991;
create sequence delivery_serial as bigint start 100001 maxvalue 9007199254740991;

-- Each webhook has a position: in the ledger of its tenant, or in the order of all changes if it receives those of the tenants
-- below too. Changes beyond it have not been queued yet.
create table webhooks (
  tenant_id        text not null references tenants (tenant_id),
  webhook_id       bigint not null default nextval('webhook_serial'),
  name             text not null,
  url              text not null,
  kinds            text[] not null,                -- department.created, department.*, *
  below            boolean not null default false, -- also receives the changes of all tenants below; never changes
  status           text not null check (status in ('0', '1')), -- 0: enabled, 1: disabled
  gone             boolean not null default false, -- disabled because the receiver responded 410 Gone
  del_flag         text not null default '0' check (del_flag in ('0', '2')), -- 2: deleted; the row is removed after its deliveries
  secret           bytea not null,                 -- signs messages, so it is not hashed; empty once deleted
  old_secret       bytea,                          -- also signs, until old_secret_until
  old_secret_until timestamptz,
  seq              bigint not null,                -- changes up to this position were queued or did not match
  waiting          int not null default 0,         -- number of pending deliveries
  failures         int not null default 0,         -- consecutive failed attempts
  paused_until     timestamptz,                    -- no attempts before this time; set after repeated failures
  next_due         timestamptz,                    -- when there is work: the next attempt, or changes beyond seq; null: none
  lease_id         uuid,                           -- lease of the worker that processes it; null: none
  lease_until      timestamptz not null default '-infinity', -- end of the lease
  create_by        text not null,
  create_time      timestamptz not null default now(),
  update_by        text not null default '',
  update_time      timestamptz,
  primary key (tenant_id, webhook_id),
  check (cardinality(kinds) > 0)
) with (fillfactor = 70);                          -- room for HOT updates: the position changes often and is not indexed
-- The dispatcher looks for work twice a second, and must not visit webhooks that have none.
create index webhooks_due on webhooks (next_due) where status = '0' and del_flag = '0';
create index webhooks_below on webhooks (tenant_id) where below;
create index webhooks_deleted on webhooks (tenant_id, webhook_id) where del_flag <> '0';
alter table webhooks enable row level security;
alter table webhooks force row level security;
create policy own_tenant on webhooks using (tenant_id = current_setting('banyan.tenant', true));
create policy owner_reads on webhooks for select to current_user using (true);
-- mark_subtree_webhooks_due() runs as the owner of the tables.
create policy owner_marks on webhooks for update to current_user using (current_setting('banyan.ordering', true) = 'on');

-- A single row: up to this position, the webhooks that receive the changes of the tenants below have been marked as due.
create table webhook_subtree_marks (
  only_row boolean primary key default true check (only_row),
  position bigint not null default 0
);
insert into webhook_subtree_marks default values;

create table webhook_deliveries (
  tenant_id   text not null,
  webhook_id  bigint not null,
  delivery_id bigint not null,
  ledger      text,                            -- the descendant whose ledger has the change; null: the webhook's tenant
  change_id   bigint,                          -- null: a test message
  type        text not null,                   -- department.created
  resource    text not null,
  resource_id bigint not null,
  state       text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
  attempts    int not null default 0,          -- since it was queued or last resent
  time        timestamptz not null default now(), -- when it was queued
  retry_until timestamptz not null,            -- no attempt after this time
  next_try    timestamptz,                     -- infinity: an earlier delivery of the same record is pending
  last_time   timestamptz,                     -- last attempt, with its outcome:
  last_ms     int,                             --   duration
  last_status int,                             --   HTTP status; null: no response
  last_answer text,                            --   first bytes of the response
  last_error  text,                            --   why there was no response
  primary key (tenant_id, webhook_id, delivery_id),
  foreign key (tenant_id, webhook_id) references webhooks (tenant_id, webhook_id),
  check ((state = 'waiting') = (next_try is not null))
);
create index deliveries_due on webhook_deliveries (tenant_id, webhook_id, next_try, delivery_id) where state = 'waiting';
create index deliveries_of_resource on webhook_deliveries (tenant_id, webhook_id, resource, resource_id, delivery_id)
  where state = 'waiting';
alter table webhook_deliveries enable row level security;
alter table webhook_deliveries force row level security;
create policy own_tenant on webhook_deliveries using (tenant_id = current_setting('banyan.tenant', true));
-- Archiving runs as the owner of the tables and looks for deliveries to webhooks of ancestors.
create policy owner_reads on webhook_deliveries for select to current_user using (true);

create trigger mark_webhooks_due after update on seal_heads for each row when (new.seq > old.seq)
  execute function mark_webhooks_due();

create trigger record_insert after insert on webhooks for each row execute function record_webhook_change();
create trigger record_update after update on webhooks for each row
  when ((old.name, old.url, old.kinds, old.status, old.del_flag, old.secret)
    is distinct from (new.name, new.url, new.kinds, new.status, new.del_flag, new.secret))
  execute function record_webhook_change();

create trigger record_insert after insert on api_keys for each row execute function record_key_change();
create trigger record_update after update on api_keys for each row execute function record_key_change();

create trigger record_insert after insert on notices for each row execute function record_notice();

create trigger record_insert after insert on quotas for each row execute function record_quota_change();
create trigger record_update after update on quotas for each row
  when ((old.total, old.period, old.pooled) is distinct from (new.total, new.period, new.pooled))
  execute function record_quota_change();
