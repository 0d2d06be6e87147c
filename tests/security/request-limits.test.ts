import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBuckets } from '../../server/rate-limits/buckets.ts';
import { DEPTS, expectError } from '../support/expect.ts';
import { Client, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const LIMIT = { BANYAN_TENANT_REQUESTS_PER_SECOND: '1' };
const here = await startService(LIMIT);
const there = await startService({ ...LIMIT, DATABASE_URL: here.databaseUrl });
const { superuser } = here;
/** A service on the same database without a limit, to prepare tenants. */
const unlimited = await startService({ DATABASE_URL: here.databaseUrl });

const at = ({ base }: { base: string }, { token, tenantId }: Client) => new Client(base, token, undefined, tenantId);

/** Sets the tokens of a tenant or of a key. The bucket refills from the given time on. */
const fill = ({ tenantId = '' }: Client, tokens: number, refilled: string, keyId = '0') => superuser`
  insert into banyan.request_buckets (tenant_id, key_id, tokens, refilled)
  values (${tenantId}, ${keyId}, ${tokens}, now() + ${refilled}::text::interval)
  on conflict (tenant_id, key_id) do update set tokens = excluded.tokens, refilled = excluded.refilled`;

test('two nodes together serve exactly as many requests as the bucket of the tenant has tokens', async () => {
  const admin = await unlimited.createTenant();
  await fill(admin, 4, '1 day');
  const clients = [at(here, admin), at(there, admin)];
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (clients[n % 2] as Client).get(`${DEPTS}/list`)),
  );
  assert.equal(responses.filter(({ status }) => status === 200).length, 4);
  for (const response of responses.filter(({ status }) => status !== 200)) {
    expectError(response, 429, 'TOO_MANY_REQUESTS', { seconds: 1 });
    assert.equal(response.headers['retry-after'], '1');
    assert.equal(response.headers['ratelimit-policy'], '"tenant";q=5;w=5');
    assert.equal(response.headers.ratelimit, '"tenant";r=0;t=1');
  }
});

test('a tenant at its limit does not affect another tenant, nor requests without a token', async () => {
  const [busy, other] = [await unlimited.createTenant(), await unlimited.createTenant()];
  await fill(busy, 0, '1 day');
  await fill(other, 2, '1 day');
  expectError(await at(here, busy).get(`${DEPTS}/list`), 429, 'TOO_MANY_REQUESTS', { seconds: 1 });
  const { status, headers } = await at(here, other).get(`${DEPTS}/list`);
  assert.deepEqual([status, headers.ratelimit], [200, '"tenant";r=1;t=4']);
  assert.equal((await here.anonymous.get('/health/ready')).status, 200);
  assert.ok(await here.logIn(String(busy.tenantId), 'boss'));
});

test('an empty bucket refills with time, up to its capacity', async () => {
  const admin = await unlimited.createTenant();
  await fill(admin, 0, '1 day');
  const client = at(here, admin);
  expectError(await client.get(`${DEPTS}/list`), 429, 'TOO_MANY_REQUESTS', { seconds: 1 });
  await fill(admin, 0, '-1 hour');
  const { headers } = await waitFor('a request is allowed', async () => {
    const response = await client.get(`${DEPTS}/list`);
    return response.status === 200 ? response : undefined;
  });
  assert.equal(headers.ratelimit, '"tenant";r=4;t=1');
});

test('requests that the limit of a key rejects do not use up the tokens of its tenant', async () => {
  const admin = await unlimited.createTenant();
  const { data } = await admin.post('/system/key-api', {
    keyName: 'flood',
    permissions: ['dept:read'],
    requestsPerMinute: 6,
  });
  await fill(admin, 2, '1 day');
  await fill(admin, 1, '1 day', String(data.keyId));
  const withKey = new Client(here.base, data.key);
  const allowed = await withKey.get(`${DEPTS}/list`);
  assert.equal(allowed.status, 200, allowed.text);
  assert.equal(allowed.headers.ratelimit, '"key";r=0;t=60, "tenant";r=1;t=4');
  for (let n = 0; n < 5; n++) {
    const rejected = await withKey.get(`${DEPTS}/list`);
    expectError(rejected, 429, 'TOO_MANY_REQUESTS', { keyId: data.keyId });
    assert.equal(rejected.headers['ratelimit-policy'], '"key";q=6;w=60');
  }
  const { status, headers } = await at(here, admin).get(`${DEPTS}/list`);
  assert.deepEqual([status, headers.ratelimit], [200, '"tenant";r=0;t=5']);
});

test('without the setting there is no limit and no RateLimit header', async () => {
  const admin = await unlimited.createTenant();
  await fill(admin, 0, '1 day');
  const { status, headers } = await admin.get(`${DEPTS}/list`);
  assert.deepEqual([status, headers.ratelimit, headers['ratelimit-policy']], [200, undefined, undefined]);
});

test('a process takes tokens for a tenth of a second at a time, and does not ask again in that time while the bucket is empty', async () => {
  let now = 0;
  let left = 25;
  const taken: number[] = [];
  const decide = createBuckets(
    async (_bucket, wanted) => {
      taken.push(wanted);
      const granted = Math.min(wanted, left);
      left -= granted;
      return { granted, remaining: left };
    },
    () => now,
  );
  const allowed = async (count: number) =>
    (
      await Promise.all(
        Array.from({ length: count }, () => decide({ tenantId: '100001', perSecond: 100, capacity: 500 })),
      )
    ).filter((each) => each.allowed).length;
  assert.deepEqual([await allowed(15), taken], [15, [10, 10]]);
  // The five tokens of the second lease expire.
  now = 100;
  assert.deepEqual([await allowed(20), taken], [5, [10, 10, 10]]);
  assert.deepEqual([await allowed(1_000), taken.length], [0, 3]);
  now = 200;
  left = 3;
  assert.deepEqual([await allowed(20), taken.length], [3, 4]);
});

test('a changed rate applies at once, although tokens of the former rate are left', async () => {
  const taken: number[] = [];
  const decide = createBuckets(
    async (_bucket, wanted) => {
      taken.push(wanted);
      return { granted: wanted, remaining: 100 };
    },
    () => 0,
  );
  const bucket = { tenantId: '100001', capacity: 500 };
  for (const perSecond of [100, 100, 20, 20, 100]) assert.ok((await decide({ ...bucket, perSecond })).allowed);
  assert.deepEqual(taken, [10, 2, 10]);
});
