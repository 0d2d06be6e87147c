import assert from 'node:assert/strict';
import { test } from 'node:test';
import { report, runConcurrently, scale, seededRandom, seeds, Tally } from '../support/scale.ts';
import { type ApiResponse, type Client, startService } from '../support/service.ts';

const service = await startService();
const dept = '/system/dept-api';
const users = '/system/user-api';
const ledger = '/system/change-api';

const outcomeOf = ({ code, data }: ApiResponse) => (code === 200 ? 'done' : (data?.reason ?? String(code)));
const latestChange = async (client: Client, query = ''): Promise<number> =>
  (await client.get(`${ledger}/list?limit=1&below=false${query}`)).data.rows[0].id;
const revert = (client: Client, id: number) => client.post(`${ledger}/${id}/revert`);

/** Asserts the invariants that must hold in whatever order the requests ran. */
async function assertInvariants(tenantId: string): Promise<void> {
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

test('exactly one of many concurrent reverts of a change succeeds', async (t) => {
  const boss = await service.createTenant();
  const rounds = scale(2, 60);
  for (let round = 0; round < rounds; round++) {
    const id = await boss.createDepartment();
    const user = await boss.createUser({ userName: `u${round}` });
    const writes = [
      () => boss.put(dept, { deptId: id, deptName: `n${round}` }),
      () => boss.put(users, { userId: user, nickName: `n${round}` }),
      () => boss.delete(`${dept}/${id}`),
      () => boss.delete(`${users}/${user}`),
    ];
    for (const write of writes) {
      assert.equal(outcomeOf(await write()), 'done');
      const change = await latestChange(boss);
      const outcomes = (await Promise.all([1, 2, 3, 4].map(() => revert(boss, change)))).map(outcomeOf);
      assert.deepEqual(outcomes.sort(), [...Array(3).fill('CHANGE_CONTRADICTED'), 'done']);
    }
  }
  await assertInvariants(boss.tenantId);
  report(t, { rounds, done: 4 * rounds, rejected: 12 * rounds });
});

test('exactly one of many concurrent restores succeeds', async () => {
  const boss = await service.createTenant();
  const id = await boss.createDepartment();
  const user = await boss.createUser({ userName: 'li', deptId: id });
  await boss.delete(`${users}/${user}`);
  await boss.delete(`${dept}/${id}`);
  for (const path of [`${dept}/${id}`, `${users}/${user}`]) {
    const outcomes = (await Promise.all([1, 2, 3, 4].map(() => boss.post(`${path}/restore`)))).map(outcomeOf);
    assert.equal(outcomes.filter((outcome) => outcome === 'done').length, 1);
    assert.equal(outcomes.filter((outcome) => /_NOT_DELETED$/.test(outcome)).length, 3);
  }
  await assertInvariants(boss.tenantId);
});

test('a revert that runs concurrently with a move, delete, create or join keeps the tree valid', async (t) => {
  const boss = await service.createTenant();
  const tally = new Tally();
  const user = await boss.createUser({ userName: 'joins' });
  await runConcurrently(3, scale(24, 600), async (round) => {
    const [home, away] = [await boss.createDepartment(), await boss.createDepartment()];
    const id = await boss.createDepartment({ parentId: home });
    const changed = async (response: Promise<ApiResponse>, of = id) => {
      assert.equal(outcomeOf(await response), 'done');
      return latestChange(boss, `&resource=department&resourceId=${of}`);
    };
    const pairs: [string, () => Promise<[() => Promise<ApiResponse>, () => Promise<ApiResponse>]>][] = [
      [
        'move reverted, former parent deleted',
        async () => {
          const change = await changed(boss.put(dept, { deptId: id, parentId: away }));
          return [() => revert(boss, change), () => boss.delete(`${dept}/${home}`)];
        },
      ],
      [
        'move reverted, former parent moved below it',
        async () => {
          const change = await changed(boss.put(dept, { deptId: id, parentId: away }));
          return [() => revert(boss, change), () => boss.put(dept, { deptId: home, parentId: id })];
        },
      ],
      [
        'create reverted, child created',
        async () => {
          const change = await latestChange(boss, `&resource=department&resourceId=${id}`);
          return [() => revert(boss, change), () => boss.post(dept, { parentId: id })];
        },
      ],
      [
        'create reverted, user joined',
        async () => {
          const change = await latestChange(boss, `&resource=department&resourceId=${id}`);
          return [() => revert(boss, change), () => boss.put(users, { userId: user, deptIds: [id] })];
        },
      ],
      [
        'delete reverted, parent deleted',
        async () => {
          const change = await changed(boss.delete(`${dept}/${id}`));
          return [() => revert(boss, change), () => boss.delete(`${dept}/${home}`)];
        },
      ],
      [
        'restored to another parent, that parent deleted',
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
    const outcomes = (await Promise.all(round % 4 < 2 ? [one(), two()] : [two(), one()].reverse())).map(outcomeOf);
    tally.add(`${name}: ${outcomes.join(' + ')}`);
    assert.ok(outcomes.includes('done'), outcomes.join());
    assert.ok(!outcomes.some((outcome) => /^5|INTERNAL|BUSY|AWAY/.test(outcome)), outcomes.join());
  });
  await assertInvariants(boss.tenantId);
  report(t, tally.counts);
});

test('concurrent random writes and reverts leave no orphan, cycle or user in a deleted department', async (t) => {
  for (const seed of seeds(scale(1, 5))) {
    const boss = await service.createTenant();
    const { below, pick } = seededRandom(seed);
    const ids: string[] = [];
    const userIds: string[] = [];
    for (let n = 0; n < 20; n++) ids.push(await boss.createDepartment({ parentId: n < 4 ? 0 : pick(ids) }));
    for (let n = 0; n < 4; n++) userIds.push(await boss.createUser({ userName: `u${n}`, deptIds: [pick(ids)] }));
    const tally = new Tally();
    await runConcurrently(8, scale(120, 4_000), async () => {
      const recent = async () => (await boss.get(`${ledger}/list?limit=20&below=false`)).data.rows;
      const actions: [string, () => Promise<ApiResponse>][] = [
        ['move', () => boss.put(dept, { deptId: pick(ids), parentId: pick(ids) })],
        ['rename', () => boss.put(dept, { deptId: pick(ids), deptName: `n${below(1000)}` })],
        ['delete', () => boss.delete(`${dept}/${pick(ids)}`)],
        ['deleteBranch', () => boss.delete(`${dept}/${pick(ids)}?subtree=true`)],
        ['create', () => boss.post(dept, { parentId: pick(ids) })],
        ['join', () => boss.put(users, { userId: pick(userIds), deptIds: [pick(ids)] })],
        ['deleteUser', () => boss.delete(`${users}/${pick(userIds)}`)],
        ['restore', () => boss.post(`${dept}/${pick(ids)}/restore`)],
        ['restoreTo', () => boss.post(`${dept}/${pick(ids)}/restore`, { parentId: pick(ids) })],
        ['restoreUser', () => boss.post(`${users}/${pick(userIds)}/restore`)],
        ['revert', async () => revert(boss, (pick(await recent()) as { id: number }).id)],
        ['revert', async () => revert(boss, (pick(await recent()) as { id: number }).id)],
      ];
      const [name, action] = pick(actions);
      const response = await action();
      assert.ok(response.status < 500, response.text);
      tally.add(`${name} ${response.status}`);
    });
    await assertInvariants(boss.tenantId);
    report(t, { seed, ...tally.counts });
  }
});
