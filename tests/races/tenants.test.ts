import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sql, Tx } from '../../db/driver.ts';
import { resultOf } from '../support/expect.ts';
import { report, runConcurrently, scale, seededRandom, seeds, Tally } from '../support/scale.ts';
import { type ApiResponse, PASSWORD, shareService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

const service = await shareService();
const { root } = service;

async function createTenant(tenantParent?: string): Promise<{ id: string; tenantId: string }> {
  const id = await root.create('/system/tenant-api', tenantParent ? { tenantParent } : {});
  return { id, tenantId: (await root.get(`/system/tenant-api/${id}`)).data.tenantId };
}

const move = (id: string, tenantParent: string) => root.put('/system/tenant-api', { id, tenantParent });

/** Counts those of the tenants whose stored path differs from the path that follows from the parents. */
async function countWrongPaths(tenants: { tenantId: string }[]): Promise<number> {
  const [{ wrong }] = await service.superuser<[{ wrong: number }]>`
    with recursive walked as (
      select tenant_id, array[tenant_id] as path from tenants where parent_id is null
      union all
      select t.tenant_id, w.path || t.tenant_id from tenants t join walked w on t.parent_id = w.tenant_id
    )
    select count(*)::int as wrong from tenants t left join walked w using (tenant_id)
    where t.tenant_id = any (${tenants.map(({ tenantId }) => tenantId)}) and w.path is distinct from t.path`;
  return wrong;
}

test('concurrent random moves of tenants cause no cycle, wrong path or 5xx response', async (t) => {
  for (const seed of seeds(scale(1, 2))) {
    const { pick } = seededRandom(seed);
    const tenants = [await createTenant()];
    for (let n = 1; n < scale(8, 25); n++) tenants.push(await createTenant(pick(tenants).tenantId));
    const tally = new Tally();
    const moves = scale(30, 1_000);
    await runConcurrently(16, moves, async () => {
      tally.add(resultOf(await move(pick(tenants).id, pick(tenants).tenantId)));
    });
    assert.deepEqual(Object.keys(tally.counts).sort(), ['TENANT_CYCLE', 'done']);
    assert.equal(await countWrongPaths(tenants), 0);
    report(t, { seed, moves, ...tally.counts });
  }
});

test('exactly one of two concurrent moves of two tenants below each other fails', async (t) => {
  const rounds = scale(4, 100);
  for (let round = 0; round < rounds; round++) {
    const [a, b] = [await createTenant(), await createTenant()];
    const outcomes = (await Promise.all([move(a.id, b.tenantId), move(b.id, a.tenantId)])).map(resultOf);
    assert.deepEqual(outcomes.sort(), ['TENANT_CYCLE', 'done']);
  }
  report(t, { rounds, rejectedPerRound: 1 });
});

test('deleting a tenant while a child is created below it never leaves a live child of a deleted tenant', async (t) => {
  const rounds = scale(8, 500);
  const tally = new Tally();
  const parents: string[] = [];
  await runConcurrently(4, rounds, async (round) => {
    const { id, tenantId } = await createTenant();
    parents.push(tenantId);
    const create = () => root.post('/system/tenant-api', { tenantParent: tenantId });
    const remove = () => root.delete(`/system/tenant-api/${id}`);
    const [first, second] = round % 2 ? [create, remove] : [remove, create];
    tally.add((await Promise.all([first(), second()])).map(resultOf).sort().join(' + '));
  });
  const [{ orphans }] = await service.superuser<[{ orphans: number }]>`
    select count(*)::int as orphans from tenants c join tenants p on p.tenant_id = c.parent_id
    where p.tenant_id = any (${parents}) and c.del_flag = '0' and p.del_flag <> '0'`;
  assert.equal(orphans, 0);
  const known = ['TENANT_HAS_CHILDREN + done', 'TENANT_PARENT_NOT_FOUND + done'];
  assert.deepEqual(
    Object.keys(tally.counts).filter((outcome) => !known.includes(outcome)),
    [],
  );
  report(t, { rounds, ...tally.counts, orphans });
});

test('exactly 10 of many concurrent user creations succeed with accountCount 10, and all with -1', async (t) => {
  const requests = scale(16, 50);
  for (const [accountCount, expected] of [
    [10, 10],
    [-1, requests],
  ] as const) {
    const id = await root.create('/system/tenant-api', { accountCount });
    const { tenantId } = (await root.get(`/system/tenant-api/${id}`)).data;
    const responses = await Promise.all(
      Array.from({ length: requests }, (_, n) =>
        root.post('/system/user-api', { tenantId, userName: `u${n}`, password: PASSWORD }),
      ),
    );
    const created = responses.filter(({ code }) => code === 200).length;
    assert.equal(created, expected);
    assert.ok(responses.every((response) => ['done', 'ACCOUNT_LIMIT'].includes(resultOf(response))));
    assert.equal((await root.get(`/system/user-api/list?tenantId=${tenantId}`)).data.total, expected);
    report(t, { accountCount, requests, created });
  }
});

test('one of the last two administrators remains when both are concurrently demoted, disabled or deleted', async (t) => {
  const rounds = scale(4, 100);
  for (let round = 0; round < rounds; round++) {
    const id = await root.create('/system/tenant-api', {});
    const { tenantId } = (await root.get(`/system/tenant-api/${id}`)).data;
    const [a, b] = await Promise.all(
      ['a', 'b'].map((userName) => root.createUser({ tenantId, userName, roles: ['admin'] })),
    );
    // The lock lets both requests read the users and blocks their writes until both have begun.
    const { requests } = await service.superuser.begin(async (tx) => {
      await tx`lock table users in share row exclusive mode`;
      const requests = [
        root.put('/system/user-api', { tenantId, userId: a, roles: ['member'] }),
        round % 2
          ? root.delete(`/system/user-api/${b}?tenantId=${tenantId}`)
          : root.put('/system/user-api', { tenantId, userId: b, status: '1', roles: ['admin'] }),
      ];
      await waitFor('both requests wait for a lock', async () => (await countLockWaits(service.owner)) === 2);
      return { requests };
    });
    assert.deepEqual((await Promise.all(requests)).map(resultOf).sort(), ['LAST_ADMINISTRATOR', 'done']);
    const { rows } = (await root.get(`/system/user-api/list?tenantId=${tenantId}&status=0`)).data;
    assert.equal(rows.filter(({ roles }: { roles: string[] }) => roles.includes('admin')).length, 1);
  }
  report(t, { rounds, rejectedPerRound: 1 });
});

test("a write in a tenant fails when the tenant is moved out of the caller's subtree meanwhile", async () => {
  const [above, elsewhere] = [await service.createTenant(), await service.createTenant()];
  const below = await service.createTenant({}, above);
  const anna = await below.createUser({ userName: 'anna' });
  const inside = { tenantId: below.tenantId };
  const writes = await service.superuser.begin(async (tx) => {
    // The statement of a move, not committed yet.
    await tx`
      update tenants set parent_id = ${elsewhere.tenantId}, path = array['000000', ${elsewhere.tenantId}, tenant_id]
      where tenant_id = ${below.tenantId}`;
    const writes = [
      above.post('/system/user-api', { userName: 'spy', password: PASSWORD, roles: ['admin'], ...inside }),
      above.put('/system/user-api', { userId: anna, nickName: 'changed', ...inside }),
      above.delete(`/system/user-api/${anna}?tenantId=${below.tenantId}`),
    ];
    await waitFor('all three writes wait for the move', async () => (await countLockWaits(service.owner)) === 3);
    return writes;
  });
  for (const response of await Promise.all(writes)) assert.equal(resultOf(response), 'OTHER_TENANT', response.text);
  const { rows } = (await below.get('/system/user-api/list')).data;
  assert.deepEqual(
    rows.map(({ userName, nickName }: { userName: string; nickName: string }) => [userName, nickName]),
    [
      ['boss', null],
      ['anna', null],
    ],
  );
});

test("a write of departments fails when the tenant is moved out of the caller's subtree meanwhile", async () => {
  const dept = '/system/dept-api';
  const [above, elsewhere] = [await service.createTenant(), await service.createTenant()];
  const below = await service.createTenant({}, above);
  const [id, leaf] = [await below.createDepartment({ deptName: 'kept' }), await below.createDepartment()];
  const deleted = await below.createDepartment();
  await below.delete(`${dept}/${deleted}`);
  const { data: changes } = await below.get('/system/change-api/list?below=false&limit=1&resource=department');
  const tree = (await below.get(`${dept}/tree`)).data;
  const inside = `?tenantId=${below.tenantId}`;
  const writes: Record<string, () => Promise<ApiResponse>> = {
    'a creation': () => above.post(`${dept}${inside}`, {}),
    'a creation below a department': () => above.post(`${dept}${inside}`, { parentId: id }),
    'a creation in bulk': () => above.post(`${dept}/bulk${inside}`, { departments: [{ ref: 'a' }] }),
    'an update': () => above.put(`${dept}${inside}`, { deptId: id, deptName: 'changed' }),
    'a move': () => above.put(`${dept}${inside}`, { deptId: leaf, parentId: id }),
    'a reordering': () => above.put(`${dept}/order${inside}`, { parentId: 0, deptIds: [leaf, id] }),
    'a deletion': () => above.delete(`${dept}/${leaf}${inside}`),
    'a deletion of a subtree': () => above.delete(`${dept}/${id}${inside}&subtree=true`),
    'a restore': () => above.post(`${dept}/${deleted}/restore${inside}`),
    'a revert': () => above.post(`/system/change-api/${changes.rows[0].id}/revert${inside}`),
  };
  const moveTo = (sql: Sql | Tx, parent: string) => sql`
    update banyan.tenants set parent_id = ${parent}, path = array['000000', ${parent}, tenant_id]
    where tenant_id = ${below.tenantId}`;
  for (const [name, write] of Object.entries(writes)) {
    const { response } = await service.superuser.begin(async (tx) => {
      // The statement of a move, not committed yet.
      await moveTo(tx, elsewhere.tenantId);
      const response = write();
      await waitFor(`${name} waits for the move`, async () => (await countLockWaits(service.owner)) === 1);
      return { response };
    });
    const answer = await response;
    assert.equal(resultOf(answer), 'OTHER_TENANT', `${name}: ${answer.text}`);
    await moveTo(service.superuser, above.tenantId);
  }
  assert.deepEqual((await below.get(`${dept}/tree`)).data, tree);
});
