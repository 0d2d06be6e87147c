import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError, expectOk, read, resultOf } from '../support/expect.ts';
import { firstSeed, report, runConcurrently, scale, seededRandom, Tally } from '../support/scale.ts';
import { type ApiResponse, Client, startService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

const QUOTAS = '/system/quota-api';
const service = await startService();
const second = await startService({ DATABASE_URL: service.databaseUrl });
const { root, superuser } = service;
const there = ({ token, tenantId }: Client) => new Client(second.base, token, undefined, tenantId);
const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });
const consume = (client: Client, key: string, amount = 1, query = '') =>
  client.post(`${QUOTAS}/consume${query}`, { quota: 'calls', amount }, withKey(key));
const isReplayed = ({ headers }: ApiResponse) => headers['idempotent-replayed'] === 'true';

async function tenantWithCalls(total: number, above = root) {
  const admin = await service.createTenant({}, above);
  expectOk(await above.put(`${QUOTAS}/calls?tenantId=${admin.tenantId}`, { total }));
  return admin;
}
const usedBy = async (client: Client): Promise<number> =>
  (await read(client, QUOTAS)).find(({ quota }: { quota: string }) => quota === 'calls').used;

/** Sends requests while the counter is locked, so that most of them wait in the queue and then share a transaction. */
async function sendBehindLock<T>(of: Client, count: number, send: (n: number) => Promise<T>): Promise<T[]> {
  // The counter exists from the first use on.
  assert.equal((await of.post(`${QUOTAS}/consume`, { quota: 'calls' })).code, 200);
  let arrived = 0;
  const onRequest = () => arrived++;
  service.app.server.on('request', onRequest);
  let sent: Promise<T>[] = [];
  await superuser.begin(async (tx) => {
    await tx`select from banyan.quota_counters where tenant_id = ${of.tenantId} and quota = 'calls' for update`;
    const blocked = [send(0), send(1)];
    await waitFor('the first transaction waits for the counter', () => countLockWaits(tx));
    sent = [...blocked, ...Array.from({ length: count - 2 }, (_, n) => send(n + 2))];
    await waitFor('all requests have arrived', () => arrived >= count);
    // This later request has been answered, so the tokens of all the others are verified by now.
    await read(of, QUOTAS);
  });
  service.app.server.off('request', onRequest);
  return Promise.all(sent);
}

const countTransactions = async ({ tenantId }: Client): Promise<number> => {
  const [{ count }] = await superuser<[{ count: number }]>`
    select count(distinct xmin::text)::int as count from banyan.quota_uses where tenant_id = ${tenantId}`;
  return count;
};

test('uses with an Idempotency-Key share transactions, in the tenant of the caller and in one below', async () => {
  const count = scale(16, 40);
  for (const acting of [false, true]) {
    const above = await service.createTenant();
    const admin = await tenantWithCalls(1_000, above);
    const [caller, query] = acting ? [above, `?tenantId=${admin.tenantId}`] : [admin, ''];
    const responses = await sendBehindLock(admin, count, (n) => consume(caller, `key ${n}`, 1, query));
    assert.deepEqual(new Set(responses.map(resultOf)), new Set(['done']));
    assert.equal(new Set(responses.map(({ data }) => data.useId)).size, count);
    assert.equal(await usedBy(admin), count + 1);
    const transactions = await countTransactions(admin);
    assert.ok(transactions < count, `${transactions} transactions for ${count} uses`);
    // Each outcome is stored, in the tenant of the caller.
    for (const [n, first] of responses.entries()) {
      const again = await consume(caller, `key ${n}`, 1, query);
      assert.deepEqual([again.data, isReplayed(again)], [first.data, true]);
    }
    assert.equal(await usedBy(admin), count + 1);
  }
});

