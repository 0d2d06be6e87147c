import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, type Client, startService } from '../support/service.ts';
import { countWaiting, waitFor } from '../support/wait.ts';

/** Departments that are created at the same moment share a transaction. Nobody may see that, but for the speed. */

const service = await startService();
const dept = '/system/dept-api';
/** No more at once than are let in. */
const ROUNDS = 15;
const reasonOf = ({ status, data }: Answer) => `${status} ${data?.reason ?? ''}`.trim();

test('hundreds created at the same moment: each is made or refused on its own, with its own id and creator', async () => {
  const [boss, other] = [await service.createTenant(), await service.createTenant()];
  const deputy = await service.createMember(boss, { userName: 'deputy', roles: ['admin'] });
  const member = await service.createMember(boss);
  const [parent, disabled, gone] = [
    await boss.createDepartment(),
    await boss.createDepartment({ status: '1' }),
    await boss.createDepartment(),
  ];
  await boss.delete(`${dept}/${gone}`);
  const foreign = await other.createDepartment();
  const calls: [Client, Record<string, unknown>, string][] = [
    [boss, { parentId: parent, deptName: 'by boss', leader: '张' }, '200'],
    [deputy, { parentId: parent, deptName: 'by deputy', orderNum: -7 }, '200'],
    [other, { deptName: 'by other' }, '200'],
    [member, {}, '403 NOT_ALLOWED'],
    [boss, { parentId: disabled }, '409 PARENT_DISABLED'],
    [boss, { parentId: gone }, '400 PARENT_NOT_FOUND'],
    [boss, { parentId: foreign }, '400 PARENT_NOT_FOUND'],
    [boss, { parentId: '9007199254740993' }, '400 PARENT_NOT_FOUND'],
    [boss, { tenantId: other.tenantId }, '403 OTHER_TENANT'],
    [boss, { tenantId: boss.tenantId, email: 'a@b.cn' }, '200'],
  ];
  const rounds = await Promise.all(
    Array.from({ length: ROUNDS }, () => Promise.all(calls.map(([client, body]) => client.post(dept, body)))),
  );
  const ids = new Set<string>();
  for (const answers of rounds) {
    for (const [n, answer] of answers.entries()) {
      const [client, body, expected] = calls[n] as (typeof calls)[number];
      assert.equal(reasonOf(answer), expected, answer.text);
      if (expected !== '200') continue;
      const { data } = await client.get(String(answer.headers.location));
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
  const { data } = await boss.get(`${dept}/list?pageSize=1`);
  assert.equal(data.total, 2 + ROUNDS * 3, 'nothing else was made');
});

test('a parent that somebody holds keeps nobody waiting but who creates below it', async () => {
  const boss = await service.createTenant();
  const [held, free] = [await boss.createDepartment({ deptName: 'held' }), await boss.createDepartment()];
  const waiting = await service.superuser.begin(async (tx) => {
    await tx`select from departments where tenant_id = ${boss.tenantId} and dept_id = ${Number(held)} for update`;
    const below = Array.from({ length: 3 }, () => boss.post(dept, { parentId: held }));
    await waitFor('they wait', async () => (await countWaiting(service.owner)) > 0);
    for (let n = 0; n < 20; n++) assert.equal((await boss.post(dept, { parentId: free })).code, 200);
    return { below };
  });
  for (const answer of await Promise.all(waiting.below)) assert.equal(answer.code, 200);
});
