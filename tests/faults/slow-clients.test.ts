import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { setInterval } from 'node:timers';
import { after } from '../support/cleanup.ts';
import { DEPTS, read } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { shareService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { databaseOf, startNode } from './node.ts';

/** Clients that open a connection and send their request slowly, or never. */

const service = await shareService();
const admin = await service.createTenant();
const id = await admin.createDepartment({ deptName: 'still here' });

const sockets = new Set<net.Socket>();
after(() => {
  for (const socket of sockets) socket.destroy();
});

interface SlowClient {
  socket: net.Socket;
  /** Resolves to everything the server sent, once it has closed the connection. */
  closed: Promise<string>;
}

/** Sends the beginning immediately, then the bytes of `rest`, if any, one by one, over and over until the connection is closed. */
async function connectSlowly(base: string, beginning: string, rest: string): Promise<SlowClient> {
  const { hostname, port } = new URL(base);
  const socket = net.connect(Number(port), hostname);
  sockets.add(socket);
  let received = '';
  socket.on('data', (chunk) => (received += chunk));
  socket.on('error', () => {});
  const closed = once(socket, 'close').then(() => {
    clearInterval(timer);
    return received;
  });
  await once(socket, 'connect');
  if (beginning) socket.write(beginning);
  let at = 0;
  const timer = rest && setInterval(() => socket.writable && socket.write(rest[at++ % rest.length] ?? ''), 20);
  return { socket, closed };
}

const head = [
  'POST /system/dept-api HTTP/1.1',
  'Host: banyan',
  `Authorization: Bearer ${admin.token}`,
  'Accept-Language: en',
  'X-Request-Id: slow-1',
].join('\r\n');
const body = 'Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"deptName":"half a';
const cases: [what: string, beginning: string, rest: string][] = [
  ['nothing', '', ''],
  ['half a line', 'GET /system/dept', ''],
  ['headers, byte by byte', 'GET /health/live HTTP/1.1\r\nHost: banyan\r\nX: ', 'x'],
  ['headers without the empty line that ends them', `${head}\r\n`, ''],
  ['half a body', `${head}\r\n${body}`, ''],
  ['half a body, then more of it byte by byte', `${head}\r\n${body}`, ' '],
];

test('slow clients do not block other requests', async () => {
  const clientsPerCase = Math.ceil(scale(60, 2_000) / cases.length);
  const slow = await Promise.all(
    cases.flatMap(([, beginning, rest]) =>
      Array.from({ length: clientsPerCase }, () => connectSlowly(service.base, beginning, rest)),
    ),
  );
  const reads = await Promise.all(Array.from({ length: 64 }, () => admin.get(`${DEPTS}/${id}`)));
  for (const response of reads) assert.equal(response.code, 200, response.text);
  await admin.createDepartment({ deptName: 'created meanwhile' });
  // The service disconnects none of them before its deadline.
  for (const { socket } of slow) assert.equal(socket.readyState, 'open');
  for (const { socket } of slow) socket.destroy();
});

// Only slow clients call these nodes. The deadline of the second one is set when the service has read the headers: a stalled
// machine could read them later than any short deadline.
const node = await startNode(await databaseOf(service), { timing: { requestMs: 300, requestCheckMs: 50 } });
const bodyNode = await startNode(await databaseOf(service), { timing: { requestCheckMs: 50 } });

/** The error that the node wrote to a connection, by the port of the client. */
const written = new Map<number | undefined, string>();
const recordError = (socket: net.Socket) => {
  const end = socket.end.bind(socket) as (text: string) => net.Socket;
  const { remotePort } = socket;
  socket.end = ((text: string) => {
    // Node ends the connection once more, without a text, when the client has ended it.
    if (text) written.set(remotePort, text);
    return end(text);
  }) as typeof socket.end;
};
for (const { app } of [node, bodyNode]) app.server.on('connection', recordError);

for (const [what, beginning, rest] of cases) {
  test(`a client that sends ${what} gets a 408 response, and its connection is closed`, async () => {
    const hasHeaders = what.startsWith('half a body');
    const { server } = bodyNode.app;
    const { headersTimeout, requestTimeout } = server;
    const headersRead = hasHeaders && once(server, 'request');
    const { socket, closed } = await connectSlowly(hasHeaders ? bodyNode.base : node.base, beginning, rest);
    const { localPort } = socket;
    if (await headersRead) Object.assign(server, { headersTimeout: 1, requestTimeout: 1 });
    let received: string | undefined;
    void closed.then((text) => (received = text));
    await waitFor('the connection is closed', () => received !== undefined);
    Object.assign(server, { headersTimeout, requestTimeout });
    const response = written.get(localPort) ?? '';
    assert.match(response, /^HTTP\/1\.1 408 .*"reason":"REQUEST_TIMEOUT"\}\}$/s);
    // A client that is still sending may lose the response in a connection reset.
    if (!rest) assert.equal(received, response);
    if (hasHeaders) assert.match(response, /content-language: en\r\n.*x-request-id: slow-1\r/s);
    assert.equal((await read(admin, `${DEPTS}/list?deptName=half`)).total, 0, 'half a body creates nothing');
  });
}