test('a batch repeats the outcome of a key, and rejects the key with another body', async () => {
  const admin = await tenantWithCalls(1_000);
  const responses = await sendBehindLock(admin, 12, (n) =>
    consume(admin, n < 2 ? `first ${n}` : 'same', n < 11 ? 2 : 3),
  );
  const same = responses.slice(2);
  const done = same.filter(({ code }) => code === 200);
  assert.equal(new Set(done.map(({ data }) => data.useId)).size, 1);
  assert.equal(done.filter((response) => !isReplayed(response)).length, 1);
  // Either body may come first; the other is rejected.
  const isLastFirst = resultOf(responses[11] as ApiResponse) === 'done';
  assert.deepEqual(
    same.map(resultOf),
    same.map((_, n) => ((n === 9) === isLastFirst ? 'done' : 'KEY_REUSED')),
  );
  assert.equal(await usedBy(admin), 1 + 4 + (isLastFirst ? 3 : 2));
});

test('a request that is not allowed leaves no key behind, whatever else is in its batch', async () => {
  const admin = await tenantWithCalls(1_000);
  const member = await service.createMember(admin);
  const responses = await sendBehindLock(admin, 12, (n) => consume(n % 3 === 2 ? member : admin, `key ${n}`));
  assert.deepEqual(
    responses.map(resultOf),
    responses.map((_, n) => (n % 3 === 2 ? 'NOT_ALLOWED' : 'done')),
  );
  const rows = await superuser<{ isStored: boolean }[]>`
    select result is not null as "isStored" from banyan.idempotency_keys where tenant_id = ${admin.tenantId} and key like 'key %'`;
  assert.deepEqual(
    rows.map(({ isStored }) => isStored),
    Array(8).fill(true),
  );
});

test('a use in a tenant that is out of scope is rejected, also with an API key and together with an allowed use', async () => {
  const admin = await tenantWithCalls(1_000);
  const other = await tenantWithCalls(1_000);
  const member = await service.createMember(admin);
  const below = await tenantWithCalls(1_000, admin);
  for (const [client, tenantId] of [
    [admin, other.tenantId],
    [admin, '999999'],
    [below, admin.tenantId],
  ] as const) {
    expectError(await consume(client, tenantId, 1, `?tenantId=${tenantId}`), 403, 'OTHER_TENANT');
    expectError(await consume(client, tenantId, 1, `?tenantId=${tenantId}`), 403, 'OTHER_TENANT');
  }
  expectError(await consume(member, 'a', 1, `?tenantId=${below.tenantId}`), 403, 'NOT_ALLOWED');
  const { key } = (await admin.post('/system/key-api', { keyName: 'k', permissions: ['quota:use'] })).data;
  const keyed = new Client(service.base, key, undefined, admin.tenantId);
  const outcomes = await Promise.all([
    consume(keyed, 'b', 1, `?tenantId=${below.tenantId}`),
    consume(admin, 'b', 1, `?tenantId=${below.tenantId}`),
  ]);
  assert.deepEqual(outcomes.map(resultOf), ['OTHER_TENANT', 'done']);
  assert.deepEqual([await usedBy(other), await usedBy(below), await usedBy(admin)], [0, 1, 0]);
});

test('each key counts once on two nodes, however often and wherever it is sent', async (t) => {
  const { below } = seededRandom(firstSeed);
  const above = await service.createTenant();
  const admin = await tenantWithCalls(100_000, above);
  const keys = scale(15, 500);
  const tally = new Tally();
  const uses = new Map<string, Set<number>>();
  await runConcurrently(32, keys * 4, async () => {
    const acting = below(3) === 0;
    const client = acting ? above : admin;
    const key = `key ${below(keys)}`;
    const node = below(2) ? client : there(client);
    const response = await consume(node, key, 1, acting ? `?tenantId=${admin.tenantId}` : '');
    assert.equal(response.status, 200, response.text);
    tally.add(isReplayed(response) ? 'replayed' : 'counted');
    const id = `${acting} ${key}`;
    uses.set(id, (uses.get(id) ?? new Set()).add(response.data.useId));
  });
  assert.deepEqual(
    [...uses.values()].filter(({ size }) => size !== 1),
    [],
  );
  assert.equal(await usedBy(admin), uses.size);
  assert.equal(tally.counts.counted, uses.size);
  const [{ deadlocks }] = await superuser<[{ deadlocks: number }]>`
    select deadlocks::int from pg_stat_database where datname = current_database()`;
  assert.equal(deadlocks, 0);
  report(t, { seed: firstSeed, ...tally.counts });
});
