import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, databaseTime, expectError } from '../support/expect.ts';
import { type ApiResponse, startService } from '../support/service.ts';
import { dropSearchIndexes } from '../support/trees.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

const service = await startService();

test('the history of a department is read page by page, oldest or newest first', async () => {
  const admin = await service.createTenant();
  const [a, id] = [await admin.createDepartment(), await admin.createDepartment({ deptName: 'x' })];
  const { data: first } = await admin.get(`${DEPTS}/${id}`);
  await admin.put(DEPTS, { deptId: id, deptName: 'y', leader: '张三' });
  await admin.put(DEPTS, { deptId: id, deptName: 'y', leader: '张三', parentId: a });
  await admin.delete(`${DEPTS}/${id}`);
  const readHistory = async (sort: string) => {
    const rows = [];
    for (let cursor = ''; ; ) {
      const { data } = await admin.get(`${DEPTS}/${id}/history?limit=1&sort=${sort}${cursor && `&cursor=${cursor}`}`);
      rows.push(...data.rows);
      if (data.next === null) return rows;
      cursor = data.next;
    }
  };
  const rows = await readHistory('time');
  assert.deepEqual(
    rows.map(({ action, by, changed }) => [action, by, changed]),
    [
      ['created', 'boss', []],
      ['updated', 'boss', ['deptName', 'leader']],
      ['moved', 'boss', ['parentId', 'ancestors']],
      ['deleted', 'boss', []],
    ],
  );
  assert.deepEqual(rows[0].after, first);
  assert.equal(rows[0].before, null);
  assert.equal(rows[3].after, null);
  assert.deepEqual(Object.keys(rows[0]), ['id', 'time', 'by', 'action', 'before', 'after', 'changed']);
  assert.deepEqual(await readHistory('-time'), [...rows].reverse());
  assert.deepEqual((await admin.get(`${DEPTS}/${id}/history`)).data, { rows: [...rows].reverse(), next: null });
  // The time of each entry is a valid asOf that shows the department after that change.
  const { data: then } = await admin.get(`${DEPTS}/${id}?asOf=${rows[1].time}`);
  assert.deepEqual(then, rows[1].after);
  const member = await service.createMember(admin);
  assert.equal((await member.get(`${DEPTS}/${id}/history`)).data.reason, 'NOT_ALLOWED');
});

test('a diff lists what was created, deleted, moved, renamed and changed between two times', async () => {
  const admin = await service.createTenant();
  const a = await admin.createDepartment({ deptName: 'a' });
  const b = await admin.createDepartment({ deptName: 'b' });
  const c = await admin.createDepartment({ deptName: 'c', parentId: a });
  const below = await admin.createDepartment({ deptName: 'below', parentId: c });
  const deleted = await admin.createDepartment({ deptName: 'gone', parentId: a });
  const same = await admin.createDepartment({ deptName: 'same' });
  const from = await databaseTime(service);
  await admin.put(DEPTS, { deptId: a, deptName: 'A' });
  await admin.put(DEPTS, { deptId: c, deptName: 'C', leader: '张三', parentId: b });
  await admin.delete(`${DEPTS}/${deleted}`);
  const fresh = await admin.createDepartment({ deptName: 'new', parentId: below });
  const temporary = await admin.createDepartment({ deptName: 'created and deleted' });
  await admin.delete(`${DEPTS}/${temporary}`);
  await admin.put(DEPTS, { deptId: same, deptName: 'other' });
  await admin.put(DEPTS, { deptId: same, deptName: 'same' });
  const to = await databaseTime(service);
  await admin.put(DEPTS, { deptId: b, deptName: 'later' });
  const expected = {
    created: [{ deptId: Number(fresh), deptName: 'new', parentId: Number(below), path: ['b', 'C', 'below'] }],
    deleted: [{ deptId: Number(deleted), deptName: 'gone', parentId: Number(a), path: ['a'] }],
    moved: [
      {
        deptId: Number(c),
        deptName: 'C',
        fromParentId: Number(a),
        toParentId: Number(b),
        fromPath: ['a'],
        toPath: ['b'],
      },
    ],
    renamed: [
      { deptId: Number(a), from: 'a', to: 'A' },
      { deptId: Number(c), from: 'c', to: 'C' },
    ],
    changed: [{ deptId: Number(c), deptName: 'C', fields: [{ field: 'leader', from: null, to: '张三' }] }],
  };
  assert.deepEqual((await admin.get(`${DEPTS}/diff?from=${from}&to=${to}`)).data, expected);
  const member = await service.createMember(admin);
  assert.deepEqual((await member.get(`${DEPTS}/diff?from=${from}&to=${to}`)).data, expected);
  const emptyDiff = { created: [], deleted: [], moved: [], renamed: [], changed: [] };
  assert.deepEqual((await admin.get(`${DEPTS}/diff?from=${to}&to=${to}`)).data, emptyDiff);
  // Without `to` the diff ends now.
  const { data } = await admin.get(`${DEPTS}/diff?from=${to}`);
  assert.deepEqual(data, { ...emptyDiff, renamed: [{ deptId: Number(b), from: 'b', to: 'later' }] });
});

