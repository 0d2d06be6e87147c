import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError } from '../support/expect.ts';
import { Client, shareService, startService } from '../support/service.ts';

const KEYS = '/system/key-api';
const service = await shareService();
const second = await startService({ DATABASE_URL: service.databaseUrl });
const body = { keyName: 'key', permissions: ['dept:read'] };
const at = ({ base }: { base: string }, { token, tenantId }: Client) => new Client(base, token, undefined, tenantId);

test('concurrent creations of keys on two nodes stop at the limit of 100', async () => {
  const admin = await service.createTenant();
  const nodes = [admin, at(second, admin)];
  await service.superuser`
    insert into banyan.api_keys (tenant_id, key_name, prefix, permissions, below, status, create_by)
    select ${admin.tenantId}, 'key', 'x' || n, '{dept:read}', false, '0', 'test' from generate_series(1, 97) n`;
  const responses = await Promise.all(Array.from({ length: 12 }, (_, n) => (nodes[n % 2] as Client).post(KEYS, body)));
  const rejected = responses.filter(({ status }) => status !== 200);
  assert.equal(rejected.length, 9);
  for (const response of rejected) expectError(response, 409, 'TOO_MANY_KEYS', { limit: 100 });
  assert.equal((await admin.get(`${KEYS}/list`)).data.total, 100);
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

test('a creation that is sent several times at the same moment with one Idempotency-Key creates one key and shows it once', async () => {
  const admin = await service.createTenant();
  const send = () => admin.post(KEYS, body, { headers: { 'idempotency-key': 'twice' } });
  const responses = await Promise.all([send(), send(), send()]);
  assert.equal(new Set(responses.map(({ data }) => data.keyId)).size, 1);
  assert.equal(responses.filter(({ data }) => data.key !== null).length, 1);
  assert.equal((await admin.get(`${KEYS}/list`)).data.total, 1);
});

test('a key that is disabled or deleted on one node is rejected on another from the next request on', async () => {
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
