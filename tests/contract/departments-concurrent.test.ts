import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, outcomeOf } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { type Client, shareService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

/** Departments created concurrently share a transaction, but each creation must succeed or fail on its own. */

const service = await shareService();
/** Few enough that the concurrent requests stay below the limit at which the service sheds load. */
const ROUNDS = scale(6, 15);

test('each of many concurrent creations succeeds or fails on its own, with its own id and creator', async () => {
  const [admin, other] = [await service.createTenant(), await service.createTenant()];
  const deputy = await service.createMember(admin, { userName: 'deputy', roles: ['admin'] });
  const member = await service.createMember(admin);
  const [parent, disabled, deleted] = [
    await admin.createDepartment(),
    await admin.createDepartment({ status: '1' }),
    await admin.createDepartment(),
  ];
  await admin.delete(`${DEPTS}/${deleted}`);
  const foreign = await other.createDepartment();
  const calls: [Client, Record<string, unknown>, string][] = [
    [admin, { parentId: parent, deptName: 'by boss', leader: '张' }, '200 OK'],
    [deputy, { parentId: parent, deptName: 'by deputy', orderNum: -7 }, '200 OK'],
    [other, { deptName: 'by other' }, '200 OK'],
    [member, {}, '403 NOT_ALLOWED'],
    [admin, { parentId: disabled }, '409 PARENT_DISABLED'],
    [admin, { parentId: deleted }, '400 PARENT_NOT_FOUND'],
    [admin, { parentId: foreign }, '400 PARENT_NOT_FOUND'],
    [admin, { parentId: '9007199254740993' }, '400 PARENT_NOT_FOUND'],
    [admin, { tenantId: other.tenantId }, '403 OTHER_TENANT'],
    [admin, { tenantId: admin.tenantId, email: 'a@b.cn' }, '200 OK'],
  ];
  const rounds = await Promise.all(
    Array.from({ length: ROUNDS }, () => Promise.all(calls.map(([client, body]) => client.post(DEPTS, body)))),
  );
  const ids = new Set<string>();
  for (const responses of rounds) {
    for (const [n, response] of responses.entries()) {
      const [client, body, expected] = calls[n] as (typeof calls)[number];
      assert.equal(outcomeOf(response), expected, response.text);
      if (expected !== '200 OK') continue;
      const { data } = await client.get(String(response.headers.location));
      ids.add(`${data.tenantId} ${data.deptId}`);
      const { deptName = '', leader = null, orderNum = 0, email = null, parentId = 0 } = body;
      assert.deepEqual(
        [data.deptName, data.leader, data.orderNum, data.email, String(data.parentId), data.tenantId],
        [deptName, leader, orderNum, email, String(parentId), client.tenantId],
      );
      assert.equal(data.createBy, client === deputy ? 'deputy' : 'boss');
    }
  }
  assert.equal(ids.size, ROUNDS * 4);
  const { data } = await admin.get(`${DEPTS}/list?pageSize=1`);
  assert.equal(data.total, 2 + ROUNDS * 3, 'no other department was created');
});

test('a locked parent delays only the creation of its own children', async () => {
  const admin = await service.createTenant();
  const [locked, free] = [await admin.createDepartment({ deptName: 'locked' }), await admin.createDepartment()];
  const waiting = await service.superuser.begin(async (tx) => {
    await tx`select from departments where tenant_id = ${admin.tenantId} and dept_id = ${Number(locked)} for update`;
    const below = Array.from({ length: 3 }, () => admin.post(DEPTS, { parentId: locked }));
    await waitFor('the creations wait for the lock', async () => (await countLockWaits(service.owner)) > 0);
    for (let n = 0; n < 20; n++) assert.equal((await admin.post(DEPTS, { parentId: free })).code, 200);
    return { below };
  });
  for (const response of await Promise.all(waiting.below)) assert.equal(response.code, 200);
});
