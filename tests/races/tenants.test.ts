import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chance, report, scale, seeds, Tally, together } from '../support/scale.ts';
import { type Answer, PASSWORD, startService } from '../support/service.ts';
import { countWaiting, waitFor } from '../support/wait.ts';

const service = await startService();
const { root } = service;

const wordOf = ({ code, data }: Answer) => (code === 200 ? 'done' : (data?.reason ?? String(code)));

async function makeTenant(tenantParent?: string): Promise<{ id: string; tenantId: string }> {
  const id = await root.create('/system/tenant-api', tenantParent ? { tenantParent } : {});
  return { id, tenantId: (await root.get(`/system/tenant-api/${id}`)).data.tenantId };
}

const move = (id: string, tenantParent: string) => root.put('/system/tenant-api', { id, tenantParent });

/** Every stored path is what the parents say. */
async function countWrongPaths(): Promise<number> {
  const [{ wrong }] = await service.superuser<[{ wrong: number }]>`
    with recursive walked as (
      select tenant_id, array[tenant_id] as path from tenants where parent_id is null
      union all
      select t.tenant_id, w.path || t.tenant_id from tenants t join walked w on t.parent_id = w.tenant_id
    )
    select count(*)::int as wrong from tenants t left join walked w using (tenant_id) where w.path is distinct from t.path`;
  return wrong;
}

test('random moves of tenants at once: no cycle, no wrong path, no 5xx', async (t) => {
  for (const seed of seeds(scale(1, 5))) {
    const { pick } = chance(seed);
    const tenants = [await makeTenant()];
    for (let n = 1; n < scale(15, 25); n++) tenants.push(await makeTenant(pick(tenants).tenantId));
    const tally = new Tally();
    const moves = scale(80, 2_000);
    await together(16, moves, async () => {
      tally.add(wordOf(await move(pick(tenants).id, pick(tenants).tenantId)));
    });
    assert.deepEqual(Object.keys(tally.counts).sort(), ['TENANT_CYCLE', 'done']);
    assert.equal(await countWrongPaths(), 0);
    report(t, { seed, moves, ...tally.counts });
  }
});

test('two tenants moved below each other at once: exactly one is refused, each time', async (t) => {
  const rounds = scale(6, 200);
  for (let round = 0; round < rounds; round++) {
    const [a, b] = [await makeTenant(), await makeTenant()];
    const words = (await Promise.all([move(a.id, b.tenantId), move(b.id, a.tenantId)])).map(wordOf);
    assert.deepEqual(words.sort(), ['TENANT_CYCLE', 'done']);
  }
  report(t, { rounds, refusedEach: 1 });
});

test('a tenant deleted while a child tenant is created below: never a live child of a deleted tenant', async (t) => {
  const rounds = scale(16, 1_000);
  const tally = new Tally();
  await together(4, rounds, async (round) => {
    const { id, tenantId } = await makeTenant();
    const create = () => root.post('/system/tenant-api', { tenantParent: tenantId });
    const remove = () => root.delete(`/system/tenant-api/${id}`);
    const [first, second] = round % 2 ? [create, remove] : [remove, create];
    tally.add((await Promise.all([first(), second()])).map(wordOf).sort().join(' + '));
  });
  const [{ orphans }] = await service.superuser<[{ orphans: number }]>`
    select count(*)::int as orphans from tenants c join tenants p on p.tenant_id = c.parent_id
    where c.del_flag = '0' and p.del_flag <> '0'`;
  assert.equal(orphans, 0);
  const known = ['TENANT_HAS_CHILDREN + done', 'TENANT_PARENT_NOT_FOUND + done'];
  assert.deepEqual(
    Object.keys(tally.counts).filter((word) => !known.includes(word)),
    [],
  );
  report(t, { rounds, ...tally.counts, orphans });
});

test('of many users created at once exactly 10 fit into accountCount 10; with -1 all do', async (t) => {
  const asked = scale(30, 50);
  for (const [accountCount, expected] of [
    [10, 10],
    [-1, asked],
  ] as const) {
    const id = await root.create('/system/tenant-api', { accountCount });
    const { tenantId } = (await root.get(`/system/tenant-api/${id}`)).data;
    const answers = await Promise.all(
      Array.from({ length: asked }, (_, n) =>
        root.post('/system/user-api', { tenantId, userName: `u${n}`, password: PASSWORD }),
      ),
    );
    const made = answers.filter(({ code }) => code === 200).length;
    assert.equal(made, expected);
    assert.ok(answers.every((answer) => ['done', 'ACCOUNT_LIMIT'].includes(wordOf(answer))));
    assert.equal((await root.get(`/system/user-api/list?tenantId=${tenantId}`)).data.total, expected);
    report(t, { accountCount, asked, made });
  }
});

test('the last two administrators demoted or deleted at once: one stays', async (t) => {
  const rounds = scale(6, 200);
  for (let round = 0; round < rounds; round++) {
    const id = await root.create('/system/tenant-api', {});
    const { tenantId } = (await root.get(`/system/tenant-api/${id}`)).data;
    const [a, b] = await Promise.all(
      ['a', 'b'].map((userName) => root.createUser({ tenantId, userName, roles: ['admin'] })),
    );
    const words = await Promise.all([
      root.put('/system/user-api', { tenantId, userId: a, roles: ['member'] }),
      round % 2
        ? root.delete(`/system/user-api/${b}?tenantId=${tenantId}`)
        : root.put('/system/user-api', { tenantId, userId: b, status: '1', roles: ['admin'] }),
    ]);
    assert.deepEqual(words.map(wordOf).sort(), ['LAST_ADMINISTRATOR', 'done']);
  }
  report(t, { rounds, refusedEach: 1 });
});

test('a write in a tenant that is moved out of reach at the same moment comes too late', async () => {
  const [above, elsewhere] = [await service.createTenant(), await service.createTenant()];
  const below = await service.createTenant({}, above);
  const anna = await below.createUser({ userName: 'anna' });
  const inside = { tenantId: below.tenantId };
  const writes = await service.superuser.begin(async (tx) => {
    // What a move does, held just before its end.
    await tx`
      update tenants set parent_id = ${elsewhere.tenantId}, path = array['000000', ${elsewhere.tenantId}, tenant_id]
      where tenant_id = ${below.tenantId}`;
    const writes = [
      above.post('/system/user-api', { userName: 'spy', password: PASSWORD, roles: ['admin'], ...inside }),
      above.put('/system/user-api', { userId: anna, nickName: 'changed', ...inside }),
      above.delete(`/system/user-api/${anna}?tenantId=${below.tenantId}`),
    ];
    await waitFor('all three wait for the move', async () => (await countWaiting(service.owner)) === 3);
    return writes;
  });
  for (const answer of await Promise.all(writes)) assert.equal(wordOf(answer), 'OTHER_TENANT', answer.text);
  const { rows } = (await below.get('/system/user-api/list')).data;
  assert.deepEqual(
    rows.map(({ userName, nickName }: { userName: string; nickName: string }) => [userName, nickName]),
    [
      ['boss', null],
      ['anna', null],
    ],
  );
});
