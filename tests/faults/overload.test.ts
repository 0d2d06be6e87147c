import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { DEPTS, read } from '../support/expect.ts';
import { scale, Tally } from '../support/scale.ts';
import { type ApiResponse, type Client, shareService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { databaseOf, startNode } from './node.ts';

/**
 * Load shedding: the service queues as many requests as it can serve and rejects the others with Retry-After. The limit
 * depends on its recent throughput; it is at least 200, and 200 for a node that was just started. No request completes
 * while the departments are locked, so the figures do not depend on the machine.
 */

/** The first test has the default limit. In the everyday run, the others send fewer requests to nodes with a lower one. */
const LIMIT = scale(20, 200);
const lowLimit = { limits: { requests: { min: LIMIT, max: scale(20, 1_000) } } };
const service = await shareService();
const admin = await service.createTenant();
const top = await admin.createDepartment({ deptName: 'top' });
const address = `${DEPTS}/${top}`;
const database = await databaseOf(service);

/** Locks the departments while `work` runs: requests that need them wait. */
const whileLocked = <T>(work: () => Promise<T>): Promise<T> =>
  service.superuser.begin(async (tx) => {
    await tx`lock table departments in access exclusive mode`;
    return work();
  }) as Promise<T>;

/** Sends `count` requests at once, waits until all but `limit` are rejected, and runs `meanwhile` before the rest is served. */
async function sendAtOnce<A extends Pick<ApiResponse, 'status' | 'headers'>>(
  count: number,
  send: (n: number) => Promise<A>,
  meanwhile: () => Promise<void> = async () => {},
  limit = LIMIT,
): Promise<{ counts: Record<string, number>; rejected: A[] }> {
  const tally = new Tally();
  const rejected: A[] = [];
  const { responses } = await whileLocked(async () => {
    const responses = Array.from({ length: count }, async (_, n) => {
      const response = await send(n);
      tally.add(response.status);
      if (response.status === 503) rejected.push(response);
    });
    await waitFor(`${count - limit} requests are rejected`, () => tally.get(503) >= count - limit);
    await meanwhile();
    assert.deepEqual(tally.counts, { 503: count - limit });
    return { responses };
  });
  await Promise.all(responses);
  for (const { headers } of rejected) assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
  return { counts: tally.counts, rejected };
}

/** Starts a node with the lower limit. Returns a client that calls it. */
const callerOfFreshNode = async (): Promise<Client> => (await startNode(database, lowLimit)).as(admin);

test('200 of 600 requests sent at once are queued, and 400 are rejected before the first queued one completes', async () => {
  const caller = (await startNode(database)).as(admin);
  const { counts } = await sendAtOnce(600, () => caller.get(address), undefined, 200);
  assert.deepEqual(counts, { 200: 200, 503: 400 });
});

test('clients that retry as soon as they are rejected are all served in the end', async () => {
  const caller = await callerOfFreshNode();
  const clients = scale(30, 1_500);
  const counts = new Tally();
  /** Retries until the request is served. Any response other than a 200, or a 503 with Retry-After, fails the test. */
  const retryUntilServed = async () => {
    for (;;) {
      const { status, headers, text } = await caller.get(address);
      counts.add(status);
      if (status === 200) return;
      assert.equal(status, 503, text);
      assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
    }
  };
  const { requests } = await whileLocked(async () => {
    const requests = Promise.all(Array.from({ length: clients }, retryUntilServed));
    await waitFor('those not queued were rejected twice on average', () => counts.get(503) >= 2 * (clients - LIMIT));
    assert.equal(counts.get(200), 0);
    return { requests };
  });
  await requests;
  assert.equal(counts.get(200), clients);
  // The service has recovered.
  const after = await Promise.all(Array.from({ length: scale(16, 64) }, () => caller.get(address)));
  for (const response of after) assert.equal(response.code, 200, response.text);
});

test('clients that disconnect free their slots, however they disconnect', async () => {
  const node = await startNode(database, lowLimit);
  const caller = node.as(admin);
  const { hostname, port } = new URL(node.base);
  const request = (method: string, ...lines: string[]) =>
    [`${method} HTTP/1.1`, 'Host: banyan', `Authorization: Bearer ${admin.token}`, ...lines].join('\r\n');
  const get = request(`GET ${address}`, '', '');
  const half = request(`POST ${DEPTS}`, 'Content-Type: application/json', 'Content-Length: 20', '', '{"deptName":"h');
  // 40 requests: if more ended in a tenth of a second, the limit of the long run would rise for a while.
  const cases: [clients: number, text: string, requests: number, disconnect: (socket: net.Socket) => void][] = [
    [5, get, 1, (socket) => socket.destroy()],
    [5, get, 1, (socket) => socket.resetAndDestroy()],
    // Pipelined requests: those behind the first have no response yet that could be closed.
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
    for (const [clients, text, requests, disconnect] of cases) {
      const before = arrived;
      const sockets = Array.from({ length: clients }, () => {
        const socket = net.connect(Number(port), hostname, () => socket.write(text));
        return socket.on('error', () => {});
      });
      await waitFor('all requests have arrived', () => arrived - before === clients * requests);
      for (const socket of sockets) disconnect(socket.resume());
      await waitFor('all connections are closed', () => open === 0);
    }
  });
  // All slots are free: the service queues as many requests again.
  const { counts } = await sendAtOnce(1.5 * LIMIT, () => caller.get(address));
  assert.deepEqual(counts, { 200: LIMIT, 503: LIMIT / 2 });
});

test('rejected writes are not executed, and acknowledged writes are', async () => {
  const node = await startNode(database, lowLimit);
  const writes = 1.5 * LIMIT;
  // Now the token is cached. Until a token is verified, a request takes a slot before its body has arrived.
  assert.equal((await node.as(admin).get('/auth/me')).status, 200);
  let arrived = 0;
  node.app.server.on('request', () => arrived++);
  const body = JSON.stringify({ deptName: 'flood', parentId: Number(top) });
  const headers = {
    authorization: `Bearer ${admin.token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  // Send all headers before the first body: a write takes its slot only when its body has arrived.
  const send = async () => {
    const request = http.request(`${node.base}${DEPTS}`, { method: 'POST', headers, agent: false });
    request.flushHeaders();
    await waitFor('all headers have arrived', () => arrived === writes);
    request.end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    return { status: response.statusCode ?? 0, headers: response.headers };
  };
  const { counts } = await sendAtOnce(writes, send);
  assert.deepEqual(counts, { 200: LIMIT, 503: LIMIT / 2 });
  assert.equal((await read(admin, `${DEPTS}/list?deptName=flood&pageSize=1`)).total, LIMIT);
});

test('a load-shedding error has the requested language and format, and the request id', async () => {
  const caller = await callerOfFreshNode();
  const headers = { accept: 'application/problem+json', 'accept-language': 'en', 'x-request-id': 'test-request' };
  const { rejected } = await sendAtOnce(
    LIMIT + 1,
    () => caller.get(address, { headers }),
    // Health checks are never rejected.
    async () => assert.equal((await caller.get('/health/ready')).status, 200),
  );
  const [response] = rejected as [ApiResponse];
  assert.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8');
  assert.equal(response.headers['content-language'], 'en');
  assert.equal(response.headers['x-request-id'], 'test-request');
  const problem = JSON.parse(response.text);
  assert.deepEqual([problem.status, problem.title, problem.instance], [503, 'TOO_BUSY', 'test-request']);
});
