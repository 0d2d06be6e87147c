import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyLimit } from '../../server/auth/key-limits.ts';
import { createBuckets } from '../../server/rate-limits/buckets.ts';
import { DEPTS, expectError } from '../support/expect.ts';
import { basic, postForm } from '../support/oauth.ts';
import { Client, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const KEYS = '/system/key-api';
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

test('requests that the limit of a tenant rejects do not use up the tokens of a key', async () => {
  const admin = await unlimited.createTenant();
  const { data } = await admin.post('/system/key-api', {
    keyName: 'polls',
    permissions: ['dept:read'],
    requestsPerMinute: 6,
  });
  await fill(admin, 0, '1 day');
  await fill(admin, 2, '1 day', String(data.keyId));
  const withKey = new Client(here.base, data.key);
  const responses = await Promise.all(Array.from({ length: 10 }, () => withKey.get(`${DEPTS}/list`)));
  for (const response of responses) expectError(response, 429, 'TOO_MANY_REQUESTS');
  const rejected = await withKey.get(`${DEPTS}/list`);
  expectError(rejected, 429, 'TOO_MANY_REQUESTS', { seconds: 1 });
  assert.equal(rejected.headers.ratelimit, '"key";r=2;t=40, "tenant";r=0;t=1');
  // Each attempt that the tenant's bucket still rejects takes a token of the key, and puts it back.
  await fill(admin, 1, '1 day');
  const { headers } = await waitFor('a request is allowed', async () => {
    const response = await withKey.get(`${DEPTS}/list`);
    return response.status === 200 ? response : undefined;
  });
  assert.equal(headers.ratelimit, '"key";r=1;t=50, "tenant";r=0;t=5');
});

for (const [how, expected, code, refuse] of [
  ['deleted', 401, 'INVALID_KEY', (admin, { keyId }) => admin.delete(`${KEYS}/${keyId}`)],
  ['disabled', 403, 'KEY_DISABLED', (admin, key) => admin.put(KEYS, { ...key, status: '1' })],
  [
    'refused because of the address',
    403,
    'KEY_ADDRESS_REFUSED',
    (admin, key) => admin.put(KEYS, { ...key, addresses: ['127.0.0.9'] }),
  ],
] as [string, number, string, (admin: Client, key: { keyId: number }) => Promise<unknown>][]) {
  test(`requests with a key that is ${how}, or with its access token, do not use up the tokens of its tenant`, async () => {
    const admin = await unlimited.createTenant();
    const settings = { keyName: 'leaked', permissions: ['dept:read'] };
    const { keyId, key } = (await admin.post(KEYS, settings)).data;
    await fill(admin, 4, '1 day');
    const grant = { grant_type: 'client_credentials' };
    const { access_token } = JSON.parse(
      (await postForm(unlimited.base, '/auth/token', grant, basic(String(keyId), key))).text,
    );
    const clients = [key, access_token].map((token) => new Client(here.base, token));
    for (const client of clients) assert.equal((await client.get(`${DEPTS}/list`)).status, 200);
    await refuse(admin, { keyId, ...settings });
    // The process learns from one request that the key is refused.
    await fill(admin, 2, '1 day');
    for (let n = 0; n < 10; n++) {
      for (const client of clients) expectError(await client.get(`${DEPTS}/list`), expected, code);
    }
    const { status, text } = await at(here, admin).get(`${DEPTS}/list`);
    assert.equal(status, 200, text);
  });
}

test('a key uses up tokens of its tenant from allowed addresses only, and from a refused one once it is allowed', async () => {
  const admin = await unlimited.createTenant();
  const settings = { keyName: 'office', permissions: ['dept:read'] };
  const { keyId, key } = (await admin.post(KEYS, { ...settings, addresses: ['127.0.0.1'] })).data;
  const grant = { grant_type: 'client_credentials' };
  const { access_token } = JSON.parse(
    (await postForm(unlimited.base, '/auth/token', grant, basic(String(keyId), key))).text,
  );
  await fill(admin, 4, '1 day');
  const client = new Client(here.base, access_token);
  const readFrom = (from: string) => client.call('GET', `${DEPTS}/list`, undefined, { from });
  for (let n = 0; n < 5; n++) expectError(await readFrom('127.0.0.9'), 403, 'KEY_ADDRESS_REFUSED');
  assert.equal((await readFrom('127.0.0.1')).headers.ratelimit, '"tenant";r=2;t=3');
  expectError(await readFrom('127.0.0.9'), 403, 'KEY_ADDRESS_REFUSED');
  await admin.put(KEYS, { keyId, ...settings });
  assert.equal((await readFrom('127.0.0.9')).headers.ratelimit, undefined);
  assert.equal((await readFrom('127.0.0.9')).headers.ratelimit, '"tenant";r=1;t=4');
  assert.equal((await readFrom('127.0.0.1')).headers.ratelimit, '"tenant";r=0;t=5');
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
  const { take } = createBuckets(
    async (_bucket, wanted, unused) => {
      taken.push(wanted);
      const granted = Math.min(wanted, left + unused);
      left += unused - granted;
      return { granted, remaining: left };
    },
    () => now,
  );
  const allowed = async (count: number) =>
    (
      await Promise.all(
        Array.from({ length: count }, () => take({ tenantId: '100001', perSecond: 100, capacity: 500 })),
      )
    ).filter((each) => each.allowed).length;
  assert.deepEqual([await allowed(15), taken], [15, [10, 10]]);
  // The five tokens that are left of the second lease are put back.
  now = 100;
  assert.deepEqual([await allowed(20), taken], [10, [10, 10, 10]]);
  assert.deepEqual([await allowed(1_000), taken.length], [0, 3]);
  now = 200;
  left = 3;
  assert.deepEqual([await allowed(20), taken.length], [3, 4]);
});

test('a changed rate applies at once, although tokens of the former rate are left', async () => {
  const taken: number[] = [];
  const { take } = createBuckets(
    async (_bucket, wanted) => {
      taken.push(wanted);
      return { granted: wanted, remaining: 100 };
    },
    () => 0,
  );
  const bucket = { tenantId: '100001', capacity: 500 };
  for (const perSecond of [100, 100, 20, 20, 100]) assert.ok((await take({ ...bucket, perSecond })).allowed);
  assert.deepEqual(taken, [10, 2, 10]);
});

test('a token that is put back is used by another request, also when it is put back after the next lease was taken', async () => {
  let now = 0;
  let left = 2;
  let failing = false;
  const { take, putBack } = createBuckets(
    async (_bucket, wanted, unused) => {
      if (failing) throw new Error('no database');
      const granted = Math.min(wanted, left + unused);
      left += unused - granted;
      return { granted, remaining: left };
    },
    () => now,
  );
  const bucket = { tenantId: '100001', keyId: '1001', perSecond: 1, capacity: 60 };
  for (let n = 0; n < 10; n++) {
    assert.ok((await take(bucket)).allowed);
    assert.equal(putBack(bucket).remaining, 2);
    now += 150;
  }
  const [first, second] = [await take(bucket), await take(bucket)];
  assert.deepEqual([first.allowed, second.allowed, (await take(bucket)).allowed], [true, true, false]);
  putBack(bucket);
  now += 1_000;
  failing = true;
  await assert.rejects(async () => take(bucket), /no database/);
  putBack(bucket);
  failing = false;
  now += 1_000;
  assert.ok((await take(bucket)).allowed);
  assert.equal((await take(bucket)).allowed, true);
  assert.equal((await take(bucket)).allowed, false);
});

test('a token that is put back is dropped once the bucket has filled without it', async () => {
  let now = 0;
  const unusedTokens: number[] = [];
  const { take, putBack } = createBuckets(
    async (_bucket, wanted, unused) => {
      unusedTokens.push(unused);
      return { granted: wanted, remaining: 60 };
    },
    () => now,
  );
  const bucket = { tenantId: '100001', keyId: '1001', perSecond: 1, capacity: 60 };
  for (const later of [59_000, 61_000, 0]) {
    await take(bucket);
    putBack(bucket);
    now += later;
  }
  assert.deepEqual(unusedTokens, [0, 1, 0]);
});

test('concurrent requests read the limit of a key together, and rejected ones at most once a second', async () => {
  let now = 0;
  let reads = 0;
  let failing = true;
  const limit = new KeyLimit(
    async () => {
      reads++;
      if (failing) throw new Error('no database');
      return 5;
    },
    () => now,
  );
  const refresh = () => Promise.all(Array.from({ length: 10 }, () => limit.refresh()));
  await assert.rejects(refresh(), /no database/);
  assert.deepEqual([limit.requestsPerMinute, limit.isStale, reads], [undefined, true, 1]);
  failing = false;
  await refresh();
  assert.deepEqual([limit.requestsPerMinute, limit.isStale, reads], [5, false, 2]);
  now = 999;
  assert.equal(limit.isStale, false);
  now = 1_000;
  assert.equal(limit.isStale, true);
  // A request that is served reads the key, and with it the limit.
  limit.requestsPerMinute = null;
  assert.deepEqual([limit.requestsPerMinute, limit.isStale], [null, false]);
});
