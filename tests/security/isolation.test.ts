import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import type { Tx } from '../../db/driver.ts';
import { readInTenant, writeInTenant } from '../../db/tenant-scope.ts';
import { after } from '../support/cleanup.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { scale } from '../support/scale.ts';
import { PASSWORD } from '../support/service.ts';
import { codesIn, isError, isPolicyViolation, startIsolation } from './isolation.ts';

/** The second layer of isolation: the database separates tenants, whatever the code sends. */

const { service, superuser, address, connection, names, mine, other, below, A, B, inTenant } = await startIsolation();

test('no rows are visible without a current tenant', async () => {
  for (const name of names) {
    const all = await codesIn(superuser, name);
    assert.ok(all.includes(A) && all.includes(B), `${name} must have rows of both tenants`);
    assert.deepEqual(await codesIn(connection, name), [], name);
    assert.deepEqual(await inTenant('', (tx) => codesIn(tx, name)), [], `${name}, empty code`);
    assert.deepEqual(await inTenant('%', (tx) => codesIn(tx, name)), [], `${name}, a pattern`);
  }
});

test('only rows of the current tenant are visible, and in the table tenants also the rows of those below it', async () => {
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

test('row-level security also applies to the owner of the tables', async () => {
  for (const name of names) {
    // The owner has to read these tables, in security definer functions and for the archive. A plain update finds no row in them.
    const readable = [
      'tenants',
      'departments',
      'users',
      'quotas',
      'quota_counters',
      'quota_holds',
      'quota_sums',
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
