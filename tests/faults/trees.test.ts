import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startService } from '../harness.ts';
import { begin, openTransactions, plant } from '../trees.ts';
import { until } from '../waiting.ts';

/** Large trees whose callers dawdle or leave, and whose database fails: nothing is held for long, nothing looks whole. */

const service = await startService();
const { superuser } = service;
const TREE = '/system/dept-api/tree';

/** Of 20,000 departments it has 10 MB: more than lies between two sockets, unless their buffers have grown. */
async function large(first: number, count = 20_000) {
  const client = await service.tenant();
  const parentOf = 'case when n > 9 then n / 9 end';
  await plant(superuser, client.tenantId, { first, count, parentOf, name: `repeat('🌳', 100)` });
  return client;
}
const [a, b, c] = [await large(1_000_000, 40_000), await large(2_000_000, 120_000), await large(3_000_000, 10_001)];
const noneOpen = () => until(async () => (await openTransactions(superuser)) === 0, 'no transaction is open');

test('a caller who leaves ends the work at once', async () => {
  const { response } = await begin(a);
  await until(async () => (await openTransactions(superuser)) === 1, 'it is being sent');
  response.destroy();
  // Sooner than who stops reading is cut off.
  await noneOpen();
});

test('a connection to the database that breaks halfway: the answer is not whole, and the service goes on', async () => {
  const reading = await begin(a);
  // The one that reads it, which may just have been lent its connection; not what works in the background.
  const cut = () => superuser`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename like 'banyan\\_service%' and xact_start is not null
      and query ~ 'dept_id'`;
  await until(async () => (await cut()).length > 0, 'it is read');
  const { whole, bytes } = await reading.rest();
  assert.equal(whole, false);
  assert.ok(bytes > 0);
  assert.equal((await a.get(`${TREE}?depth=1`)).code, 200);
  assert.equal((await (await begin(a)).rest()).whole, true);
});

test('who stops reading is cut off after a minute; who reads slowly is not; who waits too long is told', async () => {
  const began = performance.now();
  const stalled = await begin(a);
  const slow = await begin(b);
  // The line is full: for large trees alone.
  const third = begin(c);
  const again = begin(a);
  assert.equal((await c.get(`${TREE}?depth=2`)).code, 200);
  assert.equal((await c.get('/system/dept-api/list')).code, 200);
  await until(async () => (await openTransactions(superuser)) === 2, 'two are being sent, the others wait');
  const slowly = (async () => {
    let bytes = 0;
    for await (const chunk of slow.response) {
      bytes += chunk.length;
      if (performance.now() - began < 61_500) await setTimeout(400);
    }
    return { bytes, whole: slow.response.complete, ms: performance.now() - began };
  })();
  for (const waiting of [third, again]) {
    const { rest } = await waiting;
    const text = (await rest()).text();
    assert.equal(JSON.parse(text).data.reason, 'TOO_BUSY');
  }
  await setTimeout(57_000 - (performance.now() - began));
  assert.equal(await openTransactions(superuser), 2, 'not before its time');
  await until(async () => (await openTransactions(superuser)) < 2, 'the stalled one is cut off');
  assert.equal((await stalled.rest()).whole, false);
  const { whole, ms } = await slowly;
  assert.ok(whole && ms > 60_500, `the slow one got all of it, in ${ms} ms`);
  await noneOpen();
  assert.equal((await (await begin(c)).rest()).whole, true);
});
