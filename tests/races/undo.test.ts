import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultOf } from '../support/expect.ts';
import { report, runConcurrently, scale, seededRandom, seeds, Tally } from '../support/scale.ts';
import { type ApiResponse, type Client, startService } from '../support/service.ts';
import { runBeforeStatement } from '../support/statements.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

/** What the service awaits before it locks departments that it restores. */
let beforeLock = async () => {};
const wrapDatabase = runBeforeStatement('order by d.dept_id for update', () => beforeLock());
const service = await startService({}, { wrapDatabase });
const dept = '/system/dept-api';
const users = '/system/user-api';
const ledger = '/system/change-api';

const latestChange = async (client: Client, query = ''): Promise<number> =>
  (await client.get(`${ledger}/list?limit=1&below=false${query}`)).data.rows[0].id;
const revert = (client: Client, id: number) => client.post(`${ledger}/${id}/revert`);

/** Sends a request several times. Blocks all writes of departments and users until two of the requests wait for a lock. */
async function sendOverlapping(times: number, send: () => Promise<ApiResponse>): Promise<string[]> {
  const { responses } = await service.superuser.begin(async (tx) => {
    await tx`lock table departments, users in share row exclusive mode`;
    const responses = Promise.all(Array.from({ length: times }, send));
    await waitFor('two requests wait for a lock', async () => (await countLockWaits(service.owner)) >= 2);
    return { responses };
  });
  return (await responses).map(resultOf);
}

/** Asserts the invariants that must hold in whatever order the requests ran. */
async function assertInvariants(tenantId: string): Promise<void> {
  const [row] = await service.superuser`
    with recursive reachable (id) as (
      select dept_id from departments where tenant_id = ${tenantId} and parent_id is null
      union all
      select d.dept_id from reachable r join departments d on d.tenant_id = ${tenantId} and d.parent_id = r.id
    )
    select
      (select count(*)::int from departments c join departments p on p.tenant_id = c.tenant_id and p.dept_id = c.parent_id
        where c.tenant_id = ${tenantId} and c.del_flag = '0' and p.del_flag <> '0') as orphans,
      (select count(*)::int from departments where tenant_id = ${tenantId} and dept_id not in (select id from reachable)) as unreachable,
      (select count(*)::int from user_departments m join departments d using (tenant_id, dept_id)
        where m.tenant_id = ${tenantId} and d.del_flag <> '0') as users_of_deleted,
      (select count(*)::int from user_departments m join users u using (tenant_id, user_id)
        where m.tenant_id = ${tenantId} and u.del_flag <> '0') as deleted_users,
      (select deadlocks::int from pg_stat_database where datname = current_database()) as deadlocks`;
  assert.deepEqual({ ...row }, { orphans: 0, unreachable: 0, users_of_deleted: 0, deleted_users: 0, deadlocks: 0 });
}

test('exactly one of many concurrent reverts of a change succeeds', async (t) => {
  const admin = await service.createTenant();
  const rounds = scale(1, 40);
  for (let round = 0; round < rounds; round++) {
    const id = await admin.createDepartment();
    const user = await admin.createUser({ userName: `u${round}` });
    const writes = [
      () => admin.put(dept, { deptId: id, deptName: `n${round}` }),
      () => admin.put(users, { userId: user, nickName: `n${round}` }),
      () => admin.delete(`${dept}/${id}`),
      () => admin.delete(`${users}/${user}`),
    ];
    for (const write of writes) {
      assert.equal(resultOf(await write()), 'done');
      const change = await latestChange(admin);
      const outcomes = await sendOverlapping(4, () => revert(admin, change));
      assert.deepEqual(outcomes.sort(), [...Array(3).fill('CHANGE_CONTRADICTED'), 'done']);
    }
  }
  await assertInvariants(admin.tenantId);
  report(t, { rounds, done: 4 * rounds, rejected: 12 * rounds });
});

