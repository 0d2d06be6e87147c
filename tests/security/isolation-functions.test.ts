import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sql, Tx } from '../../db/driver.ts';
import { startIsolation } from './isolation.ts';

/** Functions of the database show nothing of other tenants, although some of them run as the owner of the tables. */

const { superuser, connection, mine, other, below, A, B, inTenant } = await startIsolation();

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

test('functions that list quotas and uses of the tenants below answer only for the current tenant', async () => {
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

test('the functions of the search return only ids that the current tenant may see', async () => {
  const part = (tx: Sql | Tx, text: string) => tx.json([{ texts: [text] }]);
  type Ids = { depts: string[]; users: string[]; tenants: string[] };
  const find = async (tx: Sql | Tx, text: string): Promise<Ids> => {
    const [row] = await tx<[Ids]>`
      select array(select id::text from find_departments(${part(tx, text)}, 100) as f (id) order by 1) as depts,
        array(select id::text from find_users(${part(tx, text)}, 100) as f (id) order by 1) as users,
        array(select id::text from find_tenants(${part(tx, text)}, 100) as f (id) order by 1) as tenants`;
    return { ...row };
  };
  for (const admin of [mine, other, below]) {
    await admin.createDepartment({ deptName: '水杉林' });
    await admin.createUser({ userName: 'shuishan', nickName: '水杉林' });
    await admin.create('/system/tenant-api', { tenantName: '水杉林' });
  }
  const depts = await superuser<{ id: string; code: string }[]>`
    select dept_id::text as id, tenant_id as code from departments where dept_name = '水杉林'`;
  const users = await superuser<{ id: string; code: string }[]>`
    select user_id::text as id, tenant_id as code from users where nick_name = '水杉林'`;
  const tenants = await superuser<{ id: string; path: string[] }[]>`
    select id::text, path from tenants where tenant_name = '水杉林'`;
  for (const code of [A, B, below.tenantId]) {
    assert.deepEqual(await inTenant(code, (tx) => find(tx, '水杉')), {
      depts: depts.filter((row) => row.code === code).map(({ id }) => id),
      users: users.filter((row) => row.code === code).map(({ id }) => id),
      tenants: tenants
        .filter(({ path }) => path.includes(code))
        .map(({ id }) => id)
        .sort(),
    });
    assert.deepEqual(await inTenant(code, (tx) => find(tx, '')), { depts: [], users: [], tenants: [] });
  }
  assert.deepEqual(await find(connection, '水杉'), { depts: [], users: [], tenants: [] });
  for (const code of ['', '%', `${A}n`])
    assert.deepEqual(await inTenant(code, (tx) => find(tx, '水杉')), { depts: [], users: [], tenants: [] }, code);
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
