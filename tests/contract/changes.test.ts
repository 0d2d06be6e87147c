import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES, DEPTS, expectInvalid } from '../support/expect.ts';
import { type Client, PASSWORD, shareService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const service = await shareService();

const resourceIdOf = ({ resourceId }: { resourceId: string }) => resourceId;

async function readChanges(client: Client, after = '0', limit = 3) {
  const rows = [];
  for (;;) {
    const { data, text } = await client.get(`${CHANGES}?after=${after}&limit=${limit}`);
    assert.ok(data?.rows, text);
    rows.push(...data.rows);
    if (data.rows.length < limit) return { rows, next: data.next as string };
    after = data.next;
  }
}

test('every write of a department is recorded with the record before and after', async () => {
  const admin = await service.createTenant();
  const { next } = await readChanges(admin);
  const top = await admin.createDepartment({ deptName: '总部' });
  const low = await admin.createDepartment({ deptName: '研发部', parentId: top, leader: '张三' });
  const { data: before } = await admin.get(`${DEPTS}/${low}`);
  await admin.put(DEPTS, { deptId: low, deptName: '研发中心' });
  const { data: renamed } = await admin.get(`${DEPTS}/${low}`);
  await admin.put(DEPTS, { deptId: low, deptName: '研发中心', parentId: 0 });
  const { data: moved } = await admin.get(`${DEPTS}/${low}`);
  await admin.put(`${DEPTS}/order`, { parentId: 0, deptIds: [low, top] });
  await admin.delete(`${DEPTS}/${low}`);
  const { rows } = await readChanges(admin, next);
  assert.deepEqual(
    rows.map(({ action, resource, resourceId, by }) => [action, resource, resourceId, by]),
    [
      ['created', 'department', top, 'boss'],
      ['created', 'department', low, 'boss'],
      ['updated', 'department', low, 'boss'],
      ['moved', 'department', low, 'boss'],
      ['updated', 'department', top, 'boss'],
      ['updated', 'department', low, 'boss'],
      ['deleted', 'department', low, 'boss'],
    ],
  );
  assert.deepEqual(rows[1].after, before);
  assert.deepEqual(rows[2].before, before);
  assert.deepEqual(rows[2].after, renamed);
  assert.deepEqual(rows[3].before, renamed);
  assert.deepEqual(rows[3].after, moved);
  assert.equal(rows[1].before, null);
  assert.equal(rows[6].after, null);
  assert.equal(rows[6].before.deptName, '研发中心');
  assert.deepEqual(
    Object.keys(rows[0]).sort(),
    'action after before by id requestId resource resourceId time'.split(' '),
  );
});

test('a bulk creation and a subtree delete are one batch each, with one change for each department', async () => {
  const admin = await service.createTenant();
  const { next } = await readChanges(admin);
  const departments = [
    { ref: 'b', parentRef: 'a', deptName: 'B' },
    { ref: 'a', deptName: 'A' },
  ];
  const { data } = await admin.post(`${DEPTS}/bulk`, { departments });
  const [b, a] = data.deptIds.map(String);
  await admin.delete(`${DEPTS}/${a}?subtree=true`);
  const { rows } = await readChanges(admin, next);
  assert.deepEqual(
    rows.map(({ action, resourceId }) => `${action} ${resourceId}`).sort(),
    [`created ${b}`, `created ${a}`, `deleted ${b}`, `deleted ${a}`].sort(),
  );
  assert.equal(
    rows.find(({ resourceId, action }) => resourceId === b && action === 'created').after.ancestors,
    `0,${a}`,
  );
  for (const action of ['created', 'deleted']) {
    const { data: audit } = await admin.get(`${CHANGES}/list?resource=department&action=${action}`);
    assert.equal(audit.rows.length, 2);
    assert.equal(new Set(audit.rows.map(({ batch }: { batch: number }) => batch)).size, 1, action);
    assert.equal(new Set(audit.rows.map(({ time }: { time: string }) => time)).size, 1, action);
  }
});

test('changes of concurrent requests name their own caller and request', async () => {
  const admin = await service.createTenant();
  await admin.createUser({ userName: 'second', roles: ['admin'] });
  const second = await service.logIn(admin.tenantId, 'second');
  const { next } = await readChanges(admin);
  const ids = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      const client = n % 2 ? admin : second;
      const response = await client.post(DEPTS, { deptName: `d${n}` }, { headers: { 'x-request-id': `request-${n}` } });
      return String(response.headers.location).split('/').at(-1);
    }),
  );
  const { rows } = await readChanges(admin, next, 100);
  for (const [n, id] of ids.entries()) {
    const row = rows.find(({ resourceId }) => resourceId === id);
    assert.deepEqual(
      [row?.by, row?.requestId, row?.after.deptName],
      [n % 2 ? 'boss' : 'second', `request-${n}`, `d${n}`],
    );
  }
  const { data } = await admin.get(`${CHANGES}/list?resource=department&limit=100`);
  assert.equal(new Set(data.rows.map(({ batch }: { batch: number }) => batch)).size, 40);
});

