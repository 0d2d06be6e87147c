import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import Fastify from 'fastify';
import { type Piece, sendPieces } from '../../server/http/streaming.ts';
import { defaultTiming } from '../../server/timing.ts';
import { DEPTS } from '../support/expect.ts';
import { type Client, startService } from '../support/service.ts';
import { begin as beginReading, openTransactions, plant, type Reading } from '../support/trees.ts';
import { waitFor } from '../support/wait.ts';
import { databaseOf, startNode } from './node.ts';

/** Large trees whose clients stop reading or leave, and whose database fails. */

const readings: Reading[] = [];
// Before the service is closed, which waits for open responses: a test that failed may have left some.
after(() => {
  for (const { response } of readings) response.destroy();
});
const service = await startService();
const { superuser } = service;
const TREE = `${DEPTS}/tree`;
// Nobody searches here, and the keys of long names take most of the time that planting them takes.
await superuser`drop index departments_search`;

/** 20,000 departments are 14 MB: more than the buffers between two sockets hold while nobody reads. */
async function large(first: number, count = 20_000) {
  const client = await service.createTenant();
  const parentOf = 'case when n > 9 then n / 9 end';
  await plant(superuser, client.tenantId, {
    first,
    count,
    parentOf,
    name: `repeat('🌳', 100)`,
    leader: `repeat('🌳', 50)`,
  });
  return client;
}
const [a, b, c] = [await large(1_000_000), await large(2_000_000), await large(3_000_000, 10_001)];
async function begin(client: Client): Promise<Reading> {
  const reading = await beginReading(client);
  readings.push(reading);
  return reading;
}
const open = (count: number) =>
  waitFor(`${count} transactions are open`, async () => (await openTransactions(superuser)) === count);

test('a client that leaves ends the work for it', async () => {
  const { response } = await begin(a);
  await open(1);
  response.destroy();
  await open(0);
});

test('a connection to the database that breaks halfway: the response is not whole, and the service goes on', async () => {
  const reading = await begin(a);
  // The one that reads it, which may just have been lent its connection; not what works in the background.
  const cut = () => superuser`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename like 'banyan\\_service%' and xact_start is not null
      and query ~ 'dept_id'`;
  await waitFor('it is read', async () => (await cut()).length > 0);
  const { whole, bytes } = await reading.rest();
  assert.equal(whole, false);
  assert.ok(bytes > 0);
  assert.equal((await a.get(`${TREE}?depth=1`)).code, 200);
  assert.equal((await (await begin(a)).rest()).whole, true);
});

test('two large trees are sent at once; the next waits for its turn, and everything else is served', async () => {
  const [one, two] = [await begin(a), await begin(b)];
  await open(2);
  let third: Reading | undefined;
  const waiting = begin(c).then((reading) => (third = reading));
  assert.equal((await c.get(`${TREE}?depth=2`)).code, 200);
  assert.equal((await c.get(`${DEPTS}/list`)).code, 200);
  assert.equal(third, undefined);
  assert.equal((await one.rest()).whole, true);
  assert.equal((await (await waiting).rest()).whole, true);
  assert.equal((await two.rest()).whole, true);
  await open(0);
});

test('a large tree that waits too long for its turn is refused', async () => {
  const node = await startNode(await databaseOf(service), { timing: { streamQueueMs: 100 } });
  const reading = [await begin(a), await begin(b)];
  await open(2);
  // Of another tenant, and of one that reads a tree already.
  for (const client of [c, a]) {
    const { response, rest } = await begin(node.as(client));
    assert.equal(response.statusCode, 503);
    assert.equal(JSON.parse((await rest()).text()).data.reason, 'TOO_BUSY');
    assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
  }
  for (const { response } of reading) response.destroy();
  await open(0);
});

test('a client that stops reading is cut off, and its transaction ends', async () => {
  const node = await startNode(await databaseOf(service), { timing: { streamStallMs: 200 } });
  const stalled = await begin(node.as(a));
  await open(0);
  assert.equal((await stalled.rest()).whole, false);
  assert.equal((await (await begin(a)).rest()).whole, true);
});

test('a stalled client is cut off not before its time, a slow one only after the total time', async (t) => {
  const { streamStallMs, streamTotalMs } = defaultTiming;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = t.mock.timers;
  let sent = 0;
  const app = Fastify({ forceCloseConnections: true });
  app.decorate('timing', defaultTiming);
  app.get('/', async (_request, reply) => {
    await sendPieces(
      reply,
      (async function* (): AsyncGenerator<Piece, void> {
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

  /** Without timers, which stand still here. */
  const until = async (condition: () => boolean) => {
    for (const end = Date.now() + 300_000; !condition(); await setImmediate()) assert.ok(Date.now() < end, 'it hangs');
  };
  /** Waits until nothing more is sent: whatever is between the two is full. */
  const full = async () => {
    for (let [last, quiet] = [sent, 0]; quiet < 1_000; quiet++) {
      await setImmediate();
      if (sent !== last) [last, quiet] = [sent, 0];
    }
  };
  const ask = async () => {
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
  /** Reads until the server could send some more. */
  const readSome = async (state: { response: http.IncomingMessage; closed: boolean }) => {
    const before = sent;
    await until(() => {
      state.response.read();
      return sent > before || state.closed;
    });
  };

  const stalled = await ask();
  await full();
  const stuck = sent;
  clock.tick(streamStallMs - 1);
  await readSome(stalled);
  assert.ok(sent > stuck, 'it is still being sent');
  await full();
  clock.tick(streamStallMs);
  stalled.response.resume();
  await until(() => stalled.closed);
  assert.equal(stalled.response.complete, false);

  const slow = await ask();
  for (let ms = 0; ms + streamStallMs - 1 < streamTotalMs; ms += streamStallMs - 1) {
    await full();
    const before = sent;
    clock.tick(streamStallMs - 1);
    await readSome(slow);
    assert.ok(sent > before, `it is still being sent after ${ms} ms`);
  }
  clock.tick(streamStallMs - 1);
  slow.response.resume();
  await until(() => slow.closed);
  assert.equal(slow.response.complete, false);
});
