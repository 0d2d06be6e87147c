import assert from 'node:assert/strict';
import net from 'node:net';
import { after, test } from 'node:test';
import { setInterval } from 'node:timers';
import { startService } from '../harness.ts';
import { report, scale, Tally } from '../scale.ts';
import { callTogether, wire } from './crowd.ts';

/** Callers who open a connection and then dawdle: they cost the others nothing, and the service lets go of them. */

const service = await startService();
const boss = await service.tenant();
const id = await boss.dept({ deptName: 'still here' });
const { base } = service;
const { hostname, port } = new URL(base);

interface Slow {
  closed: Promise<{ heard: string; ms: number }>;
}

const sockets = new Set<net.Socket>();
after(() => {
  for (const socket of sockets) socket.destroy();
});

/** Sends the beginning at once, then a byte a second, if there are any. */
function dawdle(beginning: string, rest = ''): Promise<Slow> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => {
      const began = performance.now();
      let heard = '';
      let at = 0;
      if (beginning) socket.write(beginning);
      const clock = rest
        ? setInterval(() => socket.writable && socket.write(rest[at++ % rest.length] ?? ''), 1_000)
        : undefined;
      socket.on('data', (chunk) => (heard += chunk));
      const closed = new Promise<{ heard: string; ms: number }>((done) =>
        socket.on('close', () => {
          clearInterval(clock);
          sockets.delete(socket);
          done({ heard, ms: performance.now() - began });
        }),
      );
      resolve({ closed });
    });
    sockets.add(socket);
    socket.on('error', reject);
  });
}

const head = [
  'POST /system/dept-api HTTP/1.1',
  'Host: banyan',
  `Authorization: Bearer ${boss.token}`,
  'Accept-Language: en',
  'X-Request-Id: slow-1',
].join('\r\n');
const body = 'Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"deptName":"half a';
const ways: [what: string, beginning: string, rest: string, patience: number][] = [
  ['nothing', '', '', 10_000],
  ['half a line', 'GET /system/dept', '', 10_000],
  ['headers, a byte a second', 'GET /health/live HTTP/1.1\r\nHost: banyan\r\nX: ', 'x', 10_000],
  ['all headers but the last line', `${head}\r\n`, '', 10_000],
  ['half a body', `${head}\r\n${body}`, '', 10_000],
  ['half a body, then a byte a second', `${head}\r\n${body}`, ' ', 10_000],
];

test(`${scale(500, 2_000)} connections that dawdle do not keep others from being answered, and are ended`, async (t) => {
  const each = Math.ceil(scale(500, 2_000) / ways.length);
  const slow = await Promise.all(
    ways.flatMap(([what, beginning, rest, patience]) =>
      Array.from({ length: each }, async () => ({ what, patience, ...(await dawdle(beginning, rest)) })),
    ),
  );
  const request = wire(boss, 'GET', `/system/dept-api/${id}`);
  const figures = await callTogether({ base, request, connections: 64, ms: 2_000 });
  assert.deepEqual(Object.keys(figures.statuses), ['200']);
  assert.equal(figures.lost, 0);
  await boss.dept({ deptName: 'made meanwhile' });

  const tally = new Tally();
  const longest: Record<string, number> = {};
  for (const { what, patience, closed } of slow) {
    const { heard, ms } = await closed;
    // Not before its time; how long after, is the machine's.
    assert.ok(ms > patience * 0.9, `${what}: ended after ${ms} ms`);
    longest[what] = Math.max(longest[what] ?? 0, Math.round(ms));
    tally.add(`${what}: ${heard.slice(9, 12) || 'closed'}`);
    if (heard) assert.match(heard, /^HTTP\/1\.1 408 .*"reason":"REQUEST_TIMEOUT"\}\}$/s);
    // What was said before the body is known.
    if (heard && what.startsWith('half a body'))
      assert.match(heard, /content-language: en\r\n.*x-request-id: slow-1\r/s);
  }
  assert.equal((await boss.get('/system/dept-api/list?deptName=half')).data.total, 0, 'half a body made nothing');
  report(t, { figures, longest, ...tally.counts });
});
