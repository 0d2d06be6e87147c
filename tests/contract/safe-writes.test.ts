import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { expectError } from '../support/expect.ts';
import { type ApiResponse, Client, PASSWORD, shareService } from '../support/service.ts';

const service = await shareService();
const admin = await service.createTenant();

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });
const ifMatch = (etag: string | undefined) => ({ headers: { 'if-match': String(etag) } });
const readEtag = async (client: Client, path: string) => (await client.get(path)).headers.etag as string;

test('a department, tenant and user each have an ETag that changes with the record', async () => {
  const child = await service.createTenant({}, admin);
  const paths = {
    [`/system/dept-api/${await admin.createDepartment()}`]: (id: string) =>
      admin.put('/system/dept-api', { deptId: id, leader: '张' }),
    [`/system/tenant-api/${child.id}`]: (id: string) => admin.put('/system/tenant-api', { id, quotaBo: { zr: 7 } }), // a field that no read shows
    [`/system/user-api/${await admin.createUser({ userName: 'etag' })}`]: (id: string) =>
      admin.put('/system/user-api', { userId: id, nickName: '小' }),
  };
  for (const [path, change] of Object.entries(paths)) {
    const before = await readEtag(admin, path);
    assert.match(before, /^"[\w-]+"$/);
    assert.equal(await readEtag(admin, path), before);
    assert.equal((await change(path.split('/').at(-1) as string)).code, 200);
    assert.notEqual(await readEtag(admin, path), before);
  }
});

test('an update or delete with an outdated If-Match is rejected with 412', async () => {
  const deptId = await admin.createDepartment({ deptName: 'a' });
  const path = `/system/dept-api/${deptId}`;
  const etag = await readEtag(admin, path);
  assert.equal((await admin.put('/system/dept-api', { deptId, deptName: 'b' }, ifMatch(etag))).code, 200);
  const stale = await admin.put('/system/dept-api', { deptId, deptName: 'c' }, ifMatch(etag));
  assert.equal(stale.status, 412);
  assert.equal(stale.data.reason, 'CHANGED_MEANWHILE');
  assert.equal((await admin.get(path)).data.deptName, 'b');
  assert.equal((await admin.delete(path, ifMatch(etag))).status, 412);
  assert.equal(
    (await admin.put('/system/dept-api', { deptId, deptName: 'd' })).code,
    200,
    'without If-Match the last writer wins',
  );
  assert.equal((await admin.delete(path, ifMatch(`"other", ${await readEtag(admin, path)}`))).code, 200);
  const notFound = await admin.delete(path, ifMatch('"any"'));
  assert.deepEqual(
    notFound.data,
    { reason: 'DEPT_NOT_FOUND', deptIds: [Number(deptId)] },
    'the same error as without If-Match',
  );
});

test('an outdated If-Match is rejected for tenants and users, and * always matches', async () => {
  const child = await service.createTenant({}, admin);
  const userId = await admin.createUser({ userName: 'match' });
  const tenantTag = await readEtag(admin, `/system/tenant-api/${child.id}`);
  const userTag = await readEtag(admin, `/system/user-api/${userId}`);
  await admin.put('/system/tenant-api', { id: child.id, tenantName: 'x' });
  await admin.put('/system/user-api', { userId, nickName: 'x' });
  const responses = [
    await admin.put('/system/tenant-api', { id: child.id }, ifMatch(tenantTag)),
    await admin.delete(`/system/tenant-api/${child.id}`, ifMatch(tenantTag)),
    await admin.put('/system/user-api', { userId }, ifMatch(userTag)),
    await admin.delete(`/system/user-api/${userId}`, ifMatch(userTag)),
  ];
  assert.deepEqual(
    responses.map(({ status }) => status),
    [412, 412, 412, 412],
  );
  assert.equal((await admin.delete(`/system/user-api/${userId}`, ifMatch('*'))).code, 200);
});

test('moving a parent changes the ETag of a department, because ancestors is part of it', async () => {
  const top = await admin.createDepartment();
  const other = await admin.createDepartment();
  const deptId = await admin.createDepartment({ parentId: top });
  const etag = await readEtag(admin, `/system/dept-api/${deptId}`);
  await admin.put('/system/dept-api', { deptId: top, parentId: other });
  assert.equal((await admin.put('/system/dept-api', { deptId }, ifMatch(etag))).status, 412);
});

test('one of ten concurrent updates with the same If-Match succeeds', async () => {
  const deptId = await admin.createDepartment();
  const etag = await readEtag(admin, `/system/dept-api/${deptId}`);
  const names = Array.from({ length: 10 }, (_, n) => `n${n}`);
  const responses = await Promise.all(
    names.map((deptName) => admin.put('/system/dept-api', { deptId, deptName }, ifMatch(etag))),
  );
  assert.deepEqual(responses.map(({ status }) => status).sort(), [200, ...Array(9).fill(412)]);
});

test('If-Match with several ids is rejected', async () => {
  const ids = [await admin.createDepartment(), await admin.createDepartment()];
  const response = await admin.delete(`/system/dept-api/${ids}`, ifMatch('"x"'));
  assert.equal(response.status, 400);
  assert.equal(response.data.field, 'If-Match');
});

test('a create retried with its Idempotency-Key replays the response and creates nothing', async () => {
  const key = randomUUID();
  const body = { deptName: randomUUID() };
  const first = await admin.post('/system/dept-api', body, withKey(key));
  const again = await admin.post('/system/dept-api', body, withKey(key));
  assert.equal(again.text, first.text);
  assert.equal(again.headers.location, first.headers.location);
  assert.equal(again.headers['idempotent-replayed'], 'true');
  assert.equal((await admin.get(`/system/dept-api/list?deptName=${body.deptName}`)).data.total, 1);
});

