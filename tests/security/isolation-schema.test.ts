import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPermissionDenied, isRowSecurityOff, startIsolation } from './isolation.ts';

/** How tables, keys, functions and the role of the service are set up, so that the database separates tenants. */

const { superuser, role, connection, tables, names } = await startIsolation();

test('every table with a tenant_id has forced row-level security and a policy', () => {
  assert.ok(names.length >= 6, names.join());
  for (const { name, enabled, forced, policies } of tables) {
    assert.deepEqual([enabled, forced, policies > 0], [true, true, true], name);
  }
});

test('only known tables have no tenant_id', async () => {
  // The list is explicit so that the author of a new table considers whether its rows belong to a tenant.
  const rows = await superuser<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'banyan' and not tablename = any(${names}) order by 1`;
  assert.deepEqual(
    rows.map(({ name }) => name),
    [
      'change_order',
      'functions',
      'ledger_retention',
      'login_addresses',
      'login_name_key',
      'migrations',
      'service_login',
      'signing_keys',
      'tenant_tree_lock',
      'webhook_subtree_marks',
    ],
  );
});

test('all views are security_invoker', async () => {
  const views = await superuser`
    select relname from pg_class where relnamespace = 'banyan'::regnamespace and relkind in ('v', 'm')
      and not coalesce('security_invoker=true' = any(reloptions), false)`;
  assert.deepEqual([...views], []);
});

test('every primary and foreign key starts with tenant_id, so that no row can refer to another tenant', async () => {
  const keys = await superuser<{ key: string; first: string }[]>`
    select t.relname || ' ' || c.conname as key, a.attname as first
    from pg_constraint c
    join pg_class t on t.oid = c.conrelid
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype in ('p', 'f') and t.relnamespace = 'banyan'::regnamespace and t.relname = any(${names})
      and t.relname <> 'tenants'`;
  assert.ok(keys.length >= 10);
  for (const { key, first } of keys) assert.equal(first, 'tenant_id', key);
});

test('the role of the service owns nothing and cannot bypass row-level security', async () => {
  const [{ oid }] = await superuser<[{ oid: string }]>`
    select oid::text from pg_database where datname = current_database()`;
  assert.equal(role, `banyan_service_${oid}`);
  const [rights] = await superuser`
    select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication from pg_roles where rolname = ${role}`;
  assert.deepEqual(
    { ...rights },
    { rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false, rolreplication: false },
  );
  const owned = await superuser`
    select classid::regclass::text, objid::text from pg_shdepend
    where deptype = 'o' and refobjid = (select oid from pg_roles where rolname = ${role})`;
  assert.deepEqual([...owned], []);
  const memberships = await superuser`
    select roleid::regrole::text from pg_auth_members where member = (select oid from pg_roles where rolname = ${role})`;
  assert.deepEqual([...memberships], []);
});

test('only known functions are security definer, and none is executable by public', async () => {
  const functions = await superuser<{ name: string; public: boolean; path: string }[]>`
    select proname as name, has_function_privilege('public', oid, 'execute') as public,
      (select setting from unnest(proconfig) setting where setting like 'search_path=%') as path
    from pg_proc where pronamespace = 'banyan'::regnamespace and prosecdef order by 1`;
  // pg_temp comes last, or temporary tables of the caller would take precedence over the real ones.
  const path = 'search_path=banyan, pg_temp';
  assert.deepEqual(
    [...functions],
    [
      { name: 'counters_to_lock', public: false, path },
      { name: 'due_webhooks', public: false, path },
      { name: 'find_api_key', public: false, path },
      { name: 'find_departments', public: false, path },
      { name: 'find_tenants', public: false, path },
      { name: 'find_users', public: false, path },
      { name: 'has_unordered_changes', public: false, path },
      { name: 'login_name_hash', public: false, path },
      { name: 'mark_subtree_webhooks_due', public: false, path },
      { name: 'order_changes', public: false, path },
      { name: 'pooled_quotas_above', public: false, path },
      { name: 'quotas_below', public: false, path },
      { name: 'search_departments', public: false, path },
      { name: 'service_figures', public: false, path },
      { name: 'subtree_accounts', public: false, path },
      { name: 'subtrees_with_new_changes', public: false, path },
      { name: 'tenant_state', public: false, path },
      { name: 'tenant_version', public: false, path },
      { name: 'tenants_to_warn', public: false, path },
      { name: 'tenants_with_expired_logins', public: false, path },
      { name: 'tenants_with_new_changes', public: false, path },
      { name: 'tenants_with_unsealed_changes', public: false, path },
      { name: 'top_level_tenants', public: false, path },
      { name: 'usage_by_tenant', public: false, path },
    ],
  );
});

test('the role of the service cannot become the owner or change objects of the owner', async () => {
  const attempts = [
    'set role test_owner',
    'set role postgres',
    'set session authorization test_owner',
    'alter table departments disable row level security',
    'alter table departments no force row level security',
    'alter table departments owner to current_user',
    'drop policy own_tenant on departments',
    'create policy open on departments using (true)',
    'create function banyan.f() returns int language sql as $$ select 1 $$',
    'create table banyan.t (a int)',
    'truncate departments',
    'update migrations set checksum = checksum',
    'update signing_keys set private_key = private_key',
    'delete from signing_keys',
    'select from service_login',
    'delete from tenants',
    'delete from departments',
    'delete from users',
  ];
  for (const statement of attempts) await assert.rejects(connection.unsafe(statement), isPermissionDenied, statement);
  await connection`set row_security = off`;
  await assert.rejects(connection`select from departments`, isRowSecurityOff);
  await connection`reset row_security`;
});
