import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chance, firstSeed, report, scale, Tally, together } from '../support/scale.ts';
import { type Answer, type Client, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const service = await startService();
const dept = '/system/dept-api';

const wordOf = ({ code, data }: Answer) => (code === 200 ? 'done' : (data?.reason ?? String(code)));
const removeBranch = (client: Client, id: string) => client.delete(`${dept}/${id}?subtree=true`);
const order = (client: Client, parentId: string, deptIds: string[]) =>
  client.put(`${dept}/order`, { parentId, deptIds });

/** What must never be, whoever came first. */
async function assertSound({ tenantId }: Client): Promise<void> {
  const [{ orphans, lost }] = await service.superuser<[{ orphans: number; lost: number }]>`
    select
      (select count(*)::int from departments c join departments p on p.tenant_id = c.tenant_id and p.dept_id = c.parent_id
        where c.tenant_id = ${tenantId} and c.del_flag = '0' and p.del_flag <> '0') as orphans,
      (select count(*)::int from user_departments m join departments d using (tenant_id, dept_id)
        where m.tenant_id = ${tenantId} and d.del_flag <> '0') as lost`;
  assert.deepEqual({ orphans, lost }, { orphans: 0, lost: 0 });
}

async function assertNoDeadlocks(): Promise<void> {
  const [{ deadlocks }] = await service.superuser<[{ deadlocks: number }]>`
    select deadlocks::int from pg_stat_database where datname = current_database()`;
  assert.equal(deadlocks, 0);
}

/** Creates a branch a few levels deep. Returns its ids from the root down. */
async function makeBranch(client: Client, size: number, pick: (refs: string[]) => string): Promise<string[]> {
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
const plain = (count: number) => Array.from({ length: count }, (_, n) => ({ ref: `r${n}`, orderNum: n }));

test('a branch deleted while others create, move and join in it: never a live child or a user of a deleted one', async (t) => {
  const boss = await service.createTenant();
  const { pick, below } = chance(firstSeed);
  const rounds = scale(10, 600);
  const users = await Promise.all([1, 2, 3].map((n) => boss.createUser({ userName: `joins${n}` })));
  const elsewhere = [await boss.createDepartment(), await boss.createDepartment()];
  const tally = new Tally();
  await together(3, rounds, async (round) => {
    const branch = await makeBranch(boss, 8, pick);
    const root = branch[0] as string;
    const inner = () => pick(branch.slice(1));
    const loose = await boss.createDepartment();
    const others: [string, () => Promise<Answer>][] = [
      ['create', () => boss.post(dept, { parentId: pick(branch) })],
      ['create', () => boss.post(dept, { parentId: pick(branch) })],
      [
        'bulk',
        () =>
          boss.post(`${dept}/bulk`, {
            parentId: pick(branch),
            departments: [{ ref: 'a' }, { ref: 'b', parentRef: 'a' }],
          }),
      ],
      ['move in', () => boss.put(dept, { deptId: loose, parentId: inner() })],
      ['move out', () => boss.put(dept, { deptId: inner(), parentId: pick(elsewhere) })],
      ['move within', () => boss.put(dept, { deptId: inner(), parentId: pick(branch) })],
      ['delete', () => boss.delete(`${dept}/${inner()}`)],
      ['delete two', () => boss.delete(`${dept}/${inner()},${inner()}`)],
      ['change', () => boss.put(dept, { deptId: inner(), deptName: 'changed' })],
      ['order', () => order(boss, root, [inner()])],
      ['branch', () => removeBranch(boss, inner())],
    ];
    if (round % 2 === 0) {
      others.push(['join', () => boss.put('/system/user-api', { userId: users[round % 3], deptId: inner() })]);
    }
    const remove: [string, () => Promise<Answer>] = ['delete all', () => removeBranch(boss, root)];
    const at = below(others.length + 1);
    const all = [...others.slice(0, at), remove, ...others.slice(at)];
    await Promise.all(all.map(async ([what, call]) => tally.add(`${what}: ${wordOf(await call())}`)));
    await assertSound(boss);
  });
  assert.ok(tally.get('delete all: done') > 0 && tally.get('create: done') > 0, JSON.stringify(tally.counts));
  const faults = Object.keys(tally.counts).filter((word) => / (5\d\d|INTERNAL|DATABASE_AWAY|TOO_BUSY)$/.test(word));
  assert.deepEqual(faults, []);
  report(t, { rounds, ...tally.counts });
});

test('a chain that grows at its end while it is deleted: all of it goes, or what came later is refused', async (t) => {
  const boss = await service.createTenant();
  const rounds = scale(4, 300);
  let grown = 0;
  for (let round = 0; round < rounds; round++) {
    const chain = [await boss.createDepartment()];
    let growing = true;
    const grow = (async () => {
      while (growing) {
        const { code, headers } = await boss.post(dept, { parentId: chain.at(-1) });
        if (code !== 200) return;
        chain.push(String(headers.location).split('/').at(-1) as string);
      }
    })();
    await waitFor('the chain has grown', () => chain.length >= 4);
    assert.equal(wordOf(await removeBranch(boss, chain[0] as string)), 'done');
    growing = false;
    await grow;
    grown += chain.length;
    await assertSound(boss);
    assert.equal((await boss.get(`${dept}/tree`)).data.length, 0, 'nothing is left of it');
  }
  report(t, { rounds, grown });
});

test('two orders at once give one of the two, never a mix', async (t) => {
  const boss = await service.createTenant();
  const rounds = scale(8, 500);
  const parent = await boss.createDepartment();
  const ids = await createMany(boss, { parentId: parent, departments: plain(12) });
  const tally = new Tally();
  for (let round = 0; round < rounds; round++) {
    const { pick } = chance(firstSeed + round);
    const shuffled = () =>
      [...ids]
        .map((id) => [pick(ids), id])
        .sort()
        .map(([, id]) => id as string);
    const [one, other] = [shuffled(), shuffled()];
    const answers = await Promise.all([order(boss, parent, one), order(boss, parent, other)]);
    assert.deepEqual(answers.map(wordOf), ['done', 'done']);
    const { rows } = (await boss.get(`${dept}/${parent}/children`)).data;
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

test('an order while children come, go, move and are changed: the listed are in their order, numbered from 1', async (t) => {
  const boss = await service.createTenant();
  const rounds = scale(6, 500);
  const tally = new Tally();
  await together(2, rounds, async (round) => {
    const { pick } = chance(firstSeed + round);
    const [parent, away] = [await boss.createDepartment(), await boss.createDepartment()];
    const ids = await createMany(boss, { parentId: parent, departments: plain(8) });
    const [stay, others] = [ids.slice(0, 4).reverse(), ids.slice(4)];
    const answers = await Promise.all([
      boss.delete(`${dept}/${others[0]}`),
      order(boss, parent, stay),
      boss.put(dept, { deptId: others[1], parentId: away }),
      boss.put(dept, { deptId: others[2], orderNum: -5 }),
      boss.post(dept, { parentId: parent, orderNum: 3 }),
      boss.delete(`${dept}/${pick(others)},${parent}`),
    ]);
    for (const answer of answers) tally.add(wordOf(answer));
    assert.equal(wordOf(answers[1] as Answer), 'done');
    const { rows } = (await boss.get(`${dept}/${parent}/children`)).data;
    const numbers = new Map(rows.map(({ deptId, orderNum }: never) => [String(deptId), orderNum]));
    assert.deepEqual(
      stay.map((id) => numbers.get(id)),
      [1, 2, 3, 4],
    );
  });
  await assertNoDeadlocks();
  report(t, { rounds, ...tally.counts });
});
