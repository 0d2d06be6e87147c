import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/driver.ts';
import { Receiver } from '../support/receiver.ts';
import { report, runConcurrently, scale } from '../support/scale.ts';
import { type Client, FAST_WEBHOOK_POLLING, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const environment = { BANYAN_WEBHOOK_NETWORKS: 'loopback' };
// The lease is so long that no node takes over a webhook from a node that is merely slow.
const timing = { ...FAST_WEBHOOK_POLLING, webhookLeaseMs: 600_000 };
/** What each node awaits before it claims a webhook of this tenant, and how often node B has polled for work. */
const claims = { tenantId: '', nodeA: async () => {}, nodeB: async () => {}, polls: 0 };
/** What both nodes await before they save the state of a webhook of this tenant. */
const saves = { tenantId: '', wait: async () => {} };
/** Whether both nodes wait before they look for due webhooks. */
let pollsBlocked = false;
const delayStatements =
  (node: 'nodeA' | 'nodeB') =>
  (db: Database): Database => {
    const delay = (sql: Sql) =>
      new Proxy(sql, {
        apply(target, self, args) {
          const query = Reflect.apply(target as never, self, args);
          const text = String(args[0]);
          if (node === 'nodeB' && text.includes('due_webhooks')) claims.polls++;
          if (text.includes('due_webhooks') && pollsBlocked)
            return waitFor('polls resume', () => !pollsBlocked).then(() => query);
          if (text.includes('with free as') && args[1] === claims.tenantId) return claims[node]().then(() => query);
          return text.includes('with backlog as') && args[1] === saves.tenantId
            ? saves.wait().then(() => query)
            : query;
        },
      });
    return { ...db, use: (work) => db.use((sql) => work(delay(sql))) };
  };
const nodeA = await startService(environment, { timing, wrapDatabase: delayStatements('nodeA') });
const nodeB = await startService(
  { ...environment, DATABASE_URL: nodeA.databaseUrl },
  { timing, wrapDatabase: delayStatements('nodeB') },
);
const path = '/system/webhook-api';
const dept = '/system/dept-api';

const register = async (admin: Client, receiver: Receiver): Promise<number> =>
  (await admin.post(path, { url: receiver.url, kinds: ['department.*'] })).data.id;

/** Asserts that the receiver accepted the same changes of each department, in the same order, as the feed shows. */
async function assertDeliveredInOrder(admin: Client, receiver: Receiver) {
  const feed = new Map<string, number[]>();
  for (let after = '0'; ; ) {
    const { rows, next } = (await admin.get(`/system/change-api?after=${after}&limit=1000`)).data;
    for (const { id, resource, resourceId } of rows) {
      if (resource === 'department') feed.set(resourceId, [...(feed.get(resourceId) ?? []), id]);
    }
    if (rows.length === 0) break;
    after = next;
  }
  for (const [id, changes] of feed) {
    const delivered = receiver.accepted.filter(({ data }) => data.resourceId === id).map(({ data }) => data.id);
    assert.deepEqual(delivered, changes);
  }
}

test('two nodes deliver each message once and in order per record, even to a receiver that sometimes fails', async (t) => {
  const admin = await nodeA.createTenant();
  let count = 0;
  const receivers = await Promise.all(
    Array.from({ length: scale(3, 6) }, (_, n) => Receiver.start(() => (n === 0 && count++ % 7 === 6 ? 503 : 200))),
  );
  const ids = await Promise.all(receivers.map((receiver) => register(admin, receiver)));
  const changes = scale(20, 500);
  const depts: string[] = [];
  await runConcurrently(8, changes, async (n) => {
    const id = depts[n % 10];
    if (!id) depts.push(await admin.createDepartment({ deptName: 'v' }));
    else assert.equal((await admin.put(dept, { deptId: id, deptName: `v${n}` })).code, 200);
  });
  await waitFor('the other receivers have all messages', () =>
    receivers.slice(1).every(({ accepted }) => accepted.length >= changes),
  );
  // Update the webhook, so that a failed delivery is not delayed for five seconds each time.
  await waitFor('the failing receiver has all messages', async () => {
    await admin.put(path, { id: ids[0], url: receivers[0]?.url, kinds: ['department.*'] });
    return (receivers[0]?.accepted.length ?? 0) >= changes;
  });
  for (const receiver of receivers) {
    const messages = receiver.accepted.map(({ id }) => id);
    assert.equal(new Set(messages).size, messages.length, 'no message is delivered twice');
    assert.equal(messages.length, changes);
    await assertDeliveredInOrder(admin, receiver);
  }
  report(t, { messages: changes * receivers.length });
});

test('only one of two nodes that found a webhook free delivers its messages', async () => {
  const admin = await nodeA.createTenant();
  const responses: ServerResponse[] = [];
  const receiver = await Receiver.start((_, response) => void responses.push(response));
  let found = false;
  let claimed = false;
  Object.assign(claims, {
    tenantId: admin.tenantId,
    // Node A claims the webhook after both have found it; node B tries to claim it while a message is in flight.
    nodeA: () => waitFor('node B has found the webhook', () => found),
    nodeB: async () => {
      found = true;
      await waitFor('a message is in flight', () => receiver.all.length > 0);
      claimed = true;
    },
  });
  await register(admin, receiver);
  await admin.createDepartment();
  await waitFor('node B tries to claim the webhook', () => claimed);
  const { polls } = claims;
  await waitFor('node B has polled again', () => claims.polls > polls + 3);
  assert.equal(receiver.all.length, 1);
  claims.tenantId = '';
  for (const response of responses) response.writeHead(200).end();
  await admin.createDepartment();
  await waitFor('the next message arrives', () => receiver.all.length > 1);
  for (const response of responses) if (!response.writableEnded) response.writeHead(200).end();
  assert.equal(new Set(receiver.all.map(({ id }) => id)).size, 2);
});

test('a change that is sealed while its webhook is being released is delivered', async () => {
  const admin = await nodeA.createTenant();
  const { tenantId } = admin;
  const responses: ServerResponse[] = [];
  const receiver = await Receiver.start((_, response) => void responses.push(response));
  await register(admin, receiver);
  await admin.createDepartment();
  await waitFor('a message is in flight', () => receiver.all.length === 1);
  let saving = false;
  let sealing = false;
  Object.assign(saves, {
    tenantId,
    wait: async () => {
      saving = true;
      await waitFor('the change is sealed, or waits for the webhook', () => sealing);
    },
  });
  responses[0]?.writeHead(200).end();
  // The node has read the ledger, which has nothing more to send, and is about to release the webhook.
  await waitFor('the node saves the state of the webhook', () => saving);
  // Keep the nodes from finding the webhook by its unsealed change.
  pollsBlocked = true;
  const [{ lease }] = await nodeA.superuser<[{ lease: string }]>`
    select lease_id as lease from banyan.webhooks where tenant_id = ${tenantId}`;
  await nodeA.superuser.begin(async (tx) => {
    // The lock keeps the nodes from sealing the change themselves.
    await tx`select from banyan.seal_heads where tenant_id = ${tenantId} for update`;
    await admin.createDepartment();
    const [{ pid }] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`;
    let done = false;
    const sealed = tx`select banyan.seal_changes(${tenantId}, 1000)`.then(() => {
      done = true;
    });
    await waitFor('the change is sealed, or waits for the webhook', async () => {
      const waiting =
        await nodeB.superuser`select from pg_stat_activity where pid = ${pid} and wait_event_type = 'Lock'`;
      return done || waiting.length > 0;
    });
    saves.tenantId = '';
    sealing = true;
    // A node that had begun to look for due webhooks may lease it again at once, and then waits for the lock of this transaction.
    await waitFor('the webhook is released', async () => {
      const leased = await tx`
        select from banyan.webhooks where tenant_id = ${tenantId} and lease_id = ${lease}`;
      return leased.length === 0;
    });
    await sealed;
  });
  pollsBlocked = false;
  await waitFor('the next message arrives', () => receiver.all.length === 2);
  responses[1]?.writeHead(200).end();
});

test('receivers that never respond block neither writers nor other receivers', async (t) => {
  const admin = await nodeA.createTenant();
  let open = 0;
  let maxInFlight = 0;
  const stuck = await Promise.all(
    Array.from({ length: 10 }, () =>
      Receiver.start((_, response) => {
        maxInFlight = Math.max(maxInFlight, ++open);
        response.on('close', () => open--);
        return undefined;
      }),
    ),
  );
  const healthy = await Receiver.start();
  for (const receiver of stuck) await register(admin, receiver);
  await admin.createDepartment();
  await waitFor('all stuck receivers have been called', () => stuck.every(({ all }) => all.length > 0));
  await register(admin, healthy);
  const changes = scale(10, 500);
  await runConcurrently(4, changes, async () => {
    await admin.createDepartment();
  });
  await waitFor('the healthy receiver has all messages', () => healthy.accepted.length === changes);
  // No delivery times out during a test, so the stuck deliveries were in flight all the time.
  assert.deepEqual([open, stuck.flatMap(({ all }) => all).length], [maxInFlight, maxInFlight]);
  assert.ok(maxInFlight <= 4 * stuck.length, `${maxInFlight} deliveries in flight`);
  report(t, { changes, maxInFlight });
});

test('a delivery that is resent concurrently ends up as delivered', async () => {
  const admin = await nodeA.createTenant();
  const receiver = await Receiver.start();
  const id = await register(admin, receiver);
  await admin.createDepartment();
  const state = async () => (await admin.get(`${path}/${id}/deliveries`)).data.rows[0];
  await waitFor('the message is delivered', async () => (await state())?.state === 'delivered');
  const { id: delivery } = await state();
  const responses = await Promise.all(
    Array.from({ length: 6 }, () => admin.post(`${path}/${id}/deliveries/${delivery}/resend`)),
  );
  assert.ok(responses.every(({ code }) => code === 200));
  await waitFor(
    'the message is delivered again',
    async () => (await state()).state === 'delivered' && receiver.accepted.length >= 2,
  );
  assert.equal((await admin.get(`${path}/${id}`)).data.waiting, 0);
});

// This must be the last test: it closes the services of this file.
test('both nodes stop while a message is in flight, without waiting for its receiver', async () => {
  const admin = await nodeA.createTenant();
  let closed = 0;
  const slow = await Receiver.start((_, response) => {
    response.on('close', () => closed++);
    return undefined;
  });
  await register(admin, slow);
  await admin.createDepartment();
  await waitFor('the message is in flight', () => slow.all.length > 0);
  // In tests a receiver has ten minutes to respond.
  await Promise.all([nodeA.close(), nodeB.close()]);
  await waitFor('the receiver sees the connections close', () => closed === slow.all.length);
  assert.equal(slow.accepted.length, 0);
});
