import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, read } from '../support/expect.ts';
import { asTenant, shareService } from '../support/service.ts';

/** GET /system/dept-api/{id}/users lists the users of a department or of its subtree. */

const service = await shareService();
const admin = await service.createTenant();
const top = await admin.createDepartment({ deptName: '总部' });
const east = await admin.createDepartment({ deptName: '华东', parentId: top });
const team = await admin.createDepartment({ deptName: '一组', parentId: east });
const elsewhere = await admin.createDepartment({ deptName: '别处' });
const anna = await admin.createUser({ userName: 'anna', deptId: east });
const otto = await admin.createUser({ userName: 'otto', deptId: elsewhere, deptIds: [east, team] });
const emil = await admin.createUser({ userName: 'emil', deptId: team });
await admin.createUser({ userName: 'nowhere' });

const userIdsIn = async (dept: string, query = '') => {
  const { code, data, text } = await admin.get(`${DEPTS}/${dept}/users?pageSize=500${query}`);
  assert.equal(code, 200, text);
  assert.equal(data.total, data.rows.length);
  return data.rows.map(({ userId }: { userId: number }) => String(userId));
};

test('users of a main or additional department are listed in id order, with the fields of a single read', async () => {
  assert.deepEqual(await userIdsIn(east), [anna, otto]);
  assert.deepEqual(await userIdsIn(elsewhere), [otto]);
  assert.deepEqual(await userIdsIn(top), []);
  const { data } = await admin.get(`/system/user-api/${otto}`);
  expectOk(await admin.get(`${DEPTS}/${elsewhere}/users`), { rows: [data], total: 1 });
});

test('below=true lists the users of the whole subtree once each', async () => {
  assert.deepEqual(await userIdsIn(top, '&below=true'), [anna, otto, emil]);
  assert.deepEqual(await userIdsIn(team, '&below=true'), [otto, emil]);
  assert.deepEqual(await userIdsIn(top, '&below=false'), []);
});

test('below=true extends the list and the export of users to the subtree of deptId, also with other filters', async () => {
  const list = async (query: string) => {
    const { data, text } = await admin.get(`/system/user-api/list?${query}`);
    assert.equal(data.total, data.rows?.length, text);
    return data.rows.map(({ userId }: { userId: number }) => String(userId));
  };
  assert.deepEqual(await list(`deptId=${top}&below=true`), [anna, otto, emil]);
  assert.deepEqual(await list(`deptId=${team}&below=true`), [otto, emil]);
  assert.deepEqual(await list(`deptId=${top}&below=true&q=EM`), [emil]);
  assert.deepEqual(await list(`deptId=${top}&below=false`), []);
  assert.deepEqual(await list(`deptId=${top}`), []);
  assert.deepEqual(await list('deptId=9007199254740993&below=true'), []);
  assert.equal((await list('below=true')).length, (await list('')).length);
  const csv = await admin.get(`/system/user-api/export?format=csv&deptId=${team}&below=true`);
  assert.deepEqual(
    ['anna', 'otto', 'emil'].map((name) => csv.text.includes(name)),
    [false, true, true],
  );
  expectInvalid(await admin.get(`/system/user-api/list?deptId=${top}&below=maybe`), 'below');
});

test('users are listed in pages, countOnly returns only the total, and invalid parameters are rejected', async () => {
  const page = await admin.get(`${DEPTS}/${top}/users?below=true&pageNum=2&pageSize=2`);
  assert.deepEqual([page.data.rows.length, page.data.rows[0].userName, page.data.total], [1, 'emil', 3]);
  expectOk(await admin.get(`${DEPTS}/${top}/users?below=true&countOnly=true`), { rows: [], total: 3 });
  expectOk(await admin.get(`${DEPTS}/${top}/users?countOnly=true`), { rows: [], total: 0 });
  expectInvalid(await admin.get(`${DEPTS}/${top}/users?pageSize=501`), 'pageSize');
  expectInvalid(await admin.get(`${DEPTS}/${top}/users?below=maybe`), 'below');
  expectInvalid(await admin.get(`${DEPTS}/x/users`), 'id');
});