test('exactly one of many concurrent restores succeeds', async () => {
  const admin = await service.createTenant();
  const id = await admin.createDepartment();
  const user = await admin.createUser({ userName: 'li', deptId: id });
  await admin.delete(`${users}/${user}`);
  await admin.delete(`${dept}/${id}`);
  for (const path of [`${dept}/${id}`, `${users}/${user}`]) {
    const outcomes = await sendOverlapping(4, () => admin.post(`${path}/restore`));
    assert.equal(outcomes.filter((outcome) => outcome === 'done').length, 1);
    assert.equal(outcomes.filter((outcome) => /_NOT_DELETED$/.test(outcome)).length, 3);
  }
  await assertInvariants(admin.tenantId);
});

test('a department that is deleted while it is being restored returns to its parent', async () => {
  const admin = await service.createTenant();
  const parentId = await admin.createDepartment();
  const id = await admin.createDepartment({ parentId });
  let deletion: ApiResponse | undefined;
  beforeLock = async () => {
    beforeLock = async () => {};
    deletion = await admin.delete(`${dept}/${id}`);
  };
  const restoration = await admin.post(`${dept}/${id}/restore`);
  assert.deepEqual([deletion && resultOf(deletion), resultOf(restoration)], ['done', 'done']);
  assert.equal((await admin.get(`${dept}/${id}`)).data.parentId, Number(parentId));
});

const RESTORE_TO_DELETED = 'restored to another parent, that parent deleted with its subtree';

test('a revert that runs concurrently with a move, delete, create or join keeps the tree valid', async (t) => {
  const admin = await service.createTenant();
  const tally = new Tally();
  await runConcurrently(3, scale(12, 400), async (round) => {
    const user = await admin.createUser({ userName: `joins${round}` });
    const [home, away] = [await admin.createDepartment(), await admin.createDepartment()];
    const id = await admin.createDepartment({ parentId: home });
    const changed = async (response: Promise<ApiResponse>, of = id) => {
      assert.equal(resultOf(await response), 'done');
      return latestChange(admin, `&resource=department&resourceId=${of}`);
    };
    const pairs: [string, () => Promise<[() => Promise<ApiResponse>, () => Promise<ApiResponse>]>][] = [
      [
        'move reverted, former parent deleted',
        async () => {
          const change = await changed(admin.put(dept, { deptId: id, parentId: away }));
          return [() => revert(admin, change), () => admin.delete(`${dept}/${home}`)];
        },
      ],
      [
        'move reverted, former parent moved below it',
        async () => {
          const change = await changed(admin.put(dept, { deptId: id, parentId: away }));
          return [() => revert(admin, change), () => admin.put(dept, { deptId: home, parentId: id })];
        },
      ],
      [
        'create reverted, child created',
        async () => {
          const change = await latestChange(admin, `&resource=department&resourceId=${id}`);
          return [() => revert(admin, change), () => admin.post(dept, { parentId: id })];
        },
      ],
      [
        'create reverted, user joined',
        async () => {
          const change = await latestChange(admin, `&resource=department&resourceId=${id}`);
          return [() => revert(admin, change), () => admin.put(users, { userId: user, deptIds: [id] })];
        },
      ],
      [
        'delete reverted, parent deleted',
        async () => {
          const change = await changed(admin.delete(`${dept}/${id}`));
          return [() => revert(admin, change), () => admin.delete(`${dept}/${home}`)];
        },
      ],
      [
        RESTORE_TO_DELETED,
        async () => {
          await changed(admin.delete(`${dept}/${id}`));
          return [
            () => admin.post(`${dept}/${id}/restore`, { parentId: away }),
            () => admin.delete(`${dept}/${away}?subtree=true`),
          ];
        },
      ],
    ];
    const [name, prepare] = pairs[round % pairs.length] as (typeof pairs)[number];
    const [one, two] = await prepare();
    const outcomes = (await Promise.all(round % 4 < 2 ? [one(), two()] : [two(), one()].reverse())).map(resultOf);
    tally.add(`${name}: ${outcomes.join(' + ')}`);
    // The later of the two requests fails, except that a subtree can be deleted after a department was restored to it.
    const done = outcomes.filter((outcome) => outcome === 'done').length;
    assert.ok(done === 1 || (done === 2 && name === RESTORE_TO_DELETED), `${name}: ${outcomes.join()}`);
    assert.ok(!outcomes.some((outcome) => /^5|INTERNAL|BUSY|AWAY/.test(outcome)), outcomes.join());
  });
  await assertInvariants(admin.tenantId);
  report(t, tally.counts);
});

