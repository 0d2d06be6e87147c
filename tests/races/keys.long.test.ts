// Only with test:long: keys.test.ts covers the limit with keys that are already there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError } from '../support/expect.ts';
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