test('a diff requires a valid period and at most 10,000 changed departments', async () => {
  const admin = await service.createTenant();
  const from = await databaseTime(service);
  await dropSearchIndexes(service.superuser);
  const insert = (first: number, last: number) => service.superuser`
    insert into banyan.departments (tenant_id, dept_id, create_by)
    select ${admin.tenantId}, 50000000 + n, 'sql' from generate_series(${first}::int, ${last}::int) n`;
  await insert(1, 1);
  const afterFirst = await databaseTime(service);
  await insert(2, 10_001);
  const errorOf = async (query: string) => {
    const { status, data } = await admin.get(`${DEPTS}/diff?${query}`);
    return [status, data.reason, data.field ?? data.limit];
  };
  assert.deepEqual(await errorOf(''), [400, 'FIELD_REQUIRED', 'from']);
  assert.deepEqual(await errorOf(`from=${from}&to=2020-01-01`), [400, 'INVALID_FIELD', 'to']);
  assert.deepEqual(await errorOf(`from=${from}&to=2199-01-01`), [400, 'INVALID_FIELD', 'to']);
  assert.deepEqual(await errorOf('from=2199-01-01'), [400, 'INVALID_FIELD', 'from']);
  assert.deepEqual(await errorOf(`from=${from}`), [400, 'DIFF_TOO_LARGE', 10_000]);
  const { data } = await admin.get(`${DEPTS}/diff?from=${afterFirst}`);
  assert.equal(data.created.length, 10_000);
});

test('while another tenant writes, a diff up to now does not wait, and an ended session is rejected at once', async () => {
  const [admin, other] = [await service.createTenant(), await service.createTenant()];
  const deptId = await other.createDepartment();
  const from = await databaseTime(service);
  await admin.createDepartment({ deptName: 'new' });
  const loggedOut = await service.logIn(admin.tenantId, 'boss');
  assert.equal((await loggedOut.post('/auth/logout')).code, 200);
  /** Expects a response while the write is still open. */
  const receive = (name: string, request: Promise<ApiResponse>) => {
    let response: ApiResponse | undefined;
    request.then((received) => {
      response = received;
    });
    return waitFor(`${name} has been answered`, () => response);
  };
  const { owner, superuser } = service;
  const { write } = await superuser.begin(async (tx) => {
    await tx`select from banyan.departments where dept_id = ${deptId} for update`;
    const write = other.put(DEPTS, { deptId, deptName: 'changed' });
    await waitFor('the write waits for its row', () => countLockWaits(owner, 'transactionid'));
    const { data } = await receive('the diff', admin.get(`${DEPTS}/diff?from=${from}`));
    assert.deepEqual(
      data.created.map(({ deptName }: { deptName: string }) => deptName),
      ['new'],
    );
    const time = await databaseTime({ superuser: owner });
    for (const path of ['1?asOf=', '0/children?asOf=', 'tree?asOf=', 'list?asOf=', `diff?from=${from}&to=`])
      expectError(await receive(path, loggedOut.get(`${DEPTS}/${path}${time}`)), 401, 'SESSION_ENDED');
    return { write };
  });
  assert.equal((await write).code, 200);
});
