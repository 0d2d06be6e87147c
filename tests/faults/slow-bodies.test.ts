import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { isUploading } from '../../server/http/uploads.ts';
import { after } from '../support/cleanup.ts';
import { DEPTS, expectError, read } from '../support/expect.ts';
import { csv, form } from '../support/import.ts';
import { takeRecentLog } from '../support/logs.ts';
import { type Client, shareService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { databaseOf, type Node, startNode } from './node.ts';

/** Bodies and files that arrive slowly: this time does not count towards the deadline of the response. */

const service = await shareService();
const admin = await service.createTenant();
const database = await databaseOf(service);

const clients = new Set<net.Socket>();
after(() => {
  for (const client of clients) client.destroy();
});

/** A request of which only a part has been sent. */
interface PartialRequest {
  /** The connection as the node sees it. */
  socket: net.Socket;
  /** Everything that the node has sent. */
  received(): string;
  /** Sends the last bytes, and what follows the request. */
  sendRest(next?: string): void;
}

/** Sends all but the last bytes of a request, and waits until the node has its headers. */
async function sendPart(
  node: Node,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<PartialRequest> {
  const { hostname, port } = new URL(node.base);
  const arrived = new Promise<net.Socket>((resolve) => {
    node.app.server.once('request', ({ socket }) => resolve(socket));
  });
  const all = { host: 'banyan', authorization: `Bearer ${admin.token}`, 'content-length': body.length, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const client = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () => {
    client.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    client.write(body.subarray(0, -10));
  });
  clients.add(client.on('error', () => {}));
  let received = '';
  client.on('data', (chunk) => (received += chunk));
  return {
    socket: await arrived,
    received: () => received,
    sendRest: (next = '') => client.write(Buffer.concat([body.subarray(-10), Buffer.from(next)])),
  };
}

const file = form(csv([['部门路径'], ['uploaded']]));
const sendPartOfFile = (node: Node, mode: 'preview' | 'apply') =>
  sendPart(node, `${DEPTS}/import?mode=${mode}`, file.headers, file.raw);

/** Runs work while requests that read or write departments wait. */
const withLockedDepartments = <T>(work: () => Promise<T>): Promise<T> =>
  service.superuser.begin(async (tx) => {
    await tx`lock table banyan.departments in access exclusive mode`;
    return work();
  }) as Promise<T>;

/** Sends two requests, one after the other, and waits until both have exceeded their deadline. */
async function exceedDeadlines(caller: Client): Promise<void> {
  for (let n = 0; n < 2; n++) expectError(await caller.get(`${DEPTS}/list`), 503, 'TOO_BUSY');
}

test('the response deadline begins when the body has arrived', async () => {
  // The time until the token is verified does count. A slow machine may exceed the first deadline, so each attempt doubles it.
  for (let ms = 200, isDone = false; !isDone; ms *= 2) {
    const node = await startNode(database, { timing: { responseMs: ms } });
    await withLockedDepartments(async () => {
      const body = Buffer.from('{"deptName":"slowly sent"}');
      const { received, sendRest } = await sendPart(node, DEPTS, { 'content-type': 'application/json' }, body);
      await exceedDeadlines(node.as(admin));
      assert.ok(received() === '' || ms < 10_000, received());
      if (received() !== '') return;
      sendRest();
      await waitFor('the request is answered', () => received().endsWith('}'));
      assert.match(received(), /^HTTP\/1\.1 503 .*"reason":"TOO_BUSY"/s);
      isDone = true;
    });
  }
});

test('the response deadline of an import begins when its file has arrived', async () => {
  // The caller is loaded before the file is received, and that time does count. A slow machine may exceed the first deadline, so
  // each attempt doubles it.
  let upload: PartialRequest | undefined;
  let node: Node;
  for (let ms = 200; ; ms *= 2) {
    node = await startNode(database, { timing: { responseMs: ms, importResponseMs: ms } });
    const started = await sendPartOfFile(node, 'preview');
    upload = started;
    await waitFor('the file is arriving', () => isUploading(started.socket) || started.received() !== '');
    if (started.received() === '') break;
    assert.ok(ms < 60_000, started.received());
  }
  const { received, sendRest } = upload;
  await withLockedDepartments(async () => {
    await exceedDeadlines(node.as(admin));
    assert.equal(received(), '');
    sendRest();
    await waitFor('the request is answered', () => received().endsWith('}'));
    assert.match(received(), /^HTTP\/1\.1 503 .*"reason":"TOO_BUSY"/s);
  });
});

test('a file may take longer than other requests to arrive', async () => {
  const node = await startNode(database, { timing: { requestCheckMs: 50 } });
  const { socket, received, sendRest } = await sendPartOfFile(node, 'apply');
  await waitFor('the file is arriving', () => isUploading(socket));
  // A request that begins later and has no file exceeds the limit of Node.js.
  const other = await sendPart(node, DEPTS, { 'content-type': 'application/json' }, Buffer.from('{"deptName":"late"}'));
  const { headersTimeout, requestTimeout } = node.app.server;
  Object.assign(node.app.server, { headersTimeout: 1, requestTimeout: 1 });
  await waitFor('the other request is answered', () => other.received().endsWith('}'));
  assert.match(other.received(), /^HTTP\/1\.1 408 .*"reason":"REQUEST_TIMEOUT"/s);
  Object.assign(node.app.server, { headersTimeout, requestTimeout });
  assert.equal(received(), '');
  sendRest();
  await waitFor('the file is imported', () => received().endsWith('}'));
  assert.match(received(), /^HTTP\/1\.1 200 /);
  assert.equal((await read(admin, `${DEPTS}/list?deptName=uploaded`)).total, 1);
});

test('a file that does not arrive in time is rejected, and its connection is closed', async () => {
  const node = await startNode(database, { timing: { uploadMs: 50 } });
  const { socket, received } = await sendPartOfFile(node, 'apply');
  await waitFor('the node has closed the connection', () => socket.destroyed && received() !== '');
  assert.match(received(), /^HTTP\/1\.1 408 .*connection: close\r\n.*"reason":"UPLOAD_TIMEOUT"/s);
  assert.equal(isUploading(socket), false);
});

test('the rest of a body that is too large is discarded, and no request after it is processed', async () => {
  const node = await startNode(database, { timing: { lingerMs: 60_000 } });
  const body = Buffer.from(JSON.stringify({ deptName: 'x'.repeat(2_000_000) }));
  const { socket, received, sendRest } = await sendPart(node, DEPTS, { 'content-type': 'application/json' }, body);
  await waitFor('the request is rejected', () => received().endsWith('}'));
  assert.match(received(), /^HTTP\/1\.1 413 .*connection: close\r\n/s);
  await waitFor('nearly all of the body is read', () => socket.bytesRead > body.length - 10);
  assert.equal(socket.destroyed, false);
  sendRest('GET /version HTTP/1.1\r\nhost: banyan\r\nx-request-id: after-rejected\r\n\r\n');
  await waitFor('the connection is closed', () => socket.destroyed);
  assert.deepEqual(received().match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 413']);
  // The node has ended its side of the connection, so only the log would show that it processed the second request. Once a later
  // request is in the log, the second one would be in it too.
  await node.as(admin).get('/version', { headers: { 'x-request-id': 'later' } });
  const log: string[] = [];
  await waitFor('the later request is logged', () => {
    log.push(...takeRecentLog());
    return log.some((line) => line.includes('"requestId":"later"'));
  });
  assert.ok(!log.some((line) => line.includes('"requestId":"after-rejected"')), log.join('\n'));
});

test('a client that does not send the rest of a rejected body, or takes too long, is disconnected', async () => {
  const body = Buffer.from(JSON.stringify({ deptName: 'x'.repeat(2_000_000) }));
  for (const timing of [{ lingerMs: 50 }, { requestMs: 50, lingerMs: 600_000 }]) {
    const node = await startNode(database, { timing });
    const { socket, received } = await sendPart(node, DEPTS, { 'content-type': 'application/json' }, body);
    await waitFor('the request is rejected and the connection closed', () => socket.destroyed && received() !== '');
    assert.match(received(), /^HTTP\/1\.1 413 /);
  }
});
