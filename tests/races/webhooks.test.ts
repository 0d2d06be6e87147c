import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startService } from '../harness.ts';
import { Receiver } from '../receiver.ts';
import { report, scale, together } from '../scale.ts';
import { until } from '../waiting.ts';

const environment = { BANYAN_WEBHOOK_NETWORKS: 'loopback' };
const here = await startService(environment);
const there = await startService({ ...environment, DATABASE_URL: here.databaseUrl });
const path = '/system/webhook-api';
const dept = '/system/dept-api';

const register = async (boss: Client, receiver: Receiver): Promise<number> =>
  (await boss.post(path, { url: receiver.url, kinds: ['department.*'] })).data.id;

/** Of each department what was taken, in its order, is what the feed tells. */
async function assertAllInOrder(boss: Client, receiver: Receiver) {
  const told = new Map<string, number[]>();
  for (let after = '0'; ; ) {
    const { rows, next } = (await boss.get(`/system/change-api?after=${after}&limit=1000`)).data;
    for (const { id, resource, resourceId } of rows) {
      if (resource === 'department') told.set(resourceId, [...(told.get(resourceId) ?? []), id]);
    }
    if (rows.length === 0) break;
    after = next;
  }
  for (const [id, changes] of told) {
    const taken = receiver.taken.filter(({ data }) => data.resourceId === id).map(({ data }) => data.id);
    assert.deepEqual(taken, changes);
  }
}

test('two nodes at work: each message once, each record in its order, with a receiver that fails now and then', async (t) => {
  const boss = await here.tenant();
  let count = 0;
  const receivers = await Promise.all(
    Array.from({ length: 6 }, (_, n) => Receiver.start(() => (n === 0 && count++ % 7 === 6 ? 503 : 200))),
  );
  const ids = await Promise.all(receivers.map((receiver) => register(boss, receiver)));
  const changes = scale(60, 1_000);
  const depts: string[] = [];
  const began = performance.now();
  await together(8, changes, async (n) => {
    const id = depts[n % 10];
    if (!id) depts.push(await boss.dept({ deptName: 'v' }));
    else assert.equal((await boss.put(dept, { deptId: id, deptName: `v${n}` })).code, 200);
  });
  await until(() => receivers.slice(1).every(({ taken }) => taken.length >= changes), 'all have arrived');
  const ms = performance.now() - began;
  // Who failed is not left to wait for five seconds each time.
  await until(async () => {
    await boss.put(path, { id: ids[0], url: receivers[0]?.url, kinds: ['department.*'] });
    return (receivers[0]?.taken.length ?? 0) >= changes;
  }, 'also at the one that failed');
  for (const receiver of receivers) {
    const messages = receiver.taken.map(({ id }) => id);
    assert.equal(new Set(messages).size, messages.length, 'none twice');
    assert.equal(messages.length, changes);
    await assertAllInOrder(boss, receiver);
  }
  report(t, { messages: changes * 5, perSecond: Math.round((changes * 5_000) / ms) });
});

test('a receiver that never answers slows nobody', async (t) => {
  const boss = await here.tenant();
  let open = 0;
  let most = 0;
  const dead = await Promise.all(
    Array.from({ length: 10 }, () =>
      Receiver.start((_, response) => {
        most = Math.max(most, ++open);
        response.on('close', () => open--);
        return undefined;
      }),
    ),
  );
  const alive = await Receiver.start();
  for (const receiver of dead) await register(boss, receiver);
  await boss.dept();
  await until(() => dead.every(({ all }) => all.length > 0), 'all the dead are called');
  await register(boss, alive);
  const changes = scale(100, 1_000);
  const slowest = { writeMs: 0 };
  const began = performance.now();
  await together(4, changes, async () => {
    const asked = performance.now();
    await boss.dept();
    slowest.writeMs = Math.max(slowest.writeMs, Math.round(performance.now() - asked));
  });
  await until(() => alive.taken.length === changes, 'the one that lives has all');
  const ms = Math.round(performance.now() - began);
  assert.ok(ms < 9_000, `sooner than the dead are given up: ${ms} ms`);
  assert.ok(most <= 4 * dead.length, `${most} at once`);
  report(t, { changes, ms, ...slowest, mostAtOnce: most });
});

test('sent again by two at the same moment, it comes in the end to one that is delivered', async () => {
  const boss = await here.tenant();
  const receiver = await Receiver.start();
  const id = await register(boss, receiver);
  await boss.dept();
  const state = async () => (await boss.get(`${path}/${id}/deliveries`)).data.rows[0];
  await until(async () => (await state())?.state === 'delivered', 'it was delivered');
  const { id: delivery } = await state();
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => boss.post(`${path}/${id}/deliveries/${delivery}/resend`)),
  );
  assert.ok(answers.every(({ code }) => code === 200));
  await until(async () => (await state()).state === 'delivered' && receiver.taken.length >= 2, 'delivered again');
  assert.equal((await boss.get(`${path}/${id}`)).data.waiting, 0);
});

test('both nodes stop at once while messages are on their way', async () => {
  const boss = await here.tenant();
  const slow = await Receiver.start(() => undefined);
  await register(boss, slow);
  await boss.dept();
  await until(() => slow.all.length > 0, 'it is on its way');
  const began = performance.now();
  await Promise.all([here.close(), there.close()]);
  assert.ok(performance.now() - began < 8_000);
});
