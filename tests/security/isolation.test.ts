import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { connectOwner, type Sql, type Tx } from '../../db/driver.ts';
import { readServiceLogin } from '../../db/roles.ts';
import { readInTenant, writeInTenant } from '../../db/tenant-scope.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { scale } from '../support/scale.ts';
import { PASSWORD, startService } from '../support/service.ts';
import { insertDelivery } from './cross-tenant.ts';

/** The second layer of isolation: the database separates tenants, whatever the code sends. */

const service = await startService();
const { superuser } = service;

const { username: role, password } = (await readServiceLogin(superuser)) as { username: string; password: string };
const address = new URL(service.databaseUrl);
address.username = role;
address.password = password;
/** A single connection with the role of the service, so that a transaction would see what an earlier one left behind. */
const connection = connectOwner({ url: address.href });
after(() => connection.end());

const tables = await superuser<{ name: string; enabled: boolean; forced: boolean; policies: number }[]>`
  select c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced,
    (select count(*) from pg_policy p where p.polrelid = c.oid) as policies
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
  where c.relnamespace = 'banyan'::regnamespace and c.relkind in ('r', 'p') order by 1`;
const names = tables.map(({ name }) => name);

/** Two sibling tenants with a row in every table, and a tenant below the first. */
const [mine, other] = [await service.createTenant(), await service.createTenant()];
const below = await service.createTenant({}, mine);
for (const admin of [mine, other]) {
  const dept = await admin.createDepartment();
  await admin.put('/system/dept-api', { deptId: dept }, { headers: { 'idempotency-key': 'the same' } });
  // A move to a lower level measures the tree.
  await admin.put('/system/dept-api', { deptId: await admin.createDepartment(), parentId: dept });
  await admin.createUser({ userName: 'anna', deptId: dept });
  const webhook = await admin.create('/system/webhook-api', { url: 'https://93.184.216.34/', status: '1' });
  await insertDelivery(superuser, admin.tenantId, webhook);
  const key = await admin.create('/system/key-api', { keyName: 'key', permissions: ['dept:read'] });
  await superuser`select banyan.record_key_uses(${[admin.tenantId]}, ${[key]}::bigint[], ${['127.0.0.1']})`;
  await superuser`select from banyan.take_request_tokens(${admin.tenantId}, 0, 1, 1, 5)`;
  await service.root.put(`/system/quota-api/calls?tenantId=${admin.tenantId}`, { total: 9, pooled: true });
  // More than 80 %, so that there is a notice.
  await admin.post('/system/quota-api/consume', { quota: 'calls', amount: 8 });
  await admin.post('/system/quota-api/reserve', { quota: 'calls', seconds: 86_400 });
  await superuser`insert into banyan.imported_records values (${admin.tenantId}, 'ruoyi', 'user', '1', '{}')`;
  await superuser`insert into banyan.imported_tenants values (${admin.tenantId}, 'ruoyi', '1', '123456', 1, '{}')`;
}
const A = mine.tenantId;
const B = other.tenantId;
// Sealing soon deletes the rows of unsealed_changes. These two stay, because the service may no longer delete any.
await superuser`revoke delete on banyan.unsealed_changes from ${superuser(role)}`;
for (const tenantId of [A, B]) await superuser`insert into banyan.unsealed_changes values (${tenantId}, 0)`;
// The same for unordered_changes: the service may no longer put changes in order, once those until now are.
await superuser`select banyan.order_changes(1000)`;
await superuser`revoke execute on function banyan.order_changes from ${superuser(role)}`;
for (const tenantId of [A, B]) await superuser`insert into banyan.unordered_changes values (${tenantId}, 0, false)`;
await superuser`insert into banyan.changes_archive select * from banyan.changes`;
await superuser`insert into banyan.quota_uses_archive select * from banyan.quota_uses`;
await superuser`insert into banyan.tenant_versions_archive select * from banyan.tenant_versions`;

const setTenant = (tx: Tx, tenantId: string) => tx`select set_config('banyan.tenant', ${tenantId}, true)`;
const inTenant = <T>(tenantId: string, work: (tx: Tx) => Promise<T>) =>
  connection.begin(async (tx) => {
    await setTenant(tx, tenantId);
    return work(tx);
  });
const codesIn = async (sql: Sql | Tx, table: string): Promise<string[]> => {
  const rows = await sql<{ code: string }[]>`select distinct tenant_id as code from ${sql(table)} order by 1`;
  return rows.map(({ code }) => code);
};
const isError = (code: string, message: RegExp) => (error: { code?: string; message: string }) =>
  error.code === code && message.test(error.message);
