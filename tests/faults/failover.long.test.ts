// Only with test:long: each failover takes up to ten seconds of CPU time, and failover.test.ts covers how a service finds the new primary.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defaultConnectionTiming } from '../../db/driver.ts';
import { assertLedgerIntact, logIn, startOnDatabase } from '../support/process.ts';
import { type Replication, type Server, startReplication } from '../support/replication.ts';
import { report, Tally } from '../support/scale.ts';
import { Client, PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { type Node, startNode } from './node.ts';
import { createWriter } from './writer.ts';

/** The loss of the primary under load: two nodes know both servers, and a synchronous standby takes over. */

const startNodes = ({ service }: Replication) =>
  Promise.all(
    [1, 2].map(() => startNode(service, { connectionTiming: defaultConnectionTiming, timing: { sealMs: 100 } })),
  );

const isReady = async ({ base }: Node) => (await new Client(base).get('/health/ready')).status === 200;

/** What happens to the primary before the standby is promoted. */
const faults: Record<string, (primary: Server) => unknown> = {
  'is killed': (primary) => primary.kill(),
  'is frozen': (primary) => primary.signal('SIGSTOP'),
  'is cut off from the network': (primary) => primary.proxy.cutOff(),
};

/**
 * Loses the primary while 16 writers write through two nodes. Returns how many writes were acknowledged, and the time from the
 * promotion until both nodes have acknowledged 20 more.
 */
async function losePrimary(fail: ((primary: Server) => unknown) | undefined, tally: Tally) {
  const replication = await startReplication();
  const { primary, standby, url } = replication;
  const nodes = await startNodes(replication);
  const root = await logIn((nodes[0] as Node).base, PASSWORD);
  const writers = await Promise.all(nodes.map((node) => createWriter(root, node.base)));
  for (const writer of writers) writer.start(8);
  await Promise.all(writers.map((writer) => writer.waitForAcknowledged(20)));
  if (fail) {
    await fail(primary);
    for (const node of nodes) await waitFor('readiness fails', async () => !(await isReady(node)));
  }
  const promoting = standby.promote();
  const promotedAt = performance.now();
  await promoting;
  // Writes through both nodes succeed on the new primary. Nobody has stopped the old one, unless the fault did.
  await Promise.all(writers.map((writer) => writer.waitForAcknowledged(20)));
  const recoveredMs = performance.now() - promotedAt;
  await Promise.all(writers.map((writer) => writer.stop()));
  // From here on only the new primary can answer.
  await primary.kill();
  let acknowledged = 0;
  for (const writer of writers) {
    acknowledged += (await writer.check()).acknowledged ?? 0;
    for (const [outcome, count] of Object.entries(writer.tally.counts)) tally.add(outcome, count);
  }
  await assertLedgerIntact(url);
  await Promise.all(nodes.map((node) => node.close()));
  await standby.kill();
  return { acknowledged, recoveredMs };
}

async function repeat(t: TestContext, fail?: (primary: Server) => unknown) {
  // Twenty rounds in all, for four kinds of faults.
  const rounds = 5;
  const tally = new Tally();
  const times: number[] = [];
  let acknowledged = 0;
  for (let round = 0; round < rounds; round++) {
    const figures = await losePrimary(fail, tally);
    acknowledged += figures.acknowledged;
    times.push(Math.round(figures.recoveredMs));
  }
  report(t, { rounds, acknowledged, lost: 0, slowestRecoveryMs: Math.max(...times), times, ...tally.counts });
}

for (const [fault, fail] of Object.entries(faults)) {
  test(`no acknowledged write is lost when the primary ${fault} and the standby is promoted`, (t) => repeat(t, fail));
}

test('no acknowledged write is lost when the standby is promoted while the primary still runs', (t) => repeat(t));

test('commits that wait for a frozen standby do not take more and more connections, and reads succeed', async (t) => {
  const replication = await startReplication();
  const { primary, standby } = replication;
  const nodes = await startNodes(replication);
  const root = await logIn((nodes[0] as Node).base, PASSWORD);
  const writers = await Promise.all(nodes.map((node) => createWriter(root, node.base)));
  for (const writer of writers) writer.start(8);
  await Promise.all(writers.map((writer) => writer.waitForAcknowledged(20)));
  standby.signal('SIGSTOP');
  const before = writers.map(({ acknowledged }) => acknowledged);
  // Each node keeps ten connections, and checks the server through one more. The last connection is that of this test.
  const limit = 2 * (10 + 1) + 1;
  const { waiting } = await waitFor('commits wait for the standby', async () => {
    const counts = await primary.countConnections();
    return counts.waiting >= 2 ? counts : undefined;
  });
  const opened = nodes.map(({ db }) => db.connectionsOpened());
  // The nodes check the server several times meanwhile.
  const end = Date.now() + 5 * defaultConnectionTiming.checkMs;
  for (let reads = 0; reads < 400 || Date.now() < end; reads++) {
    for (const node of nodes) assert.equal((await node.as(root).get('/system/dept-api/list')).code, 200);
    const { all } = await primary.countConnections();
    assert.ok(all <= limit, `${all} connections`);
  }
  standby.signal('SIGCONT');
  await Promise.all(writers.map((writer) => writer.waitForAcknowledged(20)));
  const figures = await Promise.all(writers.map((writer) => writer.check()));
  report(t, { waiting, before, opened, figures });
  await Promise.all(nodes.map((node) => node.close()));
});

test('a start on a standby fails with a message and no stack trace, even with the role of the service', async () => {
  const { standby, url, service } = await startReplication();
  const withStandbyOnly = (address: string) =>
    address.replace(/127[^/]*/, `127.0.0.1:${standby.port}`).replace(/\?.*/, '');
  const asService = new URL(withStandbyOnly(url));
  asService.username = service.username ?? '';
  asService.password = service.password ?? '';
  for (const address of [withStandbyOnly(url), asService.href]) {
    const run = startOnDatabase(address);
    assert.equal(await run.ended, 1);
    assert.match(run.stderr, /Banyan did not start\. The server at DATABASE_URL is a standby and takes no writes\./);
    assert.doesNotMatch(run.stderr, /\n +at /);
  }
  // With target_session_attrs=read-write, a start waits for a primary and reports each host.
  const run = startOnDatabase(
    `${withStandbyOnly(url)}?target_session_attrs=read-write`,
    {},
    { connectionTiming: { waitMs: 500 } },
  );
  assert.equal(await run.ended, 1);
  assert.match(run.stderr, /no host takes writes \(127\.0\.0\.1:\d+: it is a standby\)/);
  assert.doesNotMatch(run.stderr, /\n +at /);
});
