import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, expectOk, readDept, resultOf, USERS } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { asTenant, PASSWORD, shareService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

/** Concurrent requests for the same external id, and a leader who is deleted while they are appointed. */

const service = await shareService();
const admin = await service.createTenant();
const ROUNDS = scale(2, 50);
let count = 0;
const userName = () => `user${++count}`;

function expectOneWinner(results: string[]): void {
  const expected = ['done', ...results.slice(1).map(() => 'EXTERNAL_ID_TAKEN')];
  assert.deepEqual(
    results.sort((a, b) => Number(b === 'done') - Number(a === 'done')),
    expected,
  );
}

test('exactly one of several concurrent writes of departments with the same external id succeeds', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const external = { source: 'race', externalId: String(round) };
    const others = [await admin.createDepartment(), await admin.createDepartment()];
    const responses = await Promise.all([
      ...Array.from({ length: 4 }, () => admin.post(DEPTS, external)),
      admin.post(`${DEPTS}/bulk`, { departments: [{ ref: 'a', ...external }] }),
      admin.put(DEPTS, { deptId: others[0], ...external }),
      admin.patch(`${DEPTS}/${others[1]}`, external),
      // A request without an external id must not fail because of the others.
      admin.post(DEPTS, { deptName: 'bystander' }),
    ]);
    expectOk(responses.pop() as (typeof responses)[number]);
    expectOneWinner(responses.map(resultOf));
  }
});

test('creations that wait for their external ids do not make other writes wait', async () => {
  const held = Array.from({ length: 6 }, (_, n) => ({ source: 'race', externalId: `held ${n}` }));
  const holders: string[] = [];
  for (const _ of held) holders.push(await admin.createDepartment());
  const other = await admin.createDepartment();
  const { waiting } = await service.superuser.begin(async (tx) => {
    // Like a long import that has written these external ids, and is not committed.
    await tx`set local session_replication_role = replica`;
    for (const [n, { source, externalId }] of held.entries())
      await tx`
        update banyan.departments set source = ${source}, external_id = ${externalId}
        where tenant_id = ${admin.tenantId} and dept_id = ${Number(holders[n])}`;
    const waiting = held.map((external) => admin.post(DEPTS, external));
    await waitFor('creations wait', async () => (await countLockWaits(tx)) >= 2);
    for (let n = 0; n < 10; n++) {
      expectOk(await admin.post(DEPTS, { deptName: `${n}` }));
      expectOk(await admin.put(DEPTS, { deptId: other, deptName: `${n}` }));
    }
    return { waiting };
  });
  for (const response of await Promise.all(waiting)) expectError(response, 409, 'EXTERNAL_ID_TAKEN');
});

test('exactly one of several concurrent writes of users with the same external id succeeds', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const external = { source: 'race', externalId: String(round) };
    const [first, second] = [
      await admin.createUser({ userName: userName() }),
      await admin.createUser({ userName: userName() }),
    ];
    const sent = () => ({ userName: userName(), password: PASSWORD, ...external });
    const responses = await Promise.all([
      admin.post(USERS, sent()),
      admin.post(USERS, sent()),
      admin.post(`${USERS}/bulk`, { users: [{ ref: 'a', ...sent() }] }),
      admin.put(USERS, { userId: first, ...external }),
      admin.patch(`${USERS}/${second}`, external),
    ]);
    expectOneWinner(responses.map(resultOf));
  }
});

test('an appointment waits for the deletion of the leader, and then fails', async () => {
  const leaderId = await admin.createUser({ userName: userName() });
  const id = await admin.createDepartment();
  const writes = [
    () => admin.put(DEPTS, { deptId: id, leaderId }),
    () => admin.patch(`${DEPTS}/${id}`, { leaderId }),
    () => admin.post(DEPTS, { leaderId }),
    () => admin.post(`${DEPTS}/bulk`, { departments: [{ ref: 'a', leaderId }] }),
  ];
  for (const write of writes) {
    const setDeleted = (flag: '0' | '2') =>
      asTenant(service.owner, admin.tenantId, async (tx) => {
        await tx`update users set del_flag = ${flag}, update_by = 'test'
          where tenant_id = ${admin.tenantId} and user_id = ${leaderId}`;
        if (flag === '0') return undefined;
        const pending = write();
        await waitFor('the appointment waits for the user', async () => (await countLockWaits(service.superuser)) > 0);
        return { pending };
      });
    const blocked = await setDeleted('2');
    expectError(await (blocked?.pending as ReturnType<typeof write>), 400, 'LEADER_NOT_FOUND');
    await setDeleted('0');
  }
});

test('appointments and deletions of the leader at the same moment leave no deleted leader', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const leaderId = await admin.createUser({ userName: userName() });
    const id = await admin.createDepartment();
    const member = await admin.createUser({ userName: userName(), deptId: id });
    const [appointed, patched, deleted, moved] = await Promise.all([
      admin.put(DEPTS, { deptId: id, leaderId }),
      admin.patch(`${DEPTS}/${id}`, { leaderId }),
      admin.delete(`${USERS}/${leaderId}`),
      // It locks the tenant, then the department; an appointment must not lock them in the opposite order.
      admin.patch(`${USERS}/${member}`, { deptId: id, nickName: 'x' }),
    ]);
    expectOk(deleted);
    expectOk(moved);
    for (const response of [appointed, patched]) assert.match(resultOf(response), /^(done|LEADER_NOT_FOUND)$/);
    const { leader, leaderId: shown } = await readDept(admin, id);
    assert.deepEqual([leader, shown], [null, null]);
  }
});
