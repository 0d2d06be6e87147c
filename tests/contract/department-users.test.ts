import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk } from '../support/expect.ts';
import { asTenant, startService } from '../support/service.ts';

/** GET /system/dept-api/{id}/users lists the users of a department or of its branch. */

const service = await startService();
const boss = await service.createTenant();
const top = await boss.createDepartment({ deptName: '总部' });
const east = await boss.createDepartment({ deptName: '华东', parentId: top });
const team = await boss.createDepartment({ deptName: '一组', parentId: east });
const elsewhere = await boss.createDepartment({ deptName: '别处' });
const anna = await boss.createUser({ userName: 'anna', deptId: east });
const otto = await boss.createUser({ userName: 'otto', deptId: elsewhere, deptIds: [east, team] });
const emil = await boss.createUser({ userName: 'emil', deptId: team });
await boss.createUser({ userName: 'nowhere' });

const userIdsIn = async (dept: string, query = '') => {
  const { code, data, text } = await boss.get(`${DEPTS}/${dept}/users?pageSize=500${query}`);
  assert.equal(code, 200, text);
  assert.equal(data.total, data.rows.length);
  return data.rows.map(({ userId }: { userId: number }) => String(userId));
};

test('users of a main or additional department are listed by id with the fields of a single read', async () => {
  assert.deepEqual(await userIdsIn(east), [anna, otto]);
  assert.deepEqual(await userIdsIn(elsewhere), [otto]);
  assert.deepEqual(await userIdsIn(top), []);
  const { data } = await boss.get(`/system/user-api/${otto}`);
  expectOk(await boss.get(`${DEPTS}/${elsewhere}/users`), { rows: [data], total: 1 });
});

test('below=true lists the users of the whole branch once each', async () => {
  assert.deepEqual(await userIdsIn(top, '&below=true'), [anna, otto, emil]);
  assert.deepEqual(await userIdsIn(team, '&below=true'), [otto, emil]);
  assert.deepEqual(await userIdsIn(top, '&below=false'), []);
});

test('users are listed in pages, countOnly returns only the total, and invalid parameters are rejected', async () => {
  const page = await boss.get(`${DEPTS}/${top}/users?below=true&pageNum=2&pageSize=2`);
  assert.deepEqual([page.data.rows.length, page.data.rows[0].userName, page.data.total], [1, 'emil', 3]);
  expectOk(await boss.get(`${DEPTS}/${top}/users?below=true&countOnly=true`), { rows: [], total: 3 });
  expectOk(await boss.get(`${DEPTS}/${top}/users?countOnly=true`), { rows: [], total: 0 });
  expectInvalid(await boss.get(`${DEPTS}/${top}/users?pageSize=501`), 'pageSize');
  expectInvalid(await boss.get(`${DEPTS}/${top}/users?below=maybe`), 'below');
  expectInvalid(await boss.get(`${DEPTS}/x/users`), 'id');
});

test('a deleted user no longer belongs to any department, and users move with their department', async () => {
  const [a, b] = [await boss.createDepartment(), await boss.createDepartment()];
  const inner = await boss.createDepartment({ parentId: a });
  const [stays, leaves] = [
    await boss.createUser({ userName: 'stays', deptId: inner }),
    await boss.createUser({ userName: 'leaves', deptId: inner }),
  ];
  expectOk(await boss.delete(`/system/user-api/${leaves}`));
  assert.deepEqual(await userIdsIn(a, '&below=true'), [stays]);
  expectOk(await boss.put(DEPTS, { deptId: inner, parentId: b }));
  assert.deepEqual([await userIdsIn(a, '&below=true'), await userIdsIn(b, '&below=true')], [[], [stays]]);
});

test('members cannot list users, and a department that is deleted or of another tenant is not found', async () => {
  expectError(await (await service.createMember(boss)).get(`${DEPTS}/${top}/users`), 403, 'NOT_ALLOWED');
  const deleted = await boss.createDepartment();
  expectOk(await boss.delete(`${DEPTS}/${deleted}`));
  const below = await service.createTenant({}, boss);
  const foreign = await below.createDepartment();
  await below.createUser({ userName: 'theirs', deptId: foreign });
  for (const id of [deleted, foreign, '999999999', '9007199254740993', '0']) {
    expectError(await boss.get(`${DEPTS}/${id}/users?below=true`), 404, 'DEPT_NOT_FOUND');
  }
});

test('below=true finds a user 1,000 levels down', async () => {
  const deep = await boss.createDepartment();
  await asTenant(service.owner, boss.tenantId, async (tx) => {
    await tx`
      insert into departments (tenant_id, dept_id, parent_id, create_by)
      select ${boss.tenantId}, 5000000 + n, case when n = 0 then ${deep}::bigint else 4999999 + n end, 'test'
      from generate_series(0, 999) n`;
  });
  const last = await boss.createUser({ userName: 'deep', deptId: '5000999' });
  assert.deepEqual(await userIdsIn(deep, '&below=true'), [last]);
});