const isPolicyViolation = isError('42501', /row-level security/);
const isPermissionDenied = isError('42501', /permission denied|must be owner/);

test('every table with a tenant_id has forced row security and a policy', () => {
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

test('the role of the service owns nothing and cannot bypass row security', async () => {
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
      { name: 'has_unordered_changes', public: false, path },
      { name: 'login_name_hash', public: false, path },
      { name: 'mark_subtree_webhooks_due', public: false, path },
      { name: 'order_changes', public: false, path },
      { name: 'pooled_quotas_above', public: false, path },
      { name: 'quotas_below', public: false, path },
      { name: 'search_departments', public: false, path },
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

test('a version of a tenant is shown only through a change in a ledger that the transaction may read', async () => {
  const [theirs, own] = (await Promise.all(
    [B, A].map(async (code) => {
      const [row] = await superuser`
        select change_id, after_hash from banyan.changes
        where tenant_id = ${code} and resource = 'tenant' and action = 'created' and not is_copy`;
      return row;
    }),
  )) as [{ change_id: number; after_hash: Buffer }, { change_id: number; after_hash: Buffer }];
  const read = async (code: string, ledger: string, change: number, hash: Buffer) => {
    const [row] = await inTenant(
      code,
      (tx) => tx`select banyan.tenant_version(${ledger}, ${change}, ${hash}) as record`,
    );
    return row?.record?.tenant_id;
  };
  assert.equal(await read(A, A, own.change_id, own.after_hash), A);
  assert.equal(await read(A, B, theirs.change_id, theirs.after_hash), undefined);
  assert.equal(await read(A, A, own.change_id, theirs.after_hash), undefined);
});

test('security definer functions read the real tables, not temporary ones of the caller', async () => {
  // PostgreSQL searches the temporary tables of the caller first, unless the function sets its own search_path.
  const result = await inTenant(A, async (tx) => {
    await tx.unsafe(`
      create temporary table tenants on commit drop as
        select 'x'::text as tenant_id, array['x'] as path, '2'::text as del_flag, '0'::text as status,
          null::date as start_date, null::date as end_date;
      create temporary table departments on commit drop as
        select '${A}'::text as tenant_id, 7::bigint as dept_id, 'forged'::text as dept_name, null::text as leader,
          '0'::text as del_flag;
      grant select on pg_temp.tenants, pg_temp.departments to public`);
    const [row] = await tx<[{ forged: string; real: string; found: number }]>`
      select banyan.tenant_state('x') as forged, banyan.tenant_state(${A}) as real,
        (select count(*) from banyan.search_departments('forged', null, 9)) as found`;
    return { ...row };
  });
  assert.deepEqual(result, { forged: 'unknown', real: 'in service', found: 0 });
});

test('functions that look at the tenants above or below answer only for the current tenant', async () => {
  const ask = (current: string, code: string) =>
    inTenant(current, async (tx) => {
      const [row] = await tx<[{ accounts: number; counters: number; pools: number }]>`
        select banyan.subtree_accounts(${code}) as accounts,
          (select count(*) from banyan.counters_to_lock(${code}, array['calls'], null)) as counters,
          (select count(*) from banyan.pooled_quotas_above(${code})) as pools`;
      return { ...row };
    });
  assert.deepEqual(await ask(below.tenantId, below.tenantId), { accounts: 1, counters: 2, pools: 1 });
  for (const [current, code] of [
    [B, A],
    [A, below.tenantId],
    [below.tenantId, A],
    ['', A],
  ] as const)
    assert.deepEqual(await ask(current, code), { accounts: 0, counters: 0, pools: 0 }, `${current} ${code}`);
});

test('functions that list uses of the tenants below answer only for the current tenant', async () => {
  const ask = (current: string, code: string) =>
    inTenant(current, async (tx) => {
      const [row] = await tx<[{ quotas: number; sums: number }]>`
        select (select count(*) from banyan.quotas_below(${code}, now(), 9)) as quotas,
          (select count(*) from banyan.usage_by_tenant(${code}, 'calls', null, null, 'YYYY')) as sums`;
      return { ...row };
    });
  assert.deepEqual(await ask('000000', '000000'), { quotas: 2, sums: 0 });
  assert.deepEqual(await ask(A, A), { quotas: 0, sums: 1 });
  for (const [current, code] of [
    [B, A],
    [A, '000000'],
    [below.tenantId, A],
    ['', A],
    ['', '000000'],
  ] as const)
    assert.deepEqual(await ask(current, code), { quotas: 0, sums: 0 }, `${current} ${code}`);
});

test('search_departments returns only ids of the current tenant', async () => {
  for (const admin of [mine, other, below]) await admin.createDepartment({ deptName: '榕树', leader: '张三' });
  const all = await superuser<{ id: string; code: string }[]>`
    select dept_id::text as id, tenant_id as code from departments where dept_name = '榕树'`;
  assert.equal(all.length, 3);
  const found = (tx: Sql | Tx, name: string | null, leader: string | null) => tx<{ id: string }[]>`
    select id::text from search_departments(${name}, ${leader}, 100) as f (id)`;
  for (const code of [A, B, below.tenantId]) {
    const own = all.filter((row) => row.code === code).map(({ id }) => ({ id }));
    for (const [name, leader] of [
      ['榕', null],
      ['榕树', null],
      [null, '三'],
      ['树', '张三'],
    ] as const) {
      assert.deepEqual([...(await inTenant(code, (tx) => found(tx, name, leader)))], own, `${name} ${leader}`);
    }
    assert.deepEqual([...(await inTenant(code, (tx) => found(tx, null, null)))], [], 'an empty search');
    assert.deepEqual([...(await inTenant(code, (tx) => found(tx, '', '')))], [], 'an empty search');
  }
  // Without a tenant, or with an invalid one, nothing is found.
  assert.deepEqual([...(await found(connection, '榕', null))], []);
  for (const code of ['', '%', `${A}n`, '000000']) {
    assert.deepEqual([...(await inTenant(code, (tx) => found(tx, '榕', null)))], [], code);
  }
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
const isRowSecurityOff = isError('42501', /query would be affected by row-level security/);

test('no rows are visible without a current tenant', async () => {
  for (const name of names) {
    const all = await codesIn(superuser, name);
    assert.ok(all.includes(A) && all.includes(B), `${name} must have rows of both tenants`);
    assert.deepEqual(await codesIn(connection, name), [], name);
    assert.deepEqual(await inTenant('', (tx) => codesIn(tx, name)), [], `${name}, empty code`);
    assert.deepEqual(await inTenant('%', (tx) => codesIn(tx, name)), [], `${name}, a pattern`);
  }
});

test('only rows of the current tenant are visible, and in tenants also those below it', async () => {
  for (const name of names) {
    const expected = name === 'tenants' ? [A, below.tenantId].sort() : [A];
    assert.deepEqual(await inTenant(A, (tx) => codesIn(tx, name)), expected, name);
  }
  const tenants = await inTenant('000000', (tx) => codesIn(tx, 'tenants'));
  assert.deepEqual(tenants, ['000000', A, B, below.tenantId].sort());
});

test('the current tenant is reset at the end of its transaction, committed or not', async () => {
  const count = async () => (await codesIn(connection, 'departments')).length;
  await inTenant(A, async (tx) => assert.equal((await codesIn(tx, 'departments')).length, 1));
  assert.equal(await count(), 0);
  const undo = new Error('undo');
  await assert.rejects(
    inTenant(A, () => Promise.reject(undo)),
    undo,
  );
  assert.equal(await count(), 0);
});

test('readInTenant and writeInTenant leave no current tenant on the connection', async () => {
  const config = { databaseUrl: address.href, dataDir: '', timeZone: 'UTC', connections: 1, timing: NO_DEADLINES };
  const db = await openDatabase(config);
  after(() => db.close());
  for (const runInTenant of [readInTenant, writeInTenant]) {
    const codes = await runInTenant(db, A, async (tx) => codesIn(tx, 'departments'));
    assert.deepEqual(codes, [A]);
    assert.deepEqual(await db.use((sql) => codesIn(sql, 'departments')), []);
  }
  await assert.rejects(
    readInTenant(db, A, async (tx) => tx`delete from sessions`),
    /read-only/,
  );
  await db.close();
});

test('rows of another tenant cannot be written, and own rows cannot be moved to it', async () => {
  // Only the owner can write to the archive, and only a function of the owner assigns positions.
  for (const name of names.filter((name) => !name.endsWith('_archive') && name !== 'change_positions')) {
    const [row] = await superuser<[{ json: never }]>`
      select to_jsonb(t) as json from ${superuser(name)} t where tenant_id = ${B} limit 1`;
    await assert.rejects(
      inTenant(
        A,
        (tx) => tx`
        insert into ${tx(name)} select * from jsonb_populate_record(null::${tx(name)}, ${tx.json(row.json)})`,
      ),
      isPolicyViolation,
      `insert into ${name}`,
    );
    // Rows of these tables are never updated.
    if (
      [
        'changes',
        'tenant_versions',
        'seals',
        'unsealed_changes',
        'unordered_changes',
        'quota_holds',
        'notices',
      ].includes(name)
    ) {
      await assert.rejects(
        inTenant(A, (tx) => tx`update ${tx(name)} set tenant_id = tenant_id`),
        isError('42501', /permission denied/),
      );
      continue;
    }
    // The policy on tenants uses the path, not tenant_id.
    const move = (tx: Tx) => (name === 'tenants' ? tx`path = array['000000', ${B}::text]` : tx`tenant_id = ${B}`);
    await assert.rejects(
      inTenant(A, (tx) => tx`update ${tx(name)} set ${move(tx)} where tenant_id = ${A}`),
      isPolicyViolation,
      `update ${name}`,
    );
    const { count } = await inTenant(A, (tx) => tx`update ${tx(name)} set tenant_id = ${A} where tenant_id = ${B}`);
    assert.equal(count, 0, name);
  }
  for (const name of [
    'user_departments',
    'sessions',
    'login_failures',
    'idempotency_keys',
    'webhook_deliveries',
    'api_key_secrets',
    'quota_holds',
  ]) {
    const { count } = await inTenant(A, (tx) => tx`delete from ${tx(name)} where tenant_id = ${B}`);
    assert.equal(count, 0, name);
  }
});

test('no row can refer to a department or user of another tenant', async () => {
  const [foreign] = await superuser<[{ dept: string; user: string }]>`
    select dept_id::text as dept, user_id::text as user from banyan.user_departments where tenant_id = ${B}`;
  const [own] = await superuser<[{ dept: string; user: string }]>`
    select dept_id::text as dept, user_id::text as user from banyan.user_departments where tenant_id = ${A}`;
  const isForeignKeyViolation = isError('23503', /foreign key/);
  const attempts: ((tx: Tx) => Promise<unknown>)[] = [
    (tx) => tx`insert into departments (tenant_id, parent_id, create_by) values (${A}, ${foreign.dept}, 'x')`,
    (tx) => tx`update departments set parent_id = ${foreign.dept} where tenant_id = ${A}`,
    (tx) => tx`insert into user_departments values (${A}, ${own.user}, ${foreign.dept}, false)`,
    (tx) => tx`insert into user_departments values (${A}, ${foreign.user}, ${own.dept}, false)`,
    (tx) => tx`
      insert into sessions (tenant_id, user_id, refresh_hash, address, expires)
      values (${A}, ${foreign.user}, '', '', now())`,
  ];
  for (const attempt of attempts) await assert.rejects(inTenant(A, attempt), isForeignKeyViolation);
});

test('row security also applies to the owner of the tables', async () => {
  for (const name of names) {
    // The security definer functions and the archive need the owner to read these tables. The owner can write none of them.
    const readable = [
      'tenants',
      'departments',
      'users',
      'quotas',
      'quota_counters',
      'quota_holds',
      'quota_uses',
      'quota_uses_archive',
      'notices',
      'sessions',
      'login_failures',
      'changes',
      'seal_heads',
      'unsealed_changes',
      'change_positions',
      'unordered_changes',
      'webhooks',
      'api_keys',
      'api_key_secrets',
      'webhook_deliveries',
    ];
    if (!readable.includes(name) && !name.startsWith('tenant_versions'))
      assert.deepEqual(await codesIn(service.owner, name), [], name);
    const { count } = await service.owner`update ${service.owner(name)} set tenant_id = tenant_id`;
    assert.equal(count, 0, name);
  }
});

test('concurrent requests of several tenants through one pool each see their own rows', async () => {
  const admins = [mine, other, below];
  const own = await Promise.all(admins.map((admin) => admin.createDepartment({ deptName: admin.tenantId })));
  const calls = Array.from({ length: scale(60, 150) }, (_, n) => n % 3);
  await Promise.all(
    calls.map(async (n) => {
      const admin = admins[n];
      const { data } = await (admin as (typeof admins)[0]).get('/system/dept-api/list?pageSize=500');
      const codes = new Set(data.rows.map(({ tenantId }: { tenantId: string }) => tenantId));
      assert.deepEqual([...codes], [admin?.tenantId]);
      assert.ok(data.rows.some(({ deptId }: { deptId: number }) => String(deptId) === own[n]));
    }),
  );
  assert.equal((await service.logIn(A, 'boss', PASSWORD)).tenantId, A);
});
