import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connectOwner, type Sql } from '../../db/sql.ts';
import { createDatabase } from '../support/database.ts';
import { startServed } from '../support/process.ts';
import { Receiver } from '../support/receiver.ts';
import { report, scale } from '../support/scale.ts';
import { Client, QUICK_WEBHOOKS } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const environment = { BANYAN_WEBHOOK_NETWORKS: 'loopback' };
const path = '/system/webhook-api';

async function database(): Promise<{ databaseUrl: string; superuser: Sql }> {
  const { databaseUrl, superuserUrl } = await createDatabase();
  const superuser = connectOwner({ url: superuserUrl });
  after(() => superuser.end());
  return { databaseUrl, superuser };
}

test('killed in the middle of deliveries: none is lost, and those of one record come in their order', async (t) => {
  const { databaseUrl, superuser } = await database();
  let run = startServed(databaseUrl, environment, { timing: QUICK_WEBHOOKS });
  let admin = await run.admin();
  // Answers this many and then none, so that a kill comes in the middle. One answer in nine is an error.
  let answers = 5;
  let calls = 0;
  let failures = 0;
  const receiver = await Receiver.start(() => {
    if (answers-- <= 0) return undefined;
    if (++calls % 9 !== 0) return 200;
    failures++;
    return 500;
  });
  const body = { url: receiver.url, kinds: ['department.*'] };
  const { data } = await admin.post(path, body);
  const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => admin.createDepartment({ deptName: `d${n}` })));
  let acknowledged = ids.length;
  for (let kill = 0; kill < scale(1, 10); kill++) {
    const before = receiver.all.length;
    for (let n = 0; n < 40; n++) {
      const answer = await admin.put('/system/dept-api', { deptId: ids[n % 8], deptName: `v${kill}-${n}` });
      assert.equal(answer.code, 200);
      acknowledged++;
    }
    await waitFor('a delivery waits for its answer', () => receiver.all.length > before && answers < 0);
    await run.kill('SIGKILL');
    answers = kill + 1 < scale(1, 10) ? 5 : Number.POSITIVE_INFINITY;
    // The killed process cannot give its lease back. Nothing here is about how long that lasts.
    await superuser`update banyan.webhooks set busy_until = '-infinity'`;
    run = startServed(databaseUrl, environment, { timing: QUICK_WEBHOOKS });
    const { base } = await run.ready();
    admin = new Client(base, admin.token);
  }
  const distinct = () => new Set(receiver.taken.map(({ data }) => data.id)).size;
  let retried = 0;
  await waitFor('all have arrived', async () => {
    // A change of the webhook ends the pause after a failure.
    if (retried < failures) await admin.put(path, { id: data.id, ...body });
    retried = failures;
    return distinct() === acknowledged;
  });
  for (const id of ids) {
    const taken = receiver.taken.filter(({ data }) => data.resourceId === id).map(({ data }) => data.id as number);
    // A message may come twice where it was cut off, but never for the first time after a newer one.
    const first = taken.filter((change, n) => taken.indexOf(change) === n);
    assert.deepEqual(
      first,
      first.toSorted((a, b) => a - b),
    );
  }
  report(t, { changes: acknowledged, attempts: receiver.all.length, twice: receiver.taken.length - distinct() });
  assert.equal(await run.stop(), 0, run.stderr);
});

test('SIGTERM with a receiver that never answers: the service stops, and the next start sends again', async () => {
  const { databaseUrl, superuser } = await database();
  const run = startServed(databaseUrl, environment, { timing: QUICK_WEBHOOKS });
  const admin = await run.admin();
  const receiver = await Receiver.start(() => undefined);
  await admin.post(path, { url: receiver.url });
  await admin.createDepartment();
  await waitFor('it is on its way', () => receiver.all.length > 0);
  void run.stop();
  // The receiver has ten minutes in this process; the stop does not wait for that.
  await waitFor('the service stops', () => run.child.exitCode !== null);
  assert.equal(await run.ended, 0, run.stderr);
  const leases = await superuser`select busy_by from banyan.webhooks where busy_until > now()`;
  assert.deepEqual([...leases], [], 'the lease was given back');
  receiver.answering = () => 200;
  const next = startServed(databaseUrl, environment, { timing: QUICK_WEBHOOKS });
  await waitFor('it has arrived', () => receiver.taken.length > 0);
  assert.equal(receiver.all[0]?.id, receiver.taken[0]?.id);
  assert.equal(await next.stop(), 0, next.stderr);
});
