import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectOk } from '../support/expect.ts';
import { Receiver } from '../support/receiver.ts';
import { type Client, FAST_WEBHOOK_POLLING, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** What happens to the messages of a node that has died or was stopped. */

const path = '/system/webhook-api';
const environment = { BANYAN_WEBHOOK_NETWORKS: 'loopback' };
// The lease is so long that it never expires by itself during a test.
const timing = { ...FAST_WEBHOOK_POLLING, webhookLeaseMs: 600_000 };
const start = (databaseUrl?: string) =>
  startService({ ...environment, ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}) }, { timing });

const first = await start();

const register = async (admin: Client, { url }: Receiver): Promise<string> =>
  (await admin.post(path, { url, kinds: ['department.*'] })).data.id;

test('the messages of a node that has died are sent by another node once its lease has expired', async () => {
  const { superuser } = first;
  const admin = await first.createTenant();
  const [receiver, other] = [await Receiver.start(), await Receiver.start()];
  const id = await register(admin, receiver);
  await register(admin, other);
  await superuser`
    update banyan.webhooks set lease_id = gen_random_uuid(), lease_until = 'infinity' where webhook_id = ${id}`;
  const deptId = await admin.createDepartment();
  await waitFor('the other webhook has its message', () => other.accepted.length === 1);
  expectOk(await admin.put(DEPTS, { deptId, deptName: 'changed' }));
  await waitFor('the other webhook has its next message', () => other.accepted.length === 2);
  assert.equal(receiver.all.length, 0, 'the lease is respected');
  await superuser`update banyan.webhooks set lease_until = '-infinity' where webhook_id = ${id}`;
  await waitFor('the messages arrive', () => receiver.accepted.length === 2);
  assert.deepEqual(
    receiver.accepted.map(({ data }) => data.id),
    other.accepted.map(({ data }) => data.id),
  );
});

test('a message that is in flight when the service stops is sent again after the next start', async () => {
  const admin = await first.createTenant();
  const receiver = await Receiver.start(() => undefined);
  await register(admin, receiver);
  await admin.createDepartment();
  await waitFor('the message is in flight', () => receiver.all.length === 1);
  // The receiver has ten minutes to respond; the stop does not wait for that.
  await first.close();
  receiver.respond = () => 200;
  await start(first.databaseUrl);
  await waitFor('the message has arrived', () => receiver.accepted.length === 1);
  assert.equal(receiver.all[0]?.id, receiver.accepted[0]?.id);
});