test('concurrent random writes and reverts leave no orphan, cycle or user in a deleted department', async (t) => {
  for (const seed of seeds(scale(1, 2))) {
    const admin = await service.createTenant();
    const { below, pick } = seededRandom(seed);
    const ids: string[] = [];
    const userIds: string[] = [];
    for (let n = 0; n < 20; n++) ids.push(await admin.createDepartment({ parentId: n < 4 ? 0 : pick(ids) }));
    for (let n = 0; n < 4; n++) userIds.push(await admin.createUser({ userName: `u${n}`, deptIds: [pick(ids)] }));
    const tally = new Tally();
    await runConcurrently(8, scale(40, 700), async () => {
      const recent = async () => (await admin.get(`${ledger}/list?limit=20&below=false`)).data.rows;
      const actions: [string, () => Promise<ApiResponse>][] = [
        ['move', () => admin.put(dept, { deptId: pick(ids), parentId: pick(ids) })],
        ['rename', () => admin.put(dept, { deptId: pick(ids), deptName: `n${below(1000)}` })],
        ['delete', () => admin.delete(`${dept}/${pick(ids)}`)],
        ['deleteSubtree', () => admin.delete(`${dept}/${pick(ids)}?subtree=true`)],
        ['create', () => admin.post(dept, { parentId: pick(ids) })],
        ['join', () => admin.put(users, { userId: pick(userIds), deptIds: [pick(ids)] })],
        ['deleteUser', () => admin.delete(`${users}/${pick(userIds)}`)],
        ['restore', () => admin.post(`${dept}/${pick(ids)}/restore`)],
        ['restoreTo', () => admin.post(`${dept}/${pick(ids)}/restore`, { parentId: pick(ids) })],
        ['restoreUser', () => admin.post(`${users}/${pick(userIds)}/restore`)],
        ['revert', async () => revert(admin, (pick(await recent()) as { id: number }).id)],
        ['revert', async () => revert(admin, (pick(await recent()) as { id: number }).id)],
      ];
      const [name, action] = pick(actions);
      const response = await action();
      assert.ok(response.status < 500, response.text);
      tally.add(`${name} ${response.status}`);
    });
    await assertInvariants(admin.tenantId);
    report(t, { seed, ...tally.counts });
  }
});

test('a deletion with users=delete also deletes users who join concurrently, and one of two concurrent reverts restores all of them', async () => {
  const admin = await service.createTenant();
  for (let round = 0; round < scale(1, 25); round++) {
    const id = await admin.createDepartment();
    for (let n = 0; n < 3; n++) await admin.createUser({ userName: `r${round}-${n}`, deptId: id });
    const remove = () => admin.delete(`${dept}/${id}?users=delete`);
    const join = (n: number) =>
      admin.post(users, { userName: `j${round}-${n}`, password: 'correct horse battery', deptId: id });
    const joining = [join(0), join(1)];
    const removing = [remove(), remove()];
    const joins = await Promise.all([...joining, join(2), join(3)]);
    assert.deepEqual((await Promise.all(removing)).map(resultOf).sort(), ['DEPT_NOT_FOUND', 'done']);
    const joined = joins.map(resultOf).filter((outcome) => outcome === 'done').length;
    assert.equal(joins.map(resultOf).filter((outcome) => outcome === 'USER_DEPT_NOT_FOUND').length, 4 - joined);
    await assertInvariants(admin.tenantId);
    const remaining = (await admin.get(`${users}/list?userName=${round}-`)).data.total;
    assert.equal(remaining, 0, 'every user of the department is deleted');
    const change = await latestChange(admin);
    const reverts = await Promise.all([revert(admin, change), revert(admin, change)]);
    assert.deepEqual(reverts.map(resultOf).sort(), ['CHANGE_CONTRADICTED', 'done']);
    assert.equal((await admin.get(`${dept}/${id}/users`)).data.total, 3 + joined);
    await assertInvariants(admin.tenantId);
    assert.equal(resultOf(await remove()), 'done');
  }
});
