import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chance, report, scale, seeds, Tally, together } from '../support/scale.ts';
import { type Answer, type Client, startService } from '../support/service.ts';

const service = await startService();
const dept = '/system/dept-api';
const people = '/system/user-api';
const ledger = '/system/change-api';

const wordOf = ({ code, data }: Answer) => (code === 200 ? 'done' : (data?.reason ?? String(code)));
const latest = async (client: Client, query = ''): Promise<number> =>
  (await client.get(`${ledger}/list?limit=1&below=false${query}`)).data.rows[0].id;
const revert = (client: Client, id: number) => client.post(`${ledger}/${id}/revert`);

/** What must never be, whoever came first. */
async function assertSound(tenantId: string): Promise<void> {
  const [row] = await service.superuser`
    with recursive down (id) as (
      select dept_id from departments where tenant_id = ${tenantId} and parent_id is null
      union all
      select d.dept_id from down join departments d on d.tenant_id = ${tenantId} and d.parent_id = down.id
    )
    select
      (select count(*)::int from departments c join departments p on p.tenant_id = c.tenant_id and p.dept_id = c.parent_id
        where c.tenant_id = ${tenantId} and c.del_flag = '0' and p.del_flag <> '0') as orphans,
      (select count(*)::int from departments where tenant_id = ${tenantId} and dept_id not in (select id from down)) as cycles,
      (select count(*)::int from user_departments m join departments d using (tenant_id, dept_id)
        where m.tenant_id = ${tenantId} and d.del_flag <> '0') as lost,
      (select count(*)::int from user_departments m join users u using (tenant_id, user_id)
        where m.tenant_id = ${tenantId} and u.del_flag <> '0') as ghosts,
      (select deadlocks::int from pg_stat_database where datname = current_database()) as deadlocks`;
  assert.deepEqual({ ...row }, { orphans: 0, cycles: 0, lost: 0, ghosts: 0, deadlocks: 0 });
}

test('the same change reverted by many at once: exactly one of them does it', async (t) => {
  const boss = await service.createTenant();
  const rounds = scale(2, 60);
  for (let round = 0; round < rounds; round++) {
    const id = await boss.createDepartment();
    const user = await boss.createUser({ userName: `u${round}` });
    const writes = [
      () => boss.put(dept, { deptId: id, deptName: `n${round}` }),
      () => boss.put(people, { userId: user, nickName: `n${round}` }),
      () => boss.delete(`${dept}/${id}`),
      () => boss.delete(`${people}/${user}`),
    ];
    for (const write of writes) {
      assert.equal(wordOf(await write()), 'done');
      const change = await latest(boss);
      const words = (await Promise.all([1, 2, 3, 4].map(() => revert(boss, change)))).map(wordOf);
      assert.deepEqual(words.sort(), [...Array(3).fill('CHANGE_CONTRADICTED'), 'done']);
    }
  }
  await assertSound(boss.tenantId);
  report(t, { rounds, done: 4 * rounds, refused: 12 * rounds });
});

test('restored by many at once: once', async () => {
  const boss = await service.createTenant();
  const id = await boss.createDepartment();
  const user = await boss.createUser({ userName: 'li', deptId: id });
  await boss.delete(`${people}/${user}`);
  await boss.delete(`${dept}/${id}`);
  for (const path of [`${dept}/${id}`, `${people}/${user}`]) {
    const words = (await Promise.all([1, 2, 3, 4].map(() => boss.post(`${path}/restore`)))).map(wordOf);
    assert.equal(words.filter((word) => word === 'done').length, 1);
    assert.equal(words.filter((word) => /_NOT_DELETED$/.test(word)).length, 3);
  }
  await assertSound(boss.tenantId);
});

