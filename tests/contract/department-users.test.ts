import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk } from '../support/expect.ts';
import { asTenant, startService } from '../support/service.ts';

/** GET /system/dept-api/{id}/users: the people of a department, or of its branch. */

const service = await startService();
const boss = await service.createTenant();
const top = await boss.createDepartment({ deptName: '总部' });
const east = await boss.createDepartment({ deptName: '华东', parentId: top });
const team = await boss.createDepartment({ deptName: '一组', parentId: east });
const aside = await boss.createDepartment({ deptName: '别处' });
const anna = await boss.createUser({ userName: 'anna', deptId: east });
const otto = await boss.createUser({ userName: 'otto', deptId: aside, deptIds: [east, team] });
const emil = await boss.createUser({ userName: 'emil', deptId: team });
await boss.createUser({ userName: 'nowhere' });

const idsAt = async (dept: string, query = '') => {
  const { code, data, text } = await boss.get(`${DEPTS}/${dept}/users?pageSize=500${query}`);
  assert.equal(code, 200, text);
  assert.equal(data.total, data.rows.length);
  return data.rows.map(({ userId }: { userId: number }) => String(userId));
};

test('with it as the main department or a further one, sorted by id, as a read shows them', async () => {
  assert.deepEqual(await idsAt(east), [anna, otto]);
  assert.deepEqual(await idsAt(aside), [otto]);
  assert.deepEqual(await idsAt(top), []);
  const { data } = await boss.get(`/system/user-api/${otto}`);
  expectOk(await boss.get(`${DEPTS}/${aside}/users`), { rows: [data], total: 1 });
});

test('below=true: those of the whole branch, each once', async () => {
  assert.deepEqual(await idsAt(top, '&below=true'), [anna, otto, emil]);
  assert.deepEqual(await idsAt(team, '&below=true'), [otto, emil]);
  assert.deepEqual(await idsAt(top, '&below=false'), []);
});

test('pages, and the count alone', async () => {
  const page = await boss.get(`${DEPTS}/${top}/users?below=true&pageNum=2&pageSize=2`);
  assert.deepEqual([page.data.rows.length, page.data.rows[0].userName, page.data.total], [1, 'emil', 3]);
  expectOk(await boss.get(`${DEPTS}/${top}/users?below=true&countOnly=true`), { rows: [], total: 3 });
  expectOk(await boss.get(`${DEPTS}/${top}/users?countOnly=true`), { rows: [], total: 0 });
  expectInvalid(await boss.get(`${DEPTS}/${top}/users?pageSize=501`), 'pageSize');
  expectInvalid(await boss.get(`${DEPTS}/${top}/users?below=maybe`), 'below');
  expectInvalid(await boss.get(`${DEPTS}/x/users`), 'id');
});

test('who was deleted is in no department; a move takes the people along', async () => {
  const [a, b] = [await boss.createDepartment(), await boss.createDepartment()];
  const inner = await boss.createDepartment({ parentId: a });
  const [stays, leaves] = [
    await boss.createUser({ userName: 'stays', deptId: inner }),
    await boss.createUser({ userName: 'leaves', deptId: inner }),
  ];
  expectOk(await boss.delete(`/system/user-api/${leaves}`));
  assert.deepEqual(await idsAt(a, '&below=true'), [stays]);
  expectOk(await boss.put(DEPTS, { deptId: inner, parentId: b }));
  assert.deepEqual([await idsAt(a, '&below=true'), await idsAt(b, '&below=true')], [[], [stays]]);
});

test("administrators alone; another tenant's department is none", async () => {
  expectError(await (await service.createMember(boss)).get(`${DEPTS}/${top}/users`), 403, 'NOT_ALLOWED');
  const gone = await boss.createDepartment();
  expectOk(await boss.delete(`${DEPTS}/${gone}`));
  const below = await service.createTenant({}, boss);
  const foreign = await below.createDepartment();
  await below.createUser({ userName: 'theirs', deptId: foreign });
  for (const id of [gone, foreign, '999999999', '9007199254740993', '0']) {
    expectError(await boss.get(`${DEPTS}/${id}/users?below=true`), 404, 'DEPT_NOT_FOUND');
  }
});

test('a branch of a thousand levels, with people at its end', async () => {
  const deep = await boss.createDepartment();
  await asTenant(service.owner, boss.tenantId, async (tx) => {
    await tx`
      insert into departments (tenant_id, dept_id, parent_id, create_by)
      select ${boss.tenantId}, 5000000 + n, case when n = 0 then ${deep}::bigint else 4999999 + n end, 'test'
      from generate_series(0, 999) n`;
  });
  const last = await boss.createUser({ userName: 'deep', deptId: '5000999' });
  assert.deepEqual(await idsAt(deep, '&below=true'), [last]);
});
