import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, test } from 'node:test';
import { setInterval } from 'node:timers';
import { DEPTS, read } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { databaseOf, startNode } from './node.ts';

/** Clients that open a connection and send their request slowly, or never. */

const service = await startService();
const boss = await service.createTenant();
const id = await boss.createDepartment({ deptName: 'still here' });

const sockets = new Set<net.Socket>();
after(() => {
  for (const socket of sockets) socket.destroy();
});

interface Slow {
  socket: net.Socket;
  /** All that the server sent, once it has closed the connection. */
  closed: Promise<string>;
}

/** Sends the beginning at once, then byte after byte of the rest, if there is one. */
async function dawdle(base: string, beginning: string, rest: string): Promise<Slow> {
  const { hostname, port } = new URL(base);
  const socket = net.connect(Number(port), hostname);
  sockets.add(socket);
  let heard = '';
  socket.on('data', (chunk) => (heard += chunk));
  socket.on('error', () => {});
  const closed = once(socket, 'close').then(() => {
    clearInterval(clock);
    return heard;
  });
  await once(socket, 'connect');
  if (beginning) socket.write(beginning);
  let at = 0;
  const clock = rest && setInterval(() => socket.writable && socket.write(rest[at++ % rest.length] ?? ''), 20);
  return { socket, closed };
}

const head = [
  'POST /system/dept-api HTTP/1.1',
  'Host: banyan',
  `Authorization: Bearer ${boss.token}`,
  'Accept-Language: en',
  'X-Request-Id: slow-1',
].join('\r\n');
const body = 'Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"deptName":"half a';
const ways: [what: string, beginning: string, rest: string][] = [
  ['nothing', '', ''],
  ['half a line', 'GET /system/dept', ''],
  ['headers, byte by byte', 'GET /health/live HTTP/1.1\r\nHost: banyan\r\nX: ', 'x'],
  ['all headers but the last line', `${head}\r\n`, ''],
  ['half a body', `${head}\r\n${body}`, ''],
  ['half a body, then byte by byte', `${head}\r\n${body}`, ' '],
];

test('slow clients keep nobody else from being answered', async () => {
  const each = Math.ceil(scale(300, 2_000) / ways.length);
  const slow = await Promise.all(
    ways.flatMap(([, beginning, rest]) => Array.from({ length: each }, () => dawdle(service.base, beginning, rest))),
  );
  const reads = await Promise.all(Array.from({ length: 64 }, () => boss.get(`${DEPTS}/${id}`)));
  for (const answer of reads) assert.equal(answer.code, 200, answer.text);
  await boss.createDepartment({ deptName: 'made meanwhile' });
  // Their time is not over yet.
  for (const { socket } of slow) assert.equal(socket.readyState, 'open');
  for (const { socket } of slow) socket.destroy();
});

// Only slow clients call this node.
const node = await startNode(await databaseOf(service), { timing: { requestMs: 300, requestCheckMs: 50 } });

for (const [what, beginning, rest] of ways) {
  test(`a client that sends ${what} is told that its time is over, and its connection is closed`, async () => {
    const { closed } = await dawdle(node.base, beginning, rest);
    let heard: string | undefined;
    void closed.then((all) => (heard = all));
    await waitFor('its connection is closed', () => heard !== undefined);
    // A reset connection takes the response with it: the client sent on.
    if (heard || !rest) assert.match(heard ?? '', /^HTTP\/1\.1 408 .*"reason":"REQUEST_TIMEOUT"\}\}$/s);
    // What came before the body is known.
    if (heard && what.startsWith('half a body'))
      assert.match(heard, /content-language: en\r\n.*x-request-id: slow-1\r/s);
    assert.equal((await read(boss, `${DEPTS}/list?deptName=half`)).total, 0, 'half a body creates nothing');
  });
}