test('a revert against a move, a deletion, a creation or a joining at the same moment', async (t) => {
  const boss = await service.createTenant();
  const tally = new Tally();
  const user = await boss.createUser({ userName: 'joins' });
  await together(3, scale(24, 600), async (round) => {
    const [home, away] = [await boss.createDepartment(), await boss.createDepartment()];
    const id = await boss.createDepartment({ parentId: home });
    const changed = async (answer: Promise<Answer>, of = id) => {
      assert.equal(wordOf(await answer), 'done');
      return latest(boss, `&resource=department&resourceId=${of}`);
    };
    const pairs: [string, () => Promise<[() => Promise<Answer>, () => Promise<Answer>]>][] = [
      [
        'moved back, its place deleted',
        async () => {
          const change = await changed(boss.put(dept, { deptId: id, parentId: away }));
          return [() => revert(boss, change), () => boss.delete(`${dept}/${home}`)];
        },
      ],
      [
        'moved back, its place moved below it',
        async () => {
          const change = await changed(boss.put(dept, { deptId: id, parentId: away }));
          return [() => revert(boss, change), () => boss.put(dept, { deptId: home, parentId: id })];
        },
      ],
      [
        'unmade, and created below',
        async () => {
          const change = await latest(boss, `&resource=department&resourceId=${id}`);
          return [() => revert(boss, change), () => boss.post(dept, { parentId: id })];
        },
      ],
      [
        'unmade, and joined',
        async () => {
          const change = await latest(boss, `&resource=department&resourceId=${id}`);
          return [() => revert(boss, change), () => boss.put(people, { userId: user, deptIds: [id] })];
        },
      ],
      [
        'back from deletion, its place deleted',
        async () => {
          const change = await changed(boss.delete(`${dept}/${id}`));
          return [() => revert(boss, change), () => boss.delete(`${dept}/${home}`)];
        },
      ],
      [
        'restored elsewhere, that deleted',
        async () => {
          await changed(boss.delete(`${dept}/${id}`));
          return [
            () => boss.post(`${dept}/${id}/restore`, { parentId: away }),
            () => boss.delete(`${dept}/${away}?subtree=true`),
          ];
        },
      ],
    ];
    const [name, prepare] = pairs[round % pairs.length] as (typeof pairs)[number];
    const [one, two] = await prepare();
    const words = (await Promise.all(round % 4 < 2 ? [one(), two()] : [two(), one()].reverse())).map(wordOf);
    tally.add(`${name}: ${words.join(' + ')}`);
    assert.ok(words.includes('done'), words.join());
    assert.ok(!words.some((word) => /^5|INTERNAL|BUSY|AWAY/.test(word)), words.join());
  });
  await assertSound(boss.tenantId);
  report(t, tally.counts);
});

test('anything at once, and reverts of anything: never an orphan, a cycle, or a user in a deleted department', async (t) => {
  for (const seed of seeds(scale(1, 5))) {
    const boss = await service.createTenant();
    const { below, pick } = chance(seed);
    const ids: string[] = [];
    const users: string[] = [];
    for (let n = 0; n < 20; n++) ids.push(await boss.createDepartment({ parentId: n < 4 ? 0 : pick(ids) }));
    for (let n = 0; n < 4; n++) users.push(await boss.createUser({ userName: `u${n}`, deptIds: [pick(ids)] }));
    const tally = new Tally();
    await together(8, scale(120, 4_000), async () => {
      const recent = async () => (await boss.get(`${ledger}/list?limit=20&below=false`)).data.rows;
      const actions: [string, () => Promise<Answer>][] = [
        ['move', () => boss.put(dept, { deptId: pick(ids), parentId: pick(ids) })],
        ['rename', () => boss.put(dept, { deptId: pick(ids), deptName: `n${below(1000)}` })],
        ['delete', () => boss.delete(`${dept}/${pick(ids)}`)],
        ['deleteBranch', () => boss.delete(`${dept}/${pick(ids)}?subtree=true`)],
        ['create', () => boss.post(dept, { parentId: pick(ids) })],
        ['join', () => boss.put(people, { userId: pick(users), deptIds: [pick(ids)] })],
        ['deleteUser', () => boss.delete(`${people}/${pick(users)}`)],
        ['restore', () => boss.post(`${dept}/${pick(ids)}/restore`)],
        ['restoreTo', () => boss.post(`${dept}/${pick(ids)}/restore`, { parentId: pick(ids) })],
        ['restoreUser', () => boss.post(`${people}/${pick(users)}/restore`)],
        ['revert', async () => revert(boss, (pick(await recent()) as { id: number }).id)],
        ['revert', async () => revert(boss, (pick(await recent()) as { id: number }).id)],
      ];
      const [name, action] = pick(actions);
      const answer = await action();
      assert.ok(answer.status < 500, answer.text);
      tally.add(`${name} ${answer.status}`);
    });
    await assertSound(boss.tenantId);
    report(t, { seed, ...tally.counts });
  }
});
