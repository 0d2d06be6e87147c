import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { isAlive } from '../db/embedded.ts';
import type { Client } from './harness.ts';
import { assertStopped, newFolder, type Run, start, until, usedFolder } from './process.ts';

const DEPTS = '/system/dept-api';
const TWO = { BANYAN_WORKERS: '2', BANYAN_LOG_LEVEL: 'info' };

/** The processes that answered so far, by the log. */
const answered = ({ stdout }: Run) => {
  const lines = stdout.split('\n').filter((line) => line.includes('"answered"'));
  return new Set(lines.flatMap((line) => (line.endsWith('}') ? [JSON.parse(line).pid as number] : [])));
};

/** Each request over a connection of its own, so that all workers have their turn. */
const fresh = ({ base, token }: Client) => {
  const agent = new http.Agent({ keepAlive: false });
  const call = (method: string, path: string, body?: unknown) =>
    new Promise<{ status: number; location: string; text: string }>((resolve, reject) => {
      const { hostname, port } = new URL(base);
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const request = http.request({ hostname, port, path, method, agent, headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, location: String(response.headers.location), text }),
        );
      });
      request.on('error', reject);
      request.end(body ? JSON.stringify(body) : undefined);
    });
  return call;
};

const dataDir = await usedFolder();
const run = start(dataDir, TWO);
const admin = await run.admin();
const call = fresh(admin);

test('two workers: both answer, and what one has acknowledged the other shows', async () => {
  let parentId = 0;
  for (let n = 0; n < 20; n++) {
    const { location } = await call('POST', DEPTS, { deptName: `n${n}`, parentId });
    for (let look = 0; look < 3; look++) {
      const { status, text } = await call('GET', location);
      assert.equal(status, 200, text);
      assert.equal(JSON.parse(text).data.deptName, `n${n}`);
    }
    parentId = Number(location.split('/').at(-1));
  }
  await until('both are in the log', () => answered(run).size === 2);
  assert.ok(!answered(run).has(Number(run.child.pid)));
  // What each keeps of paths is of no age: a move at one is seen at the other.
  const { data: tree } = await admin.get(`${DEPTS}/list?pageSize=100`);
  const [top, leaf] = [tree.rows[0].deptId, parentId];
  for (const place of [0, top, 0, top]) {
    assert.equal((await admin.put(DEPTS, { deptId: leaf, deptName: 'leaf', parentId: place })).code, 200);
    for (let look = 0; look < 4; look++) {
      const { text } = await call('GET', `${DEPTS}/${leaf}`);
      assert.equal(JSON.parse(text).data.ancestors, place === 0 ? '0' : `0,${top}`);
    }
  }
  // Every line of the log is whole, though two write it.
  for (const line of run.stdout.trim().split('\n')) assert.doesNotThrow(() => JSON.parse(line), line);
});

test('who does not finish his request is sent away, and who half-closes after it is answered', async () => {
  const { hostname, port } = new URL(admin.base);
  const said = (words: string, end: boolean) =>
    new Promise<string>((resolve) => {
      // Not closed by itself when the other side ends.
      const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen: true });
      let heard = '';
      socket.on('data', (chunk) => (heard += chunk));
      socket.on('end', () => socket.end());
      socket.on('close', () => resolve(heard));
      if (end) socket.end(words);
      else socket.write(words);
    });
  const [slow, half] = await Promise.all([
    said('GET /health/live HTTP/1.1\r\nHost: banyan\r\n', false),
    said('GET /health/live HTTP/1.1\r\nHost: banyan\r\n\r\n', true),
  ]);
  assert.match(slow, /^HTTP\/1\.1 408 /);
  assert.match(half, /^HTTP\/1\.1 200 /);
});

test('a worker is killed: the others go on, and another takes its place', async () => {
  const before = answered(run);
  const [victim] = before;
  process.kill(Number(victim), 'SIGKILL');
  await run.said('a worker ended (SIGKILL); another begins');
  let failures = 0;
  for (let n = 0; n < 30; n++) {
    await call('GET', `${DEPTS}/list`).catch(() => failures++);
    await setTimeout(10);
  }
  assert.ok(failures <= 1, `${failures} calls failed after it was gone`);
  await until('a third answers', async () => {
    await call('GET', `${DEPTS}/list`);
    return answered(run).size > before.size;
  });
});

test('a worker is killed while it is handed connections: nobody waits for ever', async () => {
  const { hostname, port } = new URL(admin.base);
  const victim = [...answered(run)].find(isAlive);
  /** Answered, or the connection ended. */
  const settled = () =>
    new Promise<string>((resolve) => {
      const socket = net.connect(Number(port), hostname);
      socket.on('error', () => resolve('ended'));
      socket.on('close', () => resolve('ended'));
      socket.once('data', () => {
        resolve('answered');
        socket.destroy();
      });
      socket.write('GET /health/live HTTP/1.1\r\nHost: banyan\r\n\r\n');
    });
  // Stopped in its place, it takes nothing of what it is handed.
  process.kill(Number(victim), 'SIGSTOP');
  const outcomes = Promise.all(Array.from({ length: 100 }, settled));
  await setTimeout(300);
  process.kill(Number(victim), 'SIGKILL');
  const words = await Promise.race([outcomes, setTimeout(30_000, ['some wait still'], { ref: false })]);
  assert.ok(!words.includes('some wait still'), 'some wait still');
  assert.ok(words.filter((word) => word === 'answered').length >= 50, words.join());
});

test('SIGTERM under load: who was let in is answered, and no process is left', async () => {
  const { total } = (await admin.get(`${DEPTS}/list?pageSize=1`)).data;
  let done = 0;
  const caller = async () => {
    for (;;) {
      const answer = await admin.post(DEPTS, {}).catch((error) => {
        assert.equal(error.code, 'ECONNREFUSED');
      });
      if (!answer) return;
      assert.equal(answer.code, 200, answer.text);
      done++;
    }
  };
  const load = Promise.all(Array.from({ length: 16 }, caller));
  await until('enough is done', () => done > 50);
  const workers = answered(run);
  assert.equal(await run.stop(), 0, run.stderr);
  await load;
  for (const pid of workers) assert.ok(!isAlive(pid), `${pid} is left`);
  await assertStopped(dataDir);

  const again = start(dataDir, TWO);
  const there = await again.admin();
  assert.equal((await there.get(`${DEPTS}/list?pageSize=1`)).data.total, total + done);

  // The one that keeps them is killed: they go too, and the next start works.
  await until('both answered', async () => {
    await fresh(there)('GET', `${DEPTS}/list`);
    return answered(again).size >= 2;
  });
  const left = [...answered(again)];
  await again.kill('SIGKILL');
  await until('they are gone', () => left.every((pid) => !isAlive(pid)));
  const next = start(dataDir, TWO);
  await (await next.admin()).dept();
  assert.equal(await next.stop(), 0, next.stderr);
  await assertStopped(dataDir);
});

test('a taken port is named, and nothing is left running', async () => {
  const server = http.createServer().listen(0, '127.0.0.1');
  await until('it listens', () => server.listening);
  const { port } = server.address() as { port: number };
  const dataDir = newFolder();
  const run = start(dataDir, { ...TWO, PORT: String(port) });
  assert.equal(await run.ended, 1);
  assert.ok(run.stderr.includes(`Banyan did not start. Port ${port} is taken`), run.stderr);
  await assertStopped(dataDir);
  server.close();
});
