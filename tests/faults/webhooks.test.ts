import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../harness.ts';
import { start, until, usedFolder } from '../process.ts';
import { Receiver } from '../receiver.ts';
import { report, scale } from '../scale.ts';

const environment = { BANYAN_WEBHOOK_NETWORKS: 'loopback' };
const path = '/system/webhook-api';

test('killed in the middle of deliveries: none is lost, each record in its order', { timeout: 900_000 }, async (t) => {
  const dataDir = await usedFolder();
  let run = start(dataDir, environment);
  let admin = await run.admin();
  // Slow enough to be in the middle of it, and at times unwilling.
  let calls = 0;
  const receiver = await Receiver.start((received, response) => {
    setTimeout(() => {
      received.status = ++calls % 9 === 0 ? 500 : 200;
      response.writeHead(received.status).end();
    }, 20);
    return undefined;
  });
  const { data } = await admin.post(path, { url: receiver.url, kinds: ['department.*'] });
  const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => admin.dept({ deptName: `d${n}` })));
  let acknowledged = ids.length;
  for (let kill = 0; kill < scale(1, 10); kill++) {
    const before = receiver.all.length;
    for (let n = 0; n < 40; n++) {
      const answer = await admin.put('/system/dept-api', { deptId: ids[n % 8], deptName: `v${kill}-${n}` });
      assert.equal(answer.code, 200);
      acknowledged++;
    }
    await until('deliveries are under way', () => receiver.all.length > before + 5);
    await run.kill('SIGKILL');
    run = start(dataDir, environment);
    const { base } = await run.ready();
    admin = new Client(base, admin.token);
  }
  const distinct = () => new Set(receiver.taken.map(({ data }) => data.id)).size;
  await until('all have arrived', async () => {
    // What failed is not waited for.
    await admin.put(path, { id: data.id, url: receiver.url, kinds: ['department.*'] });
    return distinct() === acknowledged;
  });
  for (const id of ids) {
    const taken = receiver.taken.filter(({ data }) => data.resourceId === id).map(({ data }) => data.id as number);
    // Told twice at most where it was cut off; never something older after something newer was taken for the first time.
    const first = taken.filter((change, n) => taken.indexOf(change) === n);
    assert.deepEqual(
      first,
      [...first].sort((a, b) => a - b),
    );
  }
  report(t, { changes: acknowledged, attempts: receiver.all.length, twice: receiver.taken.length - distinct() });
  assert.equal(await run.stop(), 0, run.stderr);
});

test('SIGTERM with a receiver that never answers: it stops soon, and the next start sends again at once', async () => {
  const dataDir = await usedFolder();
  const run = start(dataDir, environment);
  const admin = await run.admin();
  let left = 0;
  const receiver = await Receiver.start((_, response) => {
    response.on('close', () => {
      left = performance.now();
    });
    return undefined;
  });
  await admin.post(path, { url: receiver.url });
  await admin.dept();
  await until('it is on its way', () => receiver.all.length > 0);
  const began = performance.now();
  assert.equal(await run.stop(), 0, run.stderr);
  // How long PostgreSQL takes to stop is the disk's matter.
  assert.ok(left > began && left - began < 8_000, `given up after ${Math.round(left - began)} ms`);
  receiver.answering = () => 200;
  const next = start(dataDir, environment);
  await next.ready();
  const ready = performance.now();
  await until('it has arrived', () => receiver.taken.length > 0);
  assert.ok(performance.now() - ready < 5_000, 'the lease was given back');
  assert.equal(receiver.all[0]?.id, receiver.taken[0]?.id);
  assert.equal(await next.stop(), 0, next.stderr);
});