test('another body or operation with the same Idempotency-Key is rejected', async () => {
  const key = randomUUID();
  await admin.post('/system/dept-api', { deptName: 'a' }, withKey(key));
  for (const response of [
    await admin.post('/system/dept-api', { deptName: 'b' }, withKey(key)),
    await admin.delete('/system/dept-api/1', withKey(key)),
  ]) {
    assert.equal(response.status, 409);
    assert.equal(response.data.reason, 'KEY_REUSED');
  }
});

test('concurrent creates with the same Idempotency-Key create one department', async () => {
  for (let round = 0; round < 10; round++) {
    const key = randomUUID();
    const body = { deptName: randomUUID() };
    const responses = await Promise.all([1, 2, 3].map(() => admin.post('/system/dept-api', body, withKey(key))));
    assert.equal(new Set(responses.map(({ headers }) => headers.location)).size, 1);
    assert.equal((await admin.get(`/system/dept-api/list?deptName=${body.deptName}`)).data.total, 1);
  }
});

test('a replayed error has its details in the same order', async () => {
  const key = randomUUID();
  const body = { username: 'ann', password: PASSWORD, accountCount: 0 };
  const send = () => admin.post('/system/tenant-api', body, withKey(key));
  const first = await send();
  expectError(first, 409, 'ACCOUNT_LIMIT', { accountCount: 0, field: 'accountCount' });
  assert.equal((await send()).text, first.text);
});

test('an error is replayed even when the request would succeed by now', async () => {
  const parentId = await admin.createDepartment();
  const child = await admin.createDepartment({ parentId });
  const key = randomUUID();
  const rejected = await admin.delete(`/system/dept-api/${parentId}`, withKey(key));
  assert.equal(rejected.data.reason, 'DEPT_HAS_CHILDREN');
  await admin.delete(`/system/dept-api/${child}`);
  assert.equal((await admin.delete(`/system/dept-api/${parentId}`, withKey(key))).text, rejected.text);
  assert.equal((await admin.delete(`/system/dept-api/${parentId}`, withKey(randomUUID()))).code, 200);
});

test('an update and a delete retried with their Idempotency-Key succeed again', async () => {
  const deptId = await admin.createDepartment();
  const key = { put: randomUUID(), delete: randomUUID() };
  const body = { deptId, deptName: 'x' };
  for (let round = 0; round < 2; round++) {
    assert.equal((await admin.put('/system/dept-api', body, withKey(key.put))).code, 200);
  }
  for (let round = 0; round < 2; round++) {
    assert.equal((await admin.delete(`/system/dept-api/${deptId}`, withKey(key.delete))).code, 200);
  }
});

test('users of a child tenant and tenants with a first administrator are created once per Idempotency-Key', async () => {
  const child = await service.createTenant({}, admin);
  const user = { userName: 'once', password: PASSWORD, tenantId: child.tenantId };
  const tenant = { tenantName: 'once', username: 'first', password: PASSWORD };
  for (const [path, body] of [
    ['/system/user-api', user],
    ['/system/tenant-api', tenant],
  ] as const) {
    const key = randomUUID();
    const first = await admin.post(path, body, withKey(key));
    assert.equal(first.code, 200, first.text);
    const again = await admin.post(path, body, withKey(key));
    assert.equal(again.headers.location, first.headers.location);
    const other = await admin.post(path, { ...body, password: 'another one' }, withKey(key));
    assert.equal(other.data.reason, 'KEY_REUSED', 'a different password is a different request');
  }
});

test('a password change retried with its Idempotency-Key succeeds although the old password changed', async () => {
  const member = await service.createMember(admin);
  const key = randomUUID();
  const body = { oldPassword: PASSWORD, newPassword: 'a new password' };
  assert.equal((await member.put('/auth/password', body, withKey(key))).code, 200);
  assert.equal((await member.put('/auth/password', body, withKey(key))).code, 200);
});

test('Idempotency-Keys are separate for each user, API key and tenant, and expire after 24 hours', async () => {
  const key = randomUUID();
  const other = await service.createTenant();
  const colleague = await service.createMember(admin, { userName: 'second', roles: ['admin'] });
  const { data } = await admin.post('/system/key-api', { keyName: 'k', permissions: ['dept:write'] });
  const callers = [admin, other, colleague, new Client(service.base, data.key)];
  const createAll = () => Promise.all(callers.map((client) => client.post('/system/dept-api', {}, withKey(key))));
  const locationsOf = (responses: ApiResponse[]) => responses.map(({ headers }) => headers.location);
  const created = await createAll();
  const replays = await createAll();
  const resultsOf = (responses: ApiResponse[]) =>
    responses.map(({ code, headers }) => [code, headers['idempotent-replayed']]);
  assert.deepEqual(
    [...resultsOf(created), ...resultsOf(replays)],
    [...Array(4).fill([200, undefined]), ...Array(4).fill([200, 'true'])],
  );
  assert.equal(new Set(locationsOf(created)).size, 4);
  assert.deepEqual(locationsOf(replays), locationsOf(created));
  await service.superuser`
    update idempotency_keys set create_time = create_time - interval '25 hours' where key = ${key}`;
  const later = await admin.post('/system/dept-api', {}, withKey(key));
  assert.deepEqual([later.code, later.headers['idempotent-replayed']], [200, undefined]);
  assert.notEqual(later.headers.location, created[0]?.headers.location);
  assert.equal((await admin.post('/system/dept-api', {}, withKey('x'.repeat(256)))).status, 400);
});
