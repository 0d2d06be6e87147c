import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import net from 'node:net';
import { before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { watchConnections } from '../../server/http/closing.ts';
import { startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Whoever hangs up before he is answered leaves nothing behind: the service would remember him for ever. */

const service = await startService();
const boss = await service.createTenant();
const requests: WeakRef<IncomingMessage>[] = [];
let open = 0;
v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as () => void;

before(() => {
  watchConnections(service.app.server); // as a started service does, to close in good order
  service.app.server.on('request', (request) => requests.push(new WeakRef(request)));
  service.app.server.on('connection', (socket) => {
    open++;
    socket.once('close', () => open--);
  });
});

async function send(...asked: string[]): Promise<net.Socket> {
  const { port, hostname } = new URL(service.base);
  const socket = net.connect(Number(port), hostname);
  socket.on('error', () => {});
  requests.length = 0;
  socket.write(asked.join(''));
  await waitFor(`${asked.length} requests have come`, async () => requests.length === asked.length);
  return socket;
}

async function assertForgotten() {
  await waitFor('no request is remembered', async () => {
    // Node itself remembers the last one for a moment.
    await setImmediate();
    collect();
    return requests.every((request) => !request.deref());
  });
}

const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: banyan', ...headers, '', ''].join('\r\n');

test('while what he asks for is looked for, and is not there', async () => {
  const asked = get('/system/dept-api/999999', `Authorization: Bearer ${boss.token}`);
  assert.equal((await boss.get('/system/dept-api/999999')).status, 404); // now the token is known
  await service.superuser.begin(async (tx) => {
    await tx`lock table banyan.departments in access exclusive mode`;
    const before = open;
    const socket = await send(asked, asked, asked);
    socket.destroy();
    await waitFor('the service knows that the client has gone', () => open === before);
  });
  await assertForgotten();
});

test('with many requests behind one that takes its time', async () => {
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
  await assertForgotten();
});
