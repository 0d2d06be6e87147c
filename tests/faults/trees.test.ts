import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import Fastify from 'fastify';
import { type Chunk, sendChunks } from '../../server/http/streaming.ts';
import { defaultTiming } from '../../server/timing.ts';
import { DEPTS } from '../support/expect.ts';
import { waitFor } from '../support/wait.ts';
import { startWithLargeTrees } from './large-trees.ts';
import { databaseOf, startNode } from './node.ts';

/** Responses with large trees whose clients stop reading or disconnect, or whose database connection breaks. */

const { service, superuser, tenants, openTree, waitForOpen } = await startWithLargeTrees();
const [a, b, c] = tenants;
const TREE = `${DEPTS}/tree`;

test('when a client disconnects, the transaction that reads its tree ends', async () => {
  const { response } = await openTree(a);
  await waitForOpen(1);
  response.destroy();
  await waitForOpen(0);
});

test('a database connection that breaks halfway truncates the response, and the service keeps working', async () => {
  const tree = await openTree(a);
  // Terminate only the transaction that reads the tree, not background work. That transaction may not have sent its query yet, so
  // try repeatedly.
  const terminate = () => superuser`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename like 'banyan\\_service%' and xact_start is not null
      and query ~ 'dept_id'`;
  await waitFor('the reading transaction is terminated', async () => (await terminate()).length > 0);
  const { complete, bytes } = await tree.rest();
  assert.equal(complete, false);
  assert.ok(bytes > 0);
  assert.equal((await a.get(`${TREE}?depth=1`)).code, 200);
  assert.equal((await (await openTree(a)).rest()).complete, true);
});

test('a large tree that waits too long for its turn fails with TOO_BUSY', async () => {
  const node = await startNode(await databaseOf(service), { timing: { streamQueueMs: 100 } });
  const open = [await openTree(node.as(a)), await openTree(node.as(b))];
  await waitForOpen(2);
  // A client of another tenant, and one of a tenant that is already reading a tree.
  for (const client of [c, a]) {
    const { response, rest } = await openTree(node.as(client));
    assert.equal(response.statusCode, 503);
    assert.equal(JSON.parse((await rest()).text()).data.reason, 'TOO_BUSY');
    assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
  }
  for (const { response } of open) response.destroy();
  await waitForOpen(0);
});

test('a client that stops reading is disconnected, and its transaction ends', async () => {
  const node = await startNode(await databaseOf(service), { timing: { stallMs: 200 } });
  const stalled = await openTree(node.as(a));
  await waitForOpen(0);
  assert.equal((await stalled.rest()).complete, false);
  assert.equal((await (await openTree(a)).rest()).complete, true);
});

test('a slow client is disconnected when its response exceeds the time limit', async (t) => {
  const { stallMs, streamTotalMs } = defaultTiming;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = t.mock.timers;
  let sent = 0;
  let raw: http.ServerResponse | undefined;
  const app = Fastify({ forceCloseConnections: true });
  app.decorate('timing', defaultTiming);
  app.get('/', async (_request, reply) => {
    raw = reply.raw;
    await sendChunks(
      reply,
      (async function* (): AsyncGenerator<Chunk, void> {
        for (;;) {
          sent++;
          yield Buffer.alloc(65_536, ' ');
        }
      })(),
    ).catch(() => {});
    return reply;
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  t.after(() => app.close());

  /** Like waitFor, but without timers, which are mocked here. */
  const waitWithoutTimers = async (condition: () => boolean) => {
    for (const end = Date.now() + 300_000; !condition(); await setImmediate())
      assert.ok(Date.now() < end, 'the condition never holds');
  };
  /** Waits until the server waits for the client to read. */
  const waitForBackpressure = () => waitWithoutTimers(() => raw?.writableNeedDrain === true);
  const isAborted = () => raw?.destroyed;
  const connect = async () => {
    const { port } = app.server.address() as AddressInfo;
    const request = http.get({ port, host: '127.0.0.1', agent: false });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.pause().on('error', () => {});
    const state = { response, closed: false };
    response.on('close', () => {
      state.closed = true;
    });
    return state;
  };
  /** Reads until the server has sent more. */
  const readSome = async ({ response }: { response: http.IncomingMessage }) => {
    const before = sent;
    await waitWithoutTimers(() => {
      response.read();
      return sent > before;
    });
  };
  const expectTruncated = async (state: { response: http.IncomingMessage; closed: boolean }) => {
    state.response.resume();
    await waitWithoutTimers(() => state.closed);
    assert.equal(state.response.complete, false);
  };

  const slow = await connect();
  let elapsedMs = 0;
  for (; elapsedMs + stallMs - 1 < streamTotalMs; elapsedMs += stallMs - 1) {
    await waitForBackpressure();
    clock.tick(stallMs - 1);
    assert.equal(isAborted(), false, `after ${elapsedMs} ms`);
    await readSome(slow);
  }
  await waitForBackpressure();
  clock.tick(streamTotalMs - elapsedMs - 1);
  assert.equal(isAborted(), false);
  clock.tick(1);
  assert.equal(isAborted(), true);
  await expectTruncated(slow);
});
