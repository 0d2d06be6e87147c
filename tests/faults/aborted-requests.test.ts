import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import { before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { watchConnections } from '../../server/process/shutdown.ts';
import { startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** A request whose client disconnects before the response must be garbage-collected: otherwise the service leaks memory. */

const service = await startService();
const admin = await service.createTenant();
const requests: WeakRef<IncomingMessage>[] = [];
let open = 0;
v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;

before(() => {
  watchConnections(service.app.server); // as a started service does, to close its connections gracefully
  service.app.server.on('request', (request) => requests.push(new WeakRef(request)));
  service.app.server.on('connection', (socket) => {
    open++;
    socket.once('close', () => open--);
  });
});

async function send(...requestTexts: string[]): Promise<net.Socket> {
  const { port, hostname } = new URL(service.base);
  const socket = net.connect(Number(port), hostname);
  socket.on('error', () => {});
  requests.length = 0;
  socket.write(requestTexts.join(''));
  await waitFor(`${requestTexts.length} requests have arrived`, async () => requests.length === requestTexts.length);
  return socket;
}

async function assertCollected() {
  const start = performance.now();
  let nextMs = 100;
  await waitFor('all requests are garbage-collected', async () => {
    // Collecting garbage is slow: the pauses before and between collections double.
    if (performance.now() - start < nextMs) return false;
    nextMs *= 2;
    // Node.js itself references the last request for a moment.
    await setImmediate();
    collectGarbage();
    return requests.every((request) => !request.deref());
  });
}

const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: banyan', ...headers, '', ''].join('\r\n');

test('requests for a missing department are released when the client disconnects during the query', async () => {
  const request = get('/system/dept-api/999999', `Authorization: Bearer ${admin.token}`);
  assert.equal((await admin.get('/system/dept-api/999999')).status, 404); // now the token is cached
  await service.superuser.begin(async (tx) => {
    await tx`lock table banyan.departments in access exclusive mode`;
    const before = open;
    const socket = await send(request, request, request);
    socket.destroy();
    await waitFor('the service has closed the connection', () => open === before);
  });
  await assertCollected();
});

test('pipelined requests behind a slow one are released when the client disconnects', async () => {
  const body = JSON.stringify({ tenantId: '000000', username: 'nobody', password: 'wrong' });
  const login = [
    'POST /auth/login HTTP/1.1',
    'Host: banyan',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ];
  const socket = await send(login.join('\r\n'), ...Array.from({ length: 100 }, () => get('/version')));
  socket.destroy();
  await assertCollected();
});
