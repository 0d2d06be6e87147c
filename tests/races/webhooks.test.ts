import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/sql.ts';
import { Receiver } from '../support/receiver.ts';
import { report, scale, together } from '../support/scale.ts';
import { type Client, QUICK_WEBHOOKS, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const environment = { BANYAN_WEBHOOK_NETWORKS: 'loopback' };
// Nobody takes a webhook from a node that is merely slow.
const timing = { ...QUICK_WEBHOOKS, webhookLeaseMs: 600_000 };
/** What each node waits for before it claims a webhook of this tenant, and how often it has looked for work. */
const claims = { of: '', here: async () => {}, there: async () => {}, looks: 0 };
const holdClaims =
  (node: 'here' | 'there') =>
  (db: Database): Database => {
    const hold = (sql: Sql) =>
      new Proxy(sql, {
        apply(target, self, args) {
          const query = Reflect.apply(target as never, self, args);
          const text = String(args[0]);
          if (node === 'there' && text.includes('webhooks_with_work')) claims.looks++;
          return text.includes('with free as') && args[1] === claims.of ? claims[node]().then(() => query) : query;
        },
      });
    return { ...db, use: (work) => db.use((sql) => work(hold(sql))) };
  };
const here = await startService(environment, { timing, between: holdClaims('here') });
const there = await startService(
  { ...environment, DATABASE_URL: here.databaseUrl },
  { timing, between: holdClaims('there') },
);
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
  const boss = await here.createTenant();
  let count = 0;
  const receivers = await Promise.all(
    Array.from({ length: scale(4, 6) }, (_, n) => Receiver.start(() => (n === 0 && count++ % 7 === 6 ? 503 : 200))),
  );
  const ids = await Promise.all(receivers.map((receiver) => register(boss, receiver)));
  const changes = scale(40, 1_000);
  const depts: string[] = [];
  await together(8, changes, async (n) => {
    const id = depts[n % 10];
    if (!id) depts.push(await boss.createDepartment({ deptName: 'v' }));
    else assert.equal((await boss.put(dept, { deptId: id, deptName: `v${n}` })).code, 200);
  });
  await waitFor('all have arrived', () => receivers.slice(1).every(({ taken }) => taken.length >= changes));
  // Who failed is not left to wait for five seconds each time.
  await waitFor('also at the one that failed', async () => {
    await boss.put(path, { id: ids[0], url: receivers[0]?.url, kinds: ['department.*'] });
    return (receivers[0]?.taken.length ?? 0) >= changes;
  });
  for (const receiver of receivers) {
    const messages = receiver.taken.map(({ id }) => id);
    assert.equal(new Set(messages).size, messages.length, 'none twice');
    assert.equal(messages.length, changes);
    await assertAllInOrder(boss, receiver);
  }
  report(t, { messages: changes * receivers.length });
});

test('a webhook that two nodes found free is worked on by one of them', async () => {
  const boss = await here.createTenant();
  const responses: ServerResponse[] = [];
  const receiver = await Receiver.start((_, response) => void responses.push(response));
  let found = false;
  let claimed = false;
  Object.assign(claims, {
    of: boss.tenantId,
    // Both have found it before one claims it, and the other comes while a message is on its way.
    here: () => waitFor('the other node found it, too', () => found),
    there: async () => {
      found = true;
      await waitFor('a message is on its way', () => receiver.all.length > 0);
      claimed = true;
    },
  });
  await register(boss, receiver);
  await boss.createDepartment();
  await waitFor('the other node claims it, too', () => claimed);
  const { looks } = claims;
  await waitFor('the other node has gone on', () => claims.looks > looks + 3);
  assert.equal(receiver.all.length, 1);
  claims.of = '';
  for (const response of responses) response.writeHead(200).end();
  await boss.createDepartment();
  await waitFor('the next message arrives', () => receiver.all.length > 1);
  for (const response of responses) if (!response.writableEnded) response.writeHead(200).end();
  assert.equal(new Set(receiver.all.map(({ id }) => id)).size, 2);
});

test('receivers that never answer hold up neither writers nor another receiver', async (t) => {
  const boss = await here.createTenant();
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
  await boss.createDepartment();
  await waitFor('all the dead are called', () => dead.every(({ all }) => all.length > 0));
  await register(boss, alive);
  const changes = scale(30, 1_000);
  await together(4, changes, async () => {
    await boss.createDepartment();
  });
  await waitFor('the one that lives has all', () => alive.taken.length === changes);
  // They are not given up in the course of a test: whatever got by them did so while they were waited for.
  assert.deepEqual([open, dead.flatMap(({ all }) => all).length], [most, most]);
  assert.ok(most <= 4 * dead.length, `${most} at once`);
  report(t, { changes, mostAtOnce: most });
});

test('sent again by two at the same moment, it comes in the end to one that is delivered', async () => {
  const boss = await here.createTenant();
  const receiver = await Receiver.start();
  const id = await register(boss, receiver);
  await boss.createDepartment();
  const state = async () => (await boss.get(`${path}/${id}/deliveries`)).data.rows[0];
  await waitFor('it was delivered', async () => (await state())?.state === 'delivered');
  const { id: delivery } = await state();
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => boss.post(`${path}/${id}/deliveries/${delivery}/resend`)),
  );
  assert.ok(answers.every(({ code }) => code === 200));
  await waitFor('delivered again', async () => (await state()).state === 'delivered' && receiver.taken.length >= 2);
  assert.equal((await boss.get(`${path}/${id}`)).data.waiting, 0);
});

// The last one: it closes the services of this file.
test('both nodes stop while a message is on its way, without waiting for its receiver', async () => {
  const boss = await here.createTenant();
  let left = 0;
  const slow = await Receiver.start((_, response) => {
    response.on('close', () => left++);
    return undefined;
  });
  await register(boss, slow);
  await boss.createDepartment();
  await waitFor('it is on its way', () => slow.all.length > 0);
  // A receiver has ten minutes to respond in tests.
  await Promise.all([here.close(), there.close()]);
  await waitFor('the receiver sees that nobody waits', () => left === slow.all.length);
  assert.equal(slow.taken.length, 0);
});