test('a user change includes the departments, and a password change is recorded without the password', async () => {
  const admin = await service.createTenant();
  const [one, two] = [await admin.createDepartment(), await admin.createDepartment()];
  const { next } = await readChanges(admin);
  const id = await admin.createUser({ userName: 'li', deptId: one, nickName: '李' });
  const read = async () => (await admin.get(`/system/user-api/${id}`)).data;
  const created = await read();
  await admin.put('/system/user-api', { userId: id, deptIds: [one, two], password: 'another password' });
  const changed = await read();
  await admin.delete(`/system/user-api/${id}`);
  const { rows } = await readChanges(admin, next);
  assert.deepEqual(
    rows.map(({ resource, action, resourceId }) => [resource, action, resourceId]),
    [
      ['user', 'created', id],
      ['user', 'updated', id],
      ['user', 'password changed', id],
      ['user', 'deleted', id],
    ],
  );
  assert.deepEqual([rows[0].after, rows[1].before, rows[1].after], [created, created, changed]);
  assert.deepEqual([rows[3].before, rows[3].after], [changed, null]);
  const { text } = await admin.get(`${CHANGES}/list?limit=500`);
  assert.doesNotMatch(text, /argon2|another password|correct horse/);
});

test('a tenant change is recorded for the tenant and the tenants above it, not for siblings', async () => {
  const top = await service.createTenant();
  const admin = await service.createTenant({}, top);
  const sibling = await service.createTenant({}, admin);
  const { next } = await readChanges(admin);
  const { next: nextOfTop } = await readChanges(top);
  const { next: nextOfSibling } = await readChanges(sibling);
  const child = await service.createTenant({ tenantName: '分公司', quotaBo: { riskReport: 5, credit: 7 } }, admin);
  await admin.put('/system/tenant-api', { id: child.id, tenantName: '分公司二' });
  const { data: now } = await admin.get(`/system/tenant-api/${child.id}`);
  const { rows } = await readChanges(admin, next);
  const { rows: rowsOfTop } = await readChanges(top, nextOfTop);
  const own = (await readChanges(child)).rows.filter(({ resource }) => resource === 'tenant');
  for (const changes of [rows, rowsOfTop, own]) {
    assert.deepEqual(
      changes.map(({ resource, action, resourceId }) => [resource, action, resourceId]),
      [
        ['tenant', 'created', child.id],
        ['tenant', 'updated', child.id],
      ],
    );
    assert.deepEqual(changes[1].after, now);
    assert.deepEqual(changes[0].after.quotaBo, { ...now.quotaBo, riskReport: 5 });
  }
  assert.deepEqual((await readChanges(sibling, nextOfSibling)).rows, []);
  await admin.delete(`/system/tenant-api/${child.id}`);
  assert.deepEqual((await readChanges(admin, next)).rows.at(-1).after, null);
});

test('successful and failed logins are in the audit log with address and request, not in the change feed', async () => {
  const admin = await service.createTenant();
  const { next } = await readChanges(admin);
  const body = { tenantId: admin.tenantId, username: 'boss' };
  const headers = { 'x-request-id': 'guess-1' };
  await service.anonymous.post('/auth/login', { ...body, password: 'wrong password' }, { headers, from: '127.0.0.9' });
  await service.anonymous.post('/auth/login', { ...body, username: 'no one', password: PASSWORD });
  await service.anonymous.post('/auth/login', { ...body, password: PASSWORD });
  assert.deepEqual((await readChanges(admin, next)).rows, []);
  const { data } = await admin.get(`${CHANGES}/list?resource=login&limit=3`);
  assert.deepEqual(
    data.rows.map(({ action, by, after }: Record<string, unknown>) => [action, by, after]),
    [
      ['passed', 'boss', { userName: 'boss', reason: null }],
      ['refused', 'unknown', { userName: 'unknown', reason: 'LOGIN_FAILED' }],
      ['refused', 'boss', { userName: 'boss', reason: 'LOGIN_FAILED' }],
    ],
  );
  assert.equal(data.rows[2].address, '127.0.0.9');
  assert.equal(data.rows[2].requestId, 'guess-1');
});

