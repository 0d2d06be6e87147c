import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { DEPTS, read } from '../support/expect.ts';
import { scale, Tally } from '../support/scale.ts';
import { type Answer, type Client, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { databaseOf, startNode } from './node.ts';

/**
 * More requests than the service can bear: it goes on with as many as it can, and refuses the others, saying when to
 * come again. How many it keeps depends on how much it did a moment ago: at least 200, and as many for a node that was
 * just started. No request is answered while the departments are locked, so the rest does not depend on the machine.
 */

const KEPT = 200;
const service = await startService();
const boss = await service.createTenant();
const top = await boss.createDepartment({ deptName: 'top' });
const address = `${DEPTS}/${top}`;
const database = await databaseOf(service);

/** Nobody who needs departments is served while `work` runs. */
const whileLocked = <T>(work: () => Promise<T>): Promise<T> =>
  service.superuser.begin(async (tx) => {
    await tx`lock table departments in access exclusive mode`;
    return work();
  }) as Promise<T>;

/** Sends so many in one moment, waits until all but 200 are refused, and does `meanwhile` before the rest is served. */
async function comeTogether<A extends Pick<Answer, 'status' | 'headers'>>(
  count: number,
  send: (n: number) => Promise<A>,
  meanwhile: () => Promise<void> = async () => {},
): Promise<{ counts: Record<string, number>; refused: A[] }> {
  const tally = new Tally();
  const refused: A[] = [];
  const { answers } = await whileLocked(async () => {
    const answers = Array.from({ length: count }, async (_, n) => {
      const answer = await send(n);
      tally.add(answer.status);
      if (answer.status === 503) refused.push(answer);
    });
    await waitFor(`${count - KEPT} refusals`, () => tally.get(503) >= count - KEPT);
    await meanwhile();
    assert.deepEqual(tally.counts, { 503: count - KEPT });
    return { answers };
  });
  await Promise.all(answers);
  for (const { headers } of refused) assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
  return { counts: tally.counts, refused };
}

const freshNode = async (): Promise<Client> => (await startNode(database)).as(boss);

test('of 600 that come in one moment 200 are kept waiting, and 400 are refused at once', async () => {
  const caller = await freshNode();
  const { counts } = await comeTogether(600, () => caller.get(address));
  assert.deepEqual(counts, { 200: 200, 503: 400 });
});

test('callers who ask again as soon as they are refused are all served in the end, and no request is lost', async () => {
  const caller = await freshNode();
  const callers = scale(400, 1_500);
  const counts = new Tally();
  /** Asks until it is served. Everything else than 200 and 503 with the time to come again ends the test. */
  const askOn = async () => {
    for (;;) {
      const { status, headers, text } = await caller.get(address);
      counts.add(status);
      if (status === 200) return;
      assert.equal(status, 503, text);
      assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
    }
  };
  const { crowd } = await whileLocked(async () => {
    const crowd = Promise.all(Array.from({ length: callers }, askOn));
    await waitFor('each that is not kept was refused twice', () => counts.get(503) >= 2 * (callers - KEPT));
    assert.equal(counts.get(200), 0);
    return { crowd };
  });
  await crowd;
  assert.equal(counts.get(200), callers);
  // And then all is as before.
  const after = await Promise.all(Array.from({ length: 64 }, () => caller.get(address)));
  for (const answer of after) assert.equal(answer.code, 200, answer.text);
});

test('clients that go away give back their places, however they went', async () => {
  const node = await startNode(database);
  const caller = node.as(boss);
  const { hostname, port } = new URL(node.base);
  const request = (method: string, ...lines: string[]) =>
    [`${method} HTTP/1.1`, 'Host: banyan', `Authorization: Bearer ${boss.token}`, ...lines].join('\r\n');
  const get = request(`GET ${address}`, '', '');
  const half = request(`POST ${DEPTS}`, 'Content-Type: application/json', 'Content-Length: 20', '', '{"deptName":"h');
  // 40 requests: where more ended in a tenth of a second, the service would keep more than 200 for a while.
  const ways: [clients: number, text: string, requests: number, leave: (socket: net.Socket) => void][] = [
    [5, get, 1, (socket) => socket.destroy()],
    [5, get, 1, (socket) => socket.resetAndDestroy()],
    // Several requests at once on one connection: those behind the first have no response of their own to be closed.
    [3, get.repeat(5), 5, (socket) => socket.resetAndDestroy()],
    [2, get.repeat(5), 5, (socket) => socket.end()],
    [5, half, 1, (socket) => socket.resetAndDestroy()],
  ];
  let [arrived, open] = [0, 0];
  node.app.server.on('request', () => arrived++);
  node.app.server.on('connection', (socket) => {
    open++;
    socket.once('close', () => open--);
  });
  await whileLocked(async () => {
    for (const [clients, text, requests, leave] of ways) {
      const before = arrived;
      const sockets = Array.from({ length: clients }, () => {
        const socket = net.connect(Number(port), hostname, () => socket.write(text));
        return socket.on('error', () => {});
      });
      await waitFor('all have arrived', () => arrived - before === clients * requests);
      for (const socket of sockets) leave(socket.resume());
      await waitFor('all have gone', () => open === 0);
    }
  });
  // All places are free: as many as ever are kept waiting.
  const { counts } = await comeTogether(300, () => caller.get(address));
  assert.deepEqual(counts, { 200: 200, 503: 100 });
});

test('writes that are refused are not carried out, and those that are acknowledged are', async () => {
  const node = await startNode(database);
  let arrived = 0;
  node.app.server.on('request', () => arrived++);
  const body = JSON.stringify({ deptName: 'flood', parentId: Number(top) });
  const headers = {
    authorization: `Bearer ${boss.token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  // All headers come before the first body: a write takes its place only when its body is there.
  const send = async () => {
    const request = http.request(`${node.base}${DEPTS}`, { method: 'POST', headers, agent: false });
    request.flushHeaders();
    await waitFor('all headers have arrived', () => arrived === 300);
    request.end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    return { status: response.statusCode ?? 0, headers: response.headers };
  };
  const { counts } = await comeTogether(300, send);
  assert.deepEqual(counts, { 200: 200, 503: 100 });
  assert.equal((await read(boss, `${DEPTS}/list?deptName=flood&pageSize=1`)).total, 200);
});

test('a refusal has the language and the form that were asked for, and the id of its request', async () => {
  const caller = await freshNode();
  const headers = { accept: 'application/problem+json', 'accept-language': 'en', 'x-request-id': 'quote-me' };
  const { refused } = await comeTogether(
    201,
    () => caller.get(address, { headers }),
    // What watches the service is never refused.
    async () => assert.equal((await caller.get('/health/ready')).status, 200),
  );
  const [answer] = refused as [Answer];
  assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8');
  assert.equal(answer.headers['content-language'], 'en');
  assert.equal(answer.headers['x-request-id'], 'quote-me');
  const problem = JSON.parse(answer.text);
  assert.deepEqual([problem.status, problem.title, problem.instance], [503, 'TOO_BUSY', 'quote-me']);
});
