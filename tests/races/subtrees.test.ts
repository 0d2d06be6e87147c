import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultOf } from '../support/expect.ts';
import { firstSeed, report, runConcurrently, scale, seededRandom, Tally } from '../support/scale.ts';
import { type ApiResponse, type Client, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const service = await startService();
const dept = '/system/dept-api';

const removeSubtree = (client: Client, id: string) => client.delete(`${dept}/${id}?subtree=true`);
const reorder = (client: Client, parentId: string, deptIds: string[]) =>
  client.put(`${dept}/order`, { parentId, deptIds });

/** Asserts the invariants that must hold in whatever order the requests ran. */
async function assertInvariants({ tenantId }: Client): Promise<void> {
  const [row] = await service.superuser`
    select
      (select count(*)::int from departments c join departments p on p.tenant_id = c.tenant_id and p.dept_id = c.parent_id
        where c.tenant_id = ${tenantId} and c.del_flag = '0' and p.del_flag <> '0') as orphans,
      (select count(*)::int from user_departments m join departments d using (tenant_id, dept_id)
        where m.tenant_id = ${tenantId} and d.del_flag <> '0') as users_of_deleted`;
  assert.deepEqual({ ...row }, { orphans: 0, users_of_deleted: 0 });
}

async function assertNoDeadlocks(): Promise<void> {
  const [{ deadlocks }] = await service.superuser<[{ deadlocks: number }]>`
    select deadlocks::int from pg_stat_database where datname = current_database()`;
  assert.equal(deadlocks, 0);
}

/** Creates a subtree a few levels deep. Returns its ids from the root down. */
async function createSubtree(client: Client, size: number, pick: (refs: string[]) => string): Promise<string[]> {
  const refs: string[] = [];
  const departments = Array.from({ length: size }, (_, n) => {
    const parent = n === 0 ? {} : { parentRef: pick(refs) };
    refs.push(`r${n}`);
    return { ref: `r${n}`, ...parent };
  });
  return createMany(client, { departments });
}

async function createMany(client: Client, body: { parentId?: string; departments: object[] }): Promise<string[]> {
  const { code, text, data } = await client.post(`${dept}/bulk`, body);
  assert.equal(code, 200, text);
  return data.deptIds.map(String);
}
const siblings = (count: number) => Array.from({ length: count }, (_, n) => ({ ref: `r${n}`, orderNum: n }));

test('deleting a subtree during concurrent creates, moves and joins leaves no orphaned child or user', async (t) => {
  const admin = await service.createTenant();
  const { pick, below } = seededRandom(firstSeed);
  const rounds = scale(4, 150);
  const users = await Promise.all([1, 2, 3].map((n) => admin.createUser({ userName: `joins${n}` })));
  const elsewhere = [await admin.createDepartment(), await admin.createDepartment()];
  const tally = new Tally();
  await runConcurrently(3, rounds, async (round) => {
    const subtree = await createSubtree(admin, 8, pick);
    const root = subtree[0] as string;
    const inner = () => pick(subtree.slice(1));
    const outside = await admin.createDepartment();
    const others: [string, () => Promise<ApiResponse>][] = [
      ['create', () => admin.post(dept, { parentId: pick(subtree) })],
      ['create', () => admin.post(dept, { parentId: pick(subtree) })],
      [
        'bulk',
        () =>
          admin.post(`${dept}/bulk`, {
            parentId: pick(subtree),
            departments: [{ ref: 'a' }, { ref: 'b', parentRef: 'a' }],
          }),
      ],
      ['move in', () => admin.put(dept, { deptId: outside, parentId: inner() })],
      ['move out', () => admin.put(dept, { deptId: inner(), parentId: pick(elsewhere) })],
      ['move within', () => admin.put(dept, { deptId: inner(), parentId: pick(subtree) })],
      ['delete', () => admin.delete(`${dept}/${inner()}`)],
      ['delete two', () => admin.delete(`${dept}/${inner()},${inner()}`)],
      ['change', () => admin.put(dept, { deptId: inner(), deptName: 'changed' })],
      ['order', () => reorder(admin, root, [inner()])],
      ['subtree', () => removeSubtree(admin, inner())],
    ];
    const remove: [string, () => Promise<ApiResponse>] = ['delete all', () => removeSubtree(admin, root)];
    if (round % 2 === 0) {
      others.push(['join', () => admin.put('/system/user-api', { userId: users[round % 3], deptId: inner() })]);
    } else {
      // This creation and the deletion both succeed: the deletion begins after the creation, and no user joins.
      const created = admin.post(dept, { parentId: root });
      others.push(['create', () => created]);
      remove[1] = () => created.then(() => removeSubtree(admin, root));
    }
    const index = below(others.length + 1);
    const all = [...others.slice(0, index), remove, ...others.slice(index)];
    await Promise.all(all.map(async ([name, call]) => tally.add(`${name}: ${resultOf(await call())}`)));
    await assertInvariants(admin);
  });
  for (const outcome of ['delete all: done', 'create: done']) {
    assert.ok(tally.get(outcome) >= Math.floor(rounds / 2), JSON.stringify(tally.counts));
  }
  const faults = Object.keys(tally.counts).filter((outcome) =>
    / (5\d\d|INTERNAL|DATABASE_AWAY|TOO_BUSY)$/.test(outcome),
  );
  assert.deepEqual(faults, []);
  report(t, { rounds, ...tally.counts });
});

test('deleting a chain that grows at its end deletes all of it and rejects later children', async (t) => {
  const admin = await service.createTenant();
  const rounds = scale(2, 75);
  let grown = 0;
  for (let round = 0; round < rounds; round++) {
    const chain = [await admin.createDepartment()];
    let growing = true;
    const grow = (async () => {
      while (growing) {
        const { code, headers } = await admin.post(dept, { parentId: chain.at(-1) });
        if (code !== 200) return;
        chain.push(String(headers.location).split('/').at(-1) as string);
      }
    })();
    await waitFor('the chain has four departments', () => chain.length >= 4);
    assert.equal(resultOf(await removeSubtree(admin, chain[0] as string)), 'done');
    growing = false;
    await grow;
    grown += chain.length;
    await assertInvariants(admin);
    assert.equal((await admin.get(`${dept}/tree`)).data.length, 0, 'no department of the chain is left');
  }
  report(t, { rounds, grown });
});

test('two concurrent reorderings result in one of the two orders, never a mix', async (t) => {
  const admin = await service.createTenant();
  const rounds = scale(4, 125);
  const parent = await admin.createDepartment();
  const ids = await createMany(admin, { parentId: parent, departments: siblings(12) });
  const tally = new Tally();
  for (let round = 0; round < rounds; round++) {
    const { pick } = seededRandom(firstSeed + round);
    const shuffled = () =>
      [...ids]
        .map((id) => [pick(ids), id])
        .sort()
        .map(([, id]) => id as string);
    const [one, other] = [shuffled(), shuffled()];
    const responses = await Promise.all([reorder(admin, parent, one), reorder(admin, parent, other)]);
    assert.deepEqual(responses.map(resultOf), ['done', 'done']);
    const { rows } = (await admin.get(`${dept}/${parent}/children`)).data;
    const now = rows.map(({ deptId }: { deptId: number }) => String(deptId)).join();
    assert.ok(now === one.join() || now === other.join(), now);
    tally.add(now === one.join() ? 'the first' : 'the second');
    assert.deepEqual(
      rows.map(({ orderNum }: { orderNum: number }) => orderNum),
      ids.map((_, n) => n + 1),
    );
  }
  report(t, { rounds, ...tally.counts });
});

test('a reordering during concurrent changes of the children numbers the listed children from 1 in their order', async (t) => {
  const admin = await service.createTenant();
  const rounds = scale(4, 125);
  const tally = new Tally();
  await runConcurrently(2, rounds, async (round) => {
    const { pick } = seededRandom(firstSeed + round);
    const [parent, away] = [await admin.createDepartment(), await admin.createDepartment()];
    const ids = await createMany(admin, { parentId: parent, departments: siblings(8) });
    const [stay, others] = [ids.slice(0, 4).reverse(), ids.slice(4)];
    const responses = await Promise.all([
      admin.delete(`${dept}/${others[0]}`),
      reorder(admin, parent, stay),
      admin.put(dept, { deptId: others[1], parentId: away }),
      admin.put(dept, { deptId: others[2], orderNum: -5 }),
      admin.post(dept, { parentId: parent, orderNum: 3 }),
      admin.delete(`${dept}/${pick(others)},${parent}`),
    ]);
    for (const response of responses) tally.add(resultOf(response));
    assert.equal(resultOf(responses[1] as ApiResponse), 'done');
    const { rows } = (await admin.get(`${dept}/${parent}/children`)).data;
    const numbers = new Map(rows.map(({ deptId, orderNum }: never) => [String(deptId), orderNum]));
    assert.deepEqual(
      stay.map((id) => numbers.get(id)),
      [1, 2, 3, 4],
    );
  });
  await assertNoDeadlocks();
  report(t, { rounds, ...tally.counts });
});
