import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError } from '../support/expect.ts';
import { Client, startService } from '../support/service.ts';

const KEYS = '/system/key-api';
const service = await startService();
const second = await startService({ DATABASE_URL: service.databaseUrl });
const body = { keyName: 'key', permissions: ['dept:read'] };
const at = ({ base }: { base: string }, { token, tenantId }: Client) => new Client(base, token, undefined, tenantId);

test('exactly 100 of 130 concurrent creations of keys on two nodes succeed', async () => {
  const admin = await service.createTenant();
  const nodes = [admin, at(second, admin)];
  const responses = await Promise.all(Array.from({ length: 130 }, (_, n) => (nodes[n % 2] as Client).post(KEYS, body)));
  const created = responses.filter(({ status }) => status === 200);
  assert.equal(created.length, 100);
  assert.equal(new Set(created.map(({ data }) => data.key)).size, 100);
  for (const response of responses.filter(({ status }) => status !== 200)) {
    expectError(response, 409, 'TOO_MANY_KEYS', { limit: 100 });
  }
  assert.equal((await admin.get(`${KEYS}/list`)).data.total, 100);
  // A deleted key makes room for exactly one.
  await admin.delete(`${KEYS}/${created[0]?.data.keyId}`);
  const further = await Promise.all([1, 2, 3].map(() => admin.post(KEYS, body)));
  assert.deepEqual(further.map(({ status }) => status).sort(), [200, 409, 409]);
});

test('each of several concurrent rotations returns a key that works', async () => {
  const admin = await service.createTenant();
  const { keyId } = (await admin.post(KEYS, body)).data;
  const rotations = await Promise.all(Array.from({ length: 8 }, () => admin.post(`${KEYS}/${keyId}/rotate`)));
  for (const { data } of rotations) {
    assert.equal((await new Client(service.base, data.key).get(`${DEPTS}/list`)).status, 200);
  }
  const { prefix } = (await admin.get(`${KEYS}/${keyId}`)).data;
  assert.equal(rotations.filter(({ data }) => data.key.startsWith(prefix)).length, 1);
});

test('a creation that is sent twice at the same moment with one Idempotency-Key makes one key and shows it once', async () => {
  const admin = await service.createTenant();
  const send = () => admin.post(KEYS, body, { headers: { 'idempotency-key': 'twice' } });
  const responses = await Promise.all([send(), send(), send()]);
  assert.equal(new Set(responses.map(({ data }) => data.keyId)).size, 1);
  assert.equal(responses.filter(({ data }) => data.key !== null).length, 1);
  assert.equal((await admin.get(`${KEYS}/list`)).data.total, 1);
});

test('a key that is revoked on one node is rejected by the next request on another', async () => {
  const admin = await service.createTenant();
  const dept = await admin.createDepartment();
  const { keyId, key } = (await admin.post(KEYS, body)).data;
  const there = new Client(second.base, key);
  assert.equal((await there.get(`${DEPTS}/${dept}`)).status, 200);
  await admin.put(KEYS, { keyId, ...body, status: '1' });
  expectError(await there.get(`${DEPTS}/${dept}`), 403, 'KEY_DISABLED');
  await admin.put(KEYS, { keyId, ...body });
  assert.equal((await there.get(`${DEPTS}/${dept}`)).status, 200);
  await admin.delete(`${KEYS}/${keyId}`);
  expectError(await there.get(`${DEPTS}/${dept}`), 401, 'INVALID_KEY');
});
