import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { DEPTS, expectError } from '../support/expect.ts';
import { Client, shareService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const KEYS = '/system/key-api';
const service = await shareService();
const admin = await service.createTenant();

const withKey = (key: string) => new Client(service.base, key, undefined, admin.tenantId);

async function createKey(body: Record<string, unknown> = {}, by: Client = admin) {
  const { data, code, text } = await by.post(KEYS, { keyName: 'sync', permissions: ['dept:read'], ...body });
  assert.equal(code, 200, text);
  return { keyId: data.keyId as number, key: data.key as string, client: withKey(data.key) };
}

test('a key has the documented form, and its checksum is the CRC-32 of the 43 characters before it', async () => {
  const { key } = await createKey();
  assert.match(key, /^byk_[0-9A-Za-z]{49}$/);
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const checksum = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
  assert.equal(checksum, crc32(key.slice(4, 47)));
});

test('a key is created with a Location, and read without the key itself', async () => {
  const response = await admin.post(KEYS, {
    keyName: '订单同步',
    permissions: ['dept:read', 'user:read', 'dept:read'],
    below: true,
    expiresTime: '2099-12-31 23:59:59',
    addresses: ['127.0.0.1', '10.1.2.3/8', '2001:db8::/32'],
    requestsPerMinute: 600,
  });
  const { keyId, key } = response.data;
  assert.equal(response.headers.location, `${KEYS}/${keyId}`);
  const { data, text, headers } = await admin.get(`${KEYS}/${keyId}`);
  const { createTime, ...rest } = data;
  assert.match(createTime, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  assert.deepEqual(rest, {
    keyId,
    keyName: '订单同步',
    prefix: key.slice(0, 10),
    permissions: ['dept:read', 'user:read'],
    below: true,
    addresses: ['127.0.0.1/32', '10.0.0.0/8', '2001:db8::/32'],
    requestsPerMinute: 600,
    status: '0',
    expiresTime: '2099-12-31 23:59:59',
    lastUsedTime: null,
    lastUsedAddress: null,
    createBy: 'boss',
    updateBy: '',
    updateTime: null,
  });
  assert.ok(headers.etag);
  assert.ok(!text.includes(key));
  assert.ok(!(await admin.get(`${KEYS}/list`)).text.includes(key));
});

test('a key has the permissions that it was given, and no others', async () => {
  const dept = await admin.createDepartment({ deptName: 'read' });
  const { client, keyId } = await createKey({ keyName: 'reader' });
  assert.equal((await client.get(`${DEPTS}/${dept}`)).data.deptName, 'read');
  assert.equal((await client.get(`${DEPTS}/list`)).status, 200);
  expectError(await client.post(DEPTS, {}), 403, 'NOT_ALLOWED');
  expectError(await client.get('/system/user-api/list'), 403, 'NOT_ALLOWED');
  expectError(await client.get(`${KEYS}/${keyId}`), 403, 'NOT_ALLOWED');
  expectError(await client.post(KEYS, { keyName: 'x', permissions: ['dept:read'] }), 403, 'NOT_ALLOWED');
});

test('operations on the caller’s own account reject API keys', async () => {
  const { client } = await createKey();
  const calls = [
    client.get('/auth/me'),
    client.get('/auth/sessions'),
    client.post('/auth/logout'),
    client.put('/auth/password', { oldPassword: 'x', newPassword: 'a long new password' }),
  ];
  for (const response of await Promise.all(calls)) expectError(response, 403, 'USERS_ONLY');
});

test('the audit log and createBy name the key in a form that no user name can imitate', async () => {
  const { client, keyId } = await createKey({ keyName: 'importer', permissions: ['dept:write', 'dept:read'] });
  const by = `key ${keyId}: importer`;
  const dept = await client.createDepartment();
  const single = await client.post(DEPTS, {}, { headers: { 'idempotency-key': 'single' } });
  await client.put(DEPTS, { deptId: dept, deptName: 'changed' });
  const { data } = await client.get(`${DEPTS}/${dept}`);
  assert.deepEqual([data.createBy, data.updateBy], [by, by]);
  const { rows } = (await admin.get(`/system/change-api/list?by=${encodeURIComponent(by)}`)).data;
  assert.equal(rows.length, 3);
  for (const row of rows) {
    assert.deepEqual([row.by, row.byKeyId, row.byUserId, row.byTenantId], [by, keyId, null, admin.tenantId]);
  }
  assert.equal(single.status, 200);
  expectError(await admin.post('/system/user-api', { userName: by, password: 'correct horse' }), 400, 'INVALID_FIELD');
});

test('an update replaces all settings except `below`', async () => {
  const { keyId, client } = await createKey({ below: true, addresses: ['10.0.0.0/8'], requestsPerMinute: 5 });
  expectError(await client.get(`${DEPTS}/list`), 403, 'KEY_ADDRESS_REFUSED');
  await admin.put(KEYS, { keyId, keyName: 'other', permissions: ['dept:read', 'dept:write'], below: false });
  const { data } = await admin.get(`${KEYS}/${keyId}`);
  assert.deepEqual(
    [data.keyName, data.permissions, data.addresses, data.requestsPerMinute, data.below, data.updateBy],
    ['other', ['dept:read', 'dept:write'], null, null, true, 'boss'],
  );
  assert.equal((await client.post(DEPTS, {})).status, 200);
});

test('a key is rejected on the next request after it is disabled, expires or is deleted, and from an address that is not allowed', async () => {
  const { keyId, client } = await createKey();
  const settings = { keyId, keyName: 'sync', permissions: ['dept:read'] };
  const expect = async (status: number, reason: string) => {
    expectError(await client.get(`${DEPTS}/list`), status, reason);
    expectError(await client.get(`${DEPTS}/1`), status, reason);
  };
  const expectWorks = async () => assert.equal((await client.get(`${DEPTS}/list`)).status, 200);
  await expectWorks();
  await admin.put(KEYS, { ...settings, status: '1' });
  await expect(403, 'KEY_DISABLED');
  await admin.put(KEYS, { ...settings, expiresTime: '2020-01-01 00:00:00' });
  await expect(401, 'KEY_EXPIRED');
  await admin.put(KEYS, { ...settings, addresses: ['192.0.2.0/24', '2001:db8::/32'] });
  await expect(403, 'KEY_ADDRESS_REFUSED');
  await admin.put(KEYS, { ...settings, addresses: ['127.0.0.0/8'] });
  await expectWorks();
  assert.equal((await admin.delete(`${KEYS}/${keyId}`)).status, 200);
  await expect(401, 'INVALID_KEY');
  expectError(await admin.get(`${KEYS}/${keyId}`), 404, 'KEY_NOT_FOUND');
});

test('keys of a tenant that is not active are rejected', async () => {
  const tenant = await service.createTenant();
  const { key } = await createKey({}, tenant);
  await service.root.put('/system/tenant-api', { id: tenant.id, status: '1' });
  expectError(await withKey(key).get(`${DEPTS}/list`), 403, 'TENANT_DISABLED');
});

test('a key survives its creator', async () => {
  const { data } = await admin.post('/system/user-api', {
    userName: 'creator',
    password: 'correct horse 1',
    roles: ['admin'],
  });
  assert.equal(data, null);
  const [creator] = (await admin.get('/system/user-api/list?userName=creator')).data.rows;
  const { client } = await createKey({}, await service.logIn(admin.tenantId, 'creator', 'correct horse 1'));
  await admin.delete(`/system/user-api/${creator.userId}`);
  assert.equal((await client.get(`${DEPTS}/list`)).status, 200);
});

test('after a rotation the former key works for its grace period, and a rotation without one ends all former keys', async () => {
  const { keyId, client: first } = await createKey();
  const rotate = async (body?: object) => withKey((await admin.post(`${KEYS}/${keyId}/rotate`, body)).data.key);
  const statuses = async (...clients: Client[]) =>
    (await Promise.all(clients.map((client) => client.get(`${DEPTS}/list`)))).map(({ status }) => status);
  const second = await rotate();
  const third = await rotate({ graceSeconds: 604_800 });
  assert.deepEqual(await statuses(first, second, third), [200, 200, 200]);
  // The grace period of the first key is over.
  await service.superuser`
    update banyan.api_key_secrets set expires = now() where key_id = ${keyId} and secret_id =
      (select min(secret_id) from banyan.api_key_secrets where key_id = ${keyId})`;
  assert.deepEqual(await statuses(first, second, third), [401, 200, 200]);
  expectError(await first.get(`${DEPTS}/list`), 401, 'INVALID_KEY');
  const fourth = await rotate({ graceSeconds: 0 });
  assert.deepEqual(await statuses(first, second, third, fourth), [401, 401, 401, 200]);
  for (const graceSeconds of [-1, 604_801, 1.5, '1']) {
    expectError(await admin.post(`${KEYS}/${keyId}/rotate`, { graceSeconds }), 400, 'INVALID_FIELD');
  }
});

test('a key has at most ten secrets, however often it is rotated', async () => {
  const { keyId, client } = await createKey();
  for (let n = 0; n < 12; n++) await admin.post(`${KEYS}/${keyId}/rotate`);
  const [{ count }] = (await service.superuser`
    select count(*)::int as count from banyan.api_key_secrets where key_id = ${keyId}`) as unknown as [
    { count: number },
  ];
  assert.equal(count, 10);
  expectError(await client.get(`${DEPTS}/list`), 401, 'INVALID_KEY');
});

test('lastUsedTime and lastUsedAddress are updated at most once a minute, and a use does not prevent an update with the earlier ETag', async () => {
  const { keyId, client } = await createKey();
  const { etag = '' } = (await admin.get(`${KEYS}/${keyId}`)).headers;
  await client.get(`${DEPTS}/list`);
  await waitFor('the use is recorded', async () => (await admin.get(`${KEYS}/${keyId}`)).data.lastUsedTime);
  const record = (address: string) =>
    service.superuser`select banyan.record_key_uses(${[admin.tenantId]}, ${[keyId]}::bigint[], ${[address]})`;
  const setAge = (seconds: number) => service.superuser`
    update banyan.api_key_uses set time = clock_timestamp() - ${seconds} * interval '1 second' where key_id = ${keyId}`;
  // The time is in the future, so that less than a minute has passed on any machine.
  await setAge(-86_400);
  const used = (await admin.get(`${KEYS}/${keyId}`)).data;
  assert.equal(used.lastUsedAddress, '127.0.0.1');
  await record('192.0.2.1');
  assert.deepEqual((await admin.get(`${KEYS}/${keyId}`)).data, used);
  await setAge(60);
  await record('192.0.2.1');
  assert.equal((await admin.get(`${KEYS}/${keyId}`)).data.lastUsedAddress, '192.0.2.1');
  const body = { keyId, keyName: 'renamed', permissions: ['dept:read'] };
  assert.equal((await admin.put(KEYS, body, { headers: { 'if-match': etag } })).status, 200);
  expectError(await admin.put(KEYS, body, { headers: { 'if-match': etag } }), 412, 'CHANGED_MEANWHILE');
  const actions = (await admin.get(`/system/change-api/list?resource=key&resourceId=${keyId}`)).data.rows;
  assert.deepEqual(
    actions.map(({ action }: { action: string }) => action),
    ['updated', 'created'],
  );
});

test('a rejected request does not update lastUsedTime', async () => {
  const { keyId, client } = await createKey({ addresses: ['192.0.2.1'] });
  const other = await createKey();
  expectError(await client.get(`${DEPTS}/list`), 403, 'KEY_ADDRESS_REFUSED');
  await other.client.get(`${DEPTS}/list`);
  const lastUsed = async (id: number) => (await admin.get(`${KEYS}/${id}`)).data.lastUsedTime;
  await waitFor('the use of the other key is recorded', () => lastUsed(other.keyId));
  assert.equal(await lastUsed(keyId), null);
});

test('keys are listed with a total or with cursors, and filtered by name and status', async () => {
  const tenant = await service.createTenant();
  const ids: number[] = [];
  for (const keyName of ['Alpha', 'beta', 'alphabet']) ids.push((await createKey({ keyName }, tenant)).keyId);
  const idsOf = ({ data }: { data: { rows: { keyId: number }[] } }) => data.rows.map(({ keyId }) => keyId);
  const all = await tenant.get(`${KEYS}/list`);
  assert.deepEqual([idsOf(all), all.data.total], [ids, 3]);
  const second = await tenant.get(`${KEYS}/list?pageNum=2&pageSize=2`);
  assert.deepEqual([idsOf(second), second.data.total], [[ids[2]], 3]);
  const first = await tenant.get(`${KEYS}/list?cursor=&pageSize=2`);
  assert.deepEqual([idsOf(first), first.data.total], [[ids[0], ids[1]], undefined]);
  const next = await tenant.get(`${KEYS}/list?pageSize=2&cursor=${first.data.next}`);
  assert.deepEqual([idsOf(next), next.data.next], [[ids[2]], null]);
  expectError(await tenant.get(`${KEYS}/list?cursor=abc`), 400, 'INVALID_FIELD');
  assert.deepEqual(idsOf(await tenant.get(`${KEYS}/list?keyName=ALPHA`)), [ids[0], ids[2]]);
  assert.deepEqual(idsOf(await tenant.get(`${KEYS}/list?keyName=%25`)), []);
  assert.deepEqual(idsOf(await tenant.get(`${KEYS}/list?status=1`)), []);
  expectError(await tenant.get(`${KEYS}/list?name=x`), 400, 'UNKNOWN_PARAMETER');
});

test('a repeated creation or rotation with an Idempotency-Key changes nothing and does not show the key again', async () => {
  const headers = { 'idempotency-key': 'create a key' };
  const body = { keyName: 'once', permissions: ['dept:read'] };
  const [first, second] = [await admin.post(KEYS, body, { headers }), await admin.post(KEYS, body, { headers })];
  const { keyId } = first.data;
  assert.deepEqual(second.data, { keyId, key: null });
  assert.deepEqual([second.headers['idempotent-replayed'], second.headers.location], ['true', `${KEYS}/${keyId}`]);
  const rotate = () => admin.post(`${KEYS}/${keyId}/rotate`, {}, { headers: { 'idempotency-key': 'rotate a key' } });
  const [rotated, repeated] = [await rotate(), await rotate()];
  assert.deepEqual(repeated.data, { keyId, key: null });
  assert.equal((await withKey(rotated.data.key).get(`${DEPTS}/list`)).status, 200);
});

test('an API key and a user can use the same Idempotency-Key for different requests', async () => {
  const headers = { 'idempotency-key': 'shared' };
  const { client } = await createKey({ permissions: ['dept:write'] });
  const byUser = await admin.post(DEPTS, { deptName: 'user' }, { headers });
  const byKey = await client.post(DEPTS, { deptName: 'key' }, { headers });
  const again = await client.post(DEPTS, { deptName: 'key' }, { headers });
  assert.deepEqual([byUser.status, byKey.status], [200, 200]);
  assert.notEqual(byUser.headers.location, byKey.headers.location);
  assert.equal(again.headers.location, byKey.headers.location);
});

test('invalid input is rejected with the name of the field', async () => {
  const valid = { keyName: 'x', permissions: ['dept:read'] };
  const invalid: [string, Record<string, unknown>][] = [
    ['keyName', { keyName: '' }],
    ['keyName', { keyName: 'x'.repeat(101) }],
    ['permissions', { permissions: [] }],
    ['permissions', { permissions: 'dept:read' }],
    ['permissions[0]', { permissions: ['dept:fly'] }],
    ['permissions[1]', { permissions: ['dept:read', 'key:write'] }],
    ['permissions[0]', { permissions: ['role:write'] }],
    ['below', { below: 'yes' }],
    ['expiresTime', { expiresTime: '2030-02-30 00:00:00' }],
    ['expiresTime', { expiresTime: '2030-01-01T00:00:00Z' }],
    ['expiresTime', { expiresTime: '2030-01-01 24:00:00' }],
    ['addresses', { addresses: [] }],
    ['addresses[0]', { addresses: ['10.0.0.0/33'] }],
    ['addresses[1]', { addresses: ['::1', 'example.com'] }],
    ['addresses[0]', { addresses: ['fe80::1%eth0'] }],
    ['requestsPerMinute', { requestsPerMinute: 0 }],
    ['requestsPerMinute', { requestsPerMinute: 1.5 }],
  ];
  const { keyId } = await createKey();
  for (const [field, body] of invalid) {
    const response = await admin.post(KEYS, { ...valid, ...body });
    assert.deepEqual(
      [response.status, response.data.reason, response.data.field],
      [400, 'INVALID_FIELD', field],
      field,
    );
    if (!('below' in body)) expectError(await admin.put(KEYS, { keyId, ...valid, ...body }), 400, 'INVALID_FIELD');
  }
  expectError(await admin.post(KEYS, { permissions: ['dept:read'] }), 400, 'FIELD_REQUIRED');
  expectError(await admin.post(KEYS, { keyName: 'x' }), 400, 'FIELD_REQUIRED');
  expectError(await admin.put(KEYS, { ...valid, keyId: '9007199254740993' }), 404, 'KEY_NOT_FOUND');
});

test('a key can act in descendant tenants only with below: true', async () => {
  const below = await service.createTenant({}, admin);
  const dept = await below.createDepartment();
  const [own, withBelow] = [
    await createKey(),
    await createKey({ below: true, permissions: ['dept:read', 'dept:write'] }),
  ];
  const path = `${DEPTS}/${dept}?tenantId=`;
  const absent = await own.client.get(`${path}777777`);
  const refused = await own.client.get(`${path}${below.tenantId}`);
  assert.deepEqual([refused.status, refused.data], [absent.status, absent.data]);
  assert.equal((await withBelow.client.get(`${path}${below.tenantId}`)).data.tenantId, below.tenantId);
  await withBelow.client.put(`${DEPTS}?tenantId=${below.tenantId}`, { deptId: dept, deptName: 'from above' });
  const [change] = (await below.get('/system/change-api/list?limit=1')).data.rows;
  assert.deepEqual(
    [change.by, change.byKeyId, change.byTenantId],
    [`key ${withBelow.keyId}: sync`, withBelow.keyId, admin.tenantId],
  );
});
