// Only with test:long: the services are processes that are killed or stopped, and webhooks.test.ts covers both ways in which a node ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sql } from '../../db/driver.ts';
import { after } from '../support/cleanup.ts';
import { connectWithoutDeadline, createDatabase } from '../support/database.ts';
import { startOnDatabase } from '../support/process.ts';
import { Receiver } from '../support/receiver.ts';
import { report } from '../support/scale.ts';
import { Client, FAST_WEBHOOK_POLLING } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const environment = { BANYAN_WEBHOOK_NETWORKS: 'loopback' };
const path = '/system/webhook-api';
const KILLS = 10;

async function connectDatabase(): Promise<{ databaseUrl: string; superuser: Sql }> {
  const { databaseUrl, superuserUrl } = await createDatabase();
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  after(() => superuser.end());
  return { databaseUrl, superuser };
}

test('no delivery is lost when the service is killed during deliveries, and those of one record keep their order', async (t) => {
  const { databaseUrl, superuser } = await connectDatabase();
  let run = startOnDatabase(databaseUrl, environment, { timing: FAST_WEBHOOK_POLLING });
  let admin = await run.admin();
  // The receiver responds to this many and then to none, so that a kill comes in the middle. Every ninth response is an error.
  let responsesLeft = 5;
  let calls = 0;
  let failures = 0;
  const receiver = await Receiver.start(() => {
    if (responsesLeft-- <= 0) return undefined;
    if (++calls % 9 !== 0) return 200;
    failures++;
    return 500;
  });
  const body = { url: receiver.url, kinds: ['department.*'] };
  const { data } = await admin.post(path, body);
  const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => admin.createDepartment({ deptName: `d${n}` })));
  let acknowledged = ids.length;
  for (let kill = 0; kill < KILLS; kill++) {
    for (let n = 0; n < 40; n++) {
      const response = await admin.put('/system/dept-api', { deptId: ids[n % 8], deptName: `v${kill}-${n}` });
      assert.equal(response.code, 200);
      acknowledged++;
    }
    await waitFor('a delivery waits for its response', () => responsesLeft < 0);
    await run.kill('SIGKILL');
    responsesLeft = kill + 1 < KILLS ? 5 : Number.POSITIVE_INFINITY;
    // The killed process cannot release its lease. Expire it here: the duration of a lease is not the subject.
    await superuser`update banyan.webhooks set lease_until = '-infinity'`;
    run = startOnDatabase(databaseUrl, environment, { timing: FAST_WEBHOOK_POLLING });
    const { base } = await run.ready();
    admin = new Client(base, admin.token);
  }
  const distinct = () => new Set(receiver.accepted.map(({ data }) => data.id)).size;
  let retried = 0;
  await waitFor('all messages have arrived', async () => {
    // An update of the webhook ends the delay after a failure.
    if (retried < failures) await admin.put(path, { id: data.id, ...body });
    retried = failures;
    return distinct() === acknowledged;
  });
  for (const id of ids) {
    const delivered = receiver.accepted
      .filter(({ data }) => data.resourceId === id)
      .map(({ data }) => data.id as number);
    // A message may arrive twice if its response was lost, but never for the first time after a newer one.
    const first = delivered.filter((change, n) => delivered.indexOf(change) === n);
    assert.deepEqual(
      first,
      first.toSorted((a, b) => a - b),
    );
  }
  report(t, {
    changes: acknowledged,
    attempts: receiver.all.length,
    duplicates: receiver.accepted.length - distinct(),
  });
  assert.equal(await run.stop(), 0, run.stderr);
});

test('on SIGTERM the service stops despite a receiver that never responds, and the next start sends the message again', async () => {
  const { databaseUrl, superuser } = await connectDatabase();
  const run = startOnDatabase(databaseUrl, environment, { timing: FAST_WEBHOOK_POLLING });
  const admin = await run.admin();
  const receiver = await Receiver.start(() => undefined);
  await admin.post(path, { url: receiver.url });
  await admin.createDepartment();
  await waitFor('the message is in flight', () => receiver.all.length > 0);
  void run.stop();
  // The receiver has ten minutes to respond here; the stop must not wait for that.
  await waitFor('the service stops', () => run.child.exitCode !== null);
  assert.equal(await run.ended, 0, run.stderr);
  const leases = await superuser`select lease_id from banyan.webhooks where lease_until > now()`;
  assert.deepEqual([...leases], [], 'the lease was released');
  receiver.respond = () => 200;
  const next = startOnDatabase(databaseUrl, environment, { timing: FAST_WEBHOOK_POLLING });
  await waitFor('the message has arrived', () => receiver.accepted.length > 0);
  assert.equal(receiver.all[0]?.id, receiver.accepted[0]?.id);
  assert.equal(await next.stop(), 0, next.stderr);
});