test('the audit log has filters, pages with the newest first, and the changes of tenants below', async () => {
  const admin = await service.createTenant();
  const child = await service.createTenant({}, admin);
  const id = await child.createDepartment({ deptName: 'one' });
  await child.put(DEPTS, { deptId: id, deptName: 'two' });
  const rowsOf = async (client: Client, query: string) => (await client.get(`${CHANGES}/list?${query}`)).data.rows;
  const ofChild = await rowsOf(admin, `resource=department&resourceId=${id}`);
  assert.deepEqual(
    ofChild.map(({ action, tenantId }: Record<string, unknown>) => [action, tenantId]),
    [
      ['updated', child.tenantId],
      ['created', child.tenantId],
    ],
  );
  assert.deepEqual(await rowsOf(admin, `tenantId=${child.tenantId}&resource=department`), ofChild);
  assert.deepEqual(await rowsOf(admin, 'below=false&resource=department'), []);
  assert.deepEqual(await rowsOf(child, `by=nobody`), []);
  const [newer, older] = ofChild;
  assert.deepEqual(await rowsOf(child, `resource=department&from=${newer.time}`), [newer]);
  assert.deepEqual(await rowsOf(child, `resource=department&to=${newer.time}`), [older]);
  const first = (await child.get(`${CHANGES}/list?resource=department&limit=1`)).data;
  assert.deepEqual(first.rows, [newer]);
  const second = (await child.get(`${CHANGES}/list?resource=department&limit=1&cursor=${first.next}`)).data;
  assert.deepEqual([second.rows, second.next], [[older], null]);
  const all = await rowsOf(admin, `limit=500`);
  const ids = all.map(({ id }: { id: number }) => id);
  assert.equal(new Set(ids).size, ids.length, 'no change is listed twice');
  for (const path of [CHANGES, `${CHANGES}/list`, `${CHANGES}/stream`]) {
    assert.equal((await child.get(`${path}?tenantId=${admin.tenantId}`)).data.reason, 'OTHER_TENANT', path);
  }
  const member = await service.createMember(child);
  for (const path of [CHANGES, `${CHANGES}/list`, `${CHANGES}/stream`]) {
    assert.equal((await member.get(path)).data.reason, 'NOT_ALLOWED');
  }
});

test('the error about a day that does not exist names its parameter', async () => {
  const admin = await service.createTenant();
  const [day, missing] = ['2026-01-31', '2026-02-31'];
  expectInvalid(await admin.get(`${CHANGES}/list?from=${day}&to=${missing}`), 'to');
  expectInvalid(await admin.get(`${CHANGES}/list?from=${missing}&to=${day}`), 'from');
});

test('long polling returns the next change, or an empty page when the wait is over', async () => {
  const admin = await service.createTenant();
  let { next } = await readChanges(admin);
  const poll = async (seconds: number) => {
    const startedAt = performance.now();
    const { data } = await admin.get(`${CHANGES}?after=${next}&wait=${seconds}`);
    const ms = performance.now() - startedAt;
    assert.ok(data.rows.length > 0 || ms >= seconds * 1_000, `an empty page after ${ms} ms`);
    return { data, isOver: ms >= seconds * 1_000 };
  };
  assert.deepEqual((await poll(1)).data, { rows: [], next });
  // Only a response before the end of the wait shows that the change ended it. A slow machine may need another attempt.
  await waitFor('a poll ends with the change, before its wait is over', async () => {
    const waiting = poll(60);
    await waitFor('the poll waits', () => service.app.loadShedder.usage().subscriptions.long_poll > 0);
    const id = await admin.createDepartment();
    const { data, isOver } = await waiting;
    if (data.rows.length > 0) assert.deepEqual(data.rows.map(resourceIdOf), [id]);
    ({ next } = await readChanges(admin, next));
    return !isOver;
  });
});