test('users are read page by page with a cursor, each once, in the order of the list', async () => {
  type Page = { rows: { userId: number }[]; total?: number; next?: string | null };
  const readPage = (dept: string, query: string): Promise<Page> => read(admin, `${DEPTS}/${dept}/users?${query}`);
  for (const [dept, below] of [
    [top, true],
    [east, false],
    [top, false],
  ] as const) {
    const whole = await readPage(dept, `below=${below}`);
    for (const pageSize of [1, 2, 3]) {
      const rows: Page['rows'] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Page = await readPage(dept, `below=${below}&pageSize=${pageSize}&cursor=${cursor}`);
        rows.push(...page.rows);
        assert.ok(rows.length <= whole.rows.length, 'the cursor does not end');
        assert.equal(page.total, undefined);
        cursor = page.next as string | null;
        assert.ok(cursor === null || page.rows.length === pageSize, 'only the last page may be shorter');
      }
      assert.deepEqual(rows, whole.rows, `pages of ${pageSize}`);
    }
  }
  expectOk(await admin.get(`${DEPTS}/${east}/users?countOnly=true&cursor=`), { rows: [], total: 2 });
});

test('a cursor belongs to one department', async () => {
  const nextOf = async (path: string) => (await read(admin, `${path}?pageSize=1&cursor=`)).next;
  const next = await nextOf(`${DEPTS}/${east}/users`);
  for (const path of [`${DEPTS}/${top}/users`, '/system/user-api/list'])
    expectInvalid(await admin.get(`${path}?cursor=${next}`), 'cursor');
  expectInvalid(await admin.get(`${DEPTS}/${east}/users?cursor=${await nextOf('/system/user-api/list')}`), 'cursor');
  const forged = Buffer.from(JSON.stringify([`users of ${east}`, '1', '1'])).toString('base64url');
  expectInvalid(await admin.get(`${DEPTS}/${east}/users?cursor=${forged}`), 'cursor');
});

test('a deleted user no longer belongs to any department, and users move with their department', async () => {
  const [a, b] = [await admin.createDepartment(), await admin.createDepartment()];
  const inner = await admin.createDepartment({ parentId: a });
  const [stays, leaves] = [
    await admin.createUser({ userName: 'stays', deptId: inner }),
    await admin.createUser({ userName: 'leaves', deptId: inner }),
  ];
  expectOk(await admin.delete(`/system/user-api/${leaves}`));
  assert.deepEqual(await userIdsIn(a, '&below=true'), [stays]);
  expectOk(await admin.put(DEPTS, { deptId: inner, parentId: b }));
  assert.deepEqual([await userIdsIn(a, '&below=true'), await userIdsIn(b, '&below=true')], [[], [stays]]);
});

test('members cannot list users, and a department that is deleted or of another tenant is not found', async () => {
  expectError(await (await service.createMember(admin)).get(`${DEPTS}/${top}/users`), 403, 'NOT_ALLOWED');
  const deleted = await admin.createDepartment();
  expectOk(await admin.delete(`${DEPTS}/${deleted}`));
  const below = await service.createTenant({}, admin);
  const foreign = await below.createDepartment();
  await below.createUser({ userName: 'theirs', deptId: foreign });
  for (const id of [deleted, foreign, '999999999', '9007199254740993', '0']) {
    expectError(await admin.get(`${DEPTS}/${id}/users?below=true`), 404, 'DEPT_NOT_FOUND');
  }
});

test('below=true finds a user 1,000 levels down', async () => {
  const deep = await admin.createDepartment();
  await asTenant(service.owner, admin.tenantId, async (tx) => {
    await tx`
      insert into departments (tenant_id, dept_id, parent_id, create_by)
      select ${admin.tenantId}, 5000000 + n, case when n = 0 then ${deep}::bigint else 4999999 + n end, 'test'
      from generate_series(0, 999) n`;
  });
  const last = await admin.createUser({ userName: 'deep', deptId: '5000999' });
  assert.deepEqual(await userIdsIn(deep, '&below=true'), [last]);
});
