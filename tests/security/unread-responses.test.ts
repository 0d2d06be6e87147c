import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import net from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { databaseOf, startNode } from '../faults/node.ts';
import { after } from '../support/cleanup.ts';
import { request, sendRaw } from '../support/raw.ts';
import { scale } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Clients that send requests and read nothing, or never finish a request: all other callers notice nothing. */

const service = await startService();
const admin = await service.createTenant();
const database = await databaseOf(service);

const sockets: net.Socket[] = [];
after(() => {
  for (const socket of sockets) socket.destroy();
});

/** Sends text over a connection that is never read. */
function sendUnread(base: string, text: string): net.Socket {
  const { port, hostname } = new URL(base);
  const socket = net.connect(Number(port), hostname, () => socket.write(text));
  sockets.push(socket);
  return socket.pause().on('error', () => {});
}

/** Sends text from an address and reads the responses. */
function send(base: string, localAddress: string, text: string): net.Socket {
  const { port, hostname } = new URL(base);
  const socket = net.connect({ port: Number(port), host: hostname, localAddress }, () => socket.write(text));
  sockets.push(socket);
  return socket.on('error', () => {}).resume();
}

const headOfLogin = (bytes: number) =>
  `POST /auth/login HTTP/1.1\r\nHost: banyan\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;

/** The head of a login, which needs no token, and a part of its body. The rest is left out. */
const partOfLogin = (bytes: number) => headOfLogin(1_000_000) + 'x'.repeat(bytes);

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: banyan\r\n\r\n`;
/** Requests whose responses are larger than what the operating system buffers. */
const large = get('/openapi.json').repeat(200);

/** The sockets of a node, as the node sees them. */
function watchSockets(server: net.Server): Set<net.Socket> {
  const open = new Set<net.Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}

test('clients that read nothing take no request slots', async () => {
  // Allow more pipelined requests than by default: nothing else may close these connections.
  const node = await startNode(database, { limits: { requests: { min: 4, max: 4 }, pipelined: 100_000 } });
  const open = watchSockets(node.app.server);
  const clients = scale(5, 260);
  // Behind the unread responses of the first eight, a thousand further requests wait. Those must take no slots either.
  for (let n = 0; n < clients; n++) sendUnread(node.base, large + get('/version').repeat(n < 8 ? 1_000 : 0));
  await waitFor('no client reads', () => [...open].filter((socket) => socket.writableLength > 0).length === clients);
  for (let n = 0; n < 20; n++) {
    const { status, text } = await node.as(admin).get('/version');
    assert.equal(status, 200, text);
  }
  assert.equal((await node.as(admin).get('/auth/me')).status, 200);
});

test('a client that reads nothing is disconnected at the stall limit', async () => {
  const node = await startNode(database, { timing: { stallMs: 200 } });
  const open = watchSockets(node.app.server);
  sendUnread(node.base, large);
  await waitFor('the client has stalled', () => [...open].some((socket) => socket.writableLength > 0));
  await waitFor('the node has closed the connection', () => open.size === 0);
});

test('pipelined requests are answered one after the other and in order', async () => {
  const paths = Array.from({ length: 60 }, (_, n) => `/health/live?n=${n}`);
  const texts = paths.map((path, n) => `GET ${path} HTTP/1.1\r\nHost: banyan\r\nX-Request-Id: r${n}\r\n\r\n`);
  const { all } = await sendRaw(service.base, texts.join('') + request('GET /version', 'X-Request-Id: last'));
  const ids = [...all.matchAll(/x-request-id: (\w+)/g)].map(([, id]) => id);
  assert.deepEqual(ids, [...paths.map((_, n) => `r${n}`), 'last']);
});

test('a request behind one that closes the connection is not executed', async () => {
  const body = '{"deptName":"after the end"}';
  const head = ['POST /system/dept-api HTTP/1.1', 'Host: banyan', `Authorization: Bearer ${admin.token}`];
  const type = ['Content-Type: application/json', `Content-Length: ${body.length}`, '', body];
  const { all } = await sendRaw(service.base, request('GET /version') + [...head, ...type].join('\r\n'));
  assert.equal(all.split('HTTP/1.1 ').length, 2, all);
  assert.equal((await admin.get('/system/dept-api/list?deptName=after')).data.total, 0);
});

test('when too many pipelined requests wait, the connection with the most is closed', async () => {
  const node = await startNode(database, { limits: { pipelined: 50 } });
  const open = watchSockets(node.app.server);
  await service.superuser.begin(async (tx) => {
    await tx`lock table banyan.departments in access exclusive mode`;
    const token = `Authorization: Bearer ${admin.token}`;
    const slow = `GET /system/dept-api/1 HTTP/1.1\r\nHost: banyan\r\n${token}\r\n\r\n`;
    sendUnread(node.base, slow + get('/version').repeat(10));
    sendUnread(node.base, slow + get('/version').repeat(45));
    await waitFor('one connection is left', () => sockets.at(-1)?.resume().closed && open.size === 1);
    assert.equal(sockets.at(-2)?.closed, false);
  });
});

test('half requests are answered with 408, and their connections are closed although the client keeps them open', async (t) => {
  const node = await startNode(database, { timing: { requestCheckMs: 50, lingerMs: 50 } });
  const open = watchSockets(node.app.server);
  const client = fork(fileURLToPath(new URL('./half-requests.js', import.meta.url)), { execArgv: [] });
  t.after(() => client.kill('SIGKILL'));
  let answered = 0;
  client.on('message', (count: number) => (answered = count));
  const clients = scale(50, 10_000);
  for (let opened = 0; opened < clients; ) {
    // Open no more at a time than the operating system queues for a process that is slow to accept them.
    const count = Math.min(200, clients - opened);
    client.send({ base: node.base, count });
    opened += count;
    await waitFor('the node has accepted the connections', () => open.size === opened);
  }
  // Only now is there a deadline, so all of them exceed it together.
  const { headersTimeout, requestTimeout } = node.app.server;
  Object.assign(node.app.server, { headersTimeout: 1, requestTimeout: 1 });
  await waitFor('all are answered', () => answered === clients);
  await waitFor('the node has closed all connections', () => open.size === 0);
  assert.equal(client.exitCode, null, 'the client still keeps its connections open');
  Object.assign(node.app.server, { headersTimeout, requestTimeout });
  assert.equal((await node.as(admin).get('/auth/me')).status, 200);
});

test('at the limit of arriving bytes only the largest connection of the address with the most bytes is closed', async () => {
  const node = await startNode(database, { timing: { lingerMs: 100 }, limits: { arrivingBytes: 300_000 } });
  const other = send(node.base, '127.0.0.9', partOfLogin(100_000));
  const [small, large] = [
    send(node.base, '127.0.0.8', partOfLogin(80_000)),
    send(node.base, '127.0.0.8', partOfLogin(150_000)),
  ];
  await waitFor('the largest connection is closed', () => large.closed);
  assert.deepEqual([other.closed, small.closed], [false, false]);
});

test('requests that a connection has sent before do not count towards the limit of arriving bytes', async () => {
  const node = await startNode(database, { timing: { lingerMs: 100 }, limits: { arrivingBytes: 300_000 } });
  const open = watchSockets(node.app.server);
  const completeBytes = 200_000;
  const complete = headOfLogin(completeBytes) + JSON.stringify({ tenantId: 'x'.repeat(completeBytes - 15) });
  const earlier = send(node.base, '127.0.0.8', complete);
  let received = '';
  earlier.on('data', (chunk) => (received += chunk));
  await waitFor('the first request is answered', () => /^HTTP\/1\.1 400 .*\}$/s.test(received));
  earlier.write(partOfLogin(100_000));
  const hasArrived = () => [...open].some(({ bytesRead }) => bytesRead > complete.length + 100_000);
  await waitFor('part of the second one has arrived', () => earlier.closed || hasArrived());
  // Both together exceed the limit, and this one has more.
  const larger = send(node.base, '127.0.0.9', partOfLogin(250_000));
  await waitFor('a connection is closed', () => earlier.closed || larger.closed);
  assert.deepEqual([earlier.closed, larger.closed], [false, true]);
});

test('at the limit of unsent bytes the largest connection is closed', async () => {
  // The document exceeds the limit, but not when it is compressed.
  const node = await startNode(database, { timing: { lingerMs: 100 }, limits: { unsentBytes: 100_000 } });
  const open = watchSockets(node.app.server);
  const compressed = 'GET /openapi.json HTTP/1.1\r\nHost: banyan\r\nAccept-Encoding: gzip\r\n\r\n';
  sendUnread(node.base, compressed.repeat(2_000));
  const smaller = await waitFor('the first client has stalled', () =>
    [...open].find((socket) => socket.writableLength > 0),
  );
  let larger: net.Socket | undefined;
  node.app.server.once('connection', (socket: net.Socket) => {
    larger = socket;
  });
  sendUnread(node.base, large);
  await waitFor('the node has closed the larger connection', () => larger?.destroyed);
  assert.equal(smaller.destroyed, false);
});
