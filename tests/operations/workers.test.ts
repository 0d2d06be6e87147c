import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { isAlive } from '../../db/embedded.ts';
import { connectOwner } from '../../db/sql.ts';
import { readConfig } from '../../server/config.ts';
import { serveGiven } from '../../server/serve.ts';
import { createDatabase, NO_DEADLINES } from '../support/database.ts';
import { type Run, startServed } from '../support/process.ts';
import type { Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

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

const { databaseUrl, superuserUrl } = await createDatabase();
// The callers of the last test never pause: one that this machine holds up for half a second is not sent away.
const run = startServed(databaseUrl, TWO, { timing: { lastRequestsMs: 600_000 } });
const admin = await run.admin();
const call = fresh(admin);

/** Calls until two workers that are alive have answered. Returns their process ids. */
const bothAnswer = (of = run, calls = call) =>
  waitFor('two workers answer', async () => {
    await calls('GET', `${DEPTS}/list`);
    const alive = [...answered(of)].filter(isAlive);
    return alive.length === 2 ? alive : undefined;
  });

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
  const workers = await bothAnswer();
  assert.ok(!workers.includes(Number(run.child.pid)));
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

test('a caller that half-closes after its request is answered', async () => {
  const { hostname, port } = new URL(admin.base);
  const heard = await say(Number(port), hostname, 'GET /health/live HTTP/1.1\r\nHost: banyan\r\n\r\n', true);
  assert.match(heard, /^HTTP\/1\.1 200 /);
});

test('a caller that does not finish its request is sent away, also from a server that does not listen', async (t) => {
  const config = readConfig({});
  const db = await openDatabase({ ...config, databaseUrl, timing: NO_DEADLINES });
  const { take, close } = await serveGiven({ db, config, timing: { requestMs: 100, requestCheckMs: 50 } });
  // As the process that hands connections out to the workers.
  const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true }, take).listen(0, '127.0.0.1');
  t.after(async () => {
    server.close();
    await close();
    await db.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const heard = await say(port, '127.0.0.1', 'GET /health/live HTTP/1.1\r\nHost: banyan\r\n', false);
  assert.match(heard, /^HTTP\/1\.1 408 /);
});

/** Sends this, and no more if `end`. Returns what was heard until the other side closed. */
async function say(port: number, host: string, words: string, end: boolean): Promise<string> {
  // Not closed by itself when the other side ends.
  const socket = net.connect({ host, port, allowHalfOpen: true });
  let heard = '';
  socket.on('data', (chunk) => {
    heard += chunk;
  });
  socket.on('end', () => socket.end());
  if (end) socket.end(words);
  else socket.write(words);
  await waitFor('the connection is closed', () => socket.closed);
  return heard;
}

test('a worker is killed: the other goes on, and a new one takes its place', async () => {
  const before = await bothAnswer();
  const [victim] = before;
  process.kill(Number(victim), 'SIGKILL');
  await run.said('a worker ended (SIGKILL); another begins');
  const after = await bothAnswer();
  assert.deepEqual(
    after.filter((pid) => before.includes(pid)),
    [before[1]],
  );
});

test('a worker is killed while it is handed connections: nobody waits indefinitely', async () => {
  const { hostname, port } = new URL(admin.base);
  const [victim] = await bothAnswer();
  const outcomes: string[] = [];
  /** Answered, or the connection ended. */
  const ask = () => {
    const socket = net.connect(Number(port), hostname);
    let outcome = 'ended';
    socket.on('error', () => {});
    socket.on('close', () => outcomes.push(outcome));
    socket.once('data', () => {
      outcome = 'answered';
      socket.destroy();
    });
    socket.write('GET /health/live HTTP/1.1\r\nHost: banyan\r\n\r\n');
  };
  // While it is stopped it takes none of the connections that it is handed, which is every other one.
  process.kill(Number(victim), 'SIGSTOP');
  for (let n = 0; n < 100; n++) ask();
  await waitFor('the other worker has answered its half', () => outcomes.length >= 50);
  process.kill(Number(victim), 'SIGKILL');
  await waitFor('nobody waits', () => outcomes.length === 100);
  assert.ok(outcomes.filter((word) => word === 'answered').length >= 50, outcomes.join());
});

test('SIGTERM under load: every request that was accepted is answered, and no process is left', async (t) => {
  const superuser = connectOwner({ url: superuserUrl });
  t.after(() => superuser.end());
  const count = async () => (await superuser`select from banyan.departments`).length;
  const workers = await bothAnswer();
  const before = await count();
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
  await waitFor('enough is done', () => done > 50);
  assert.equal(await run.stop(), 0, run.stderr);
  await load;
  for (const pid of workers) assert.ok(!isAlive(pid), `${pid} is left`);
  assert.equal(await count(), before + done);
});

test('the process that keeps the workers is killed: they end, too', async () => {
  const again = startServed(databaseUrl, TWO);
  const workers = await bothAnswer(again, fresh(await again.admin()));
  await again.kill('SIGKILL');
  await waitFor('they are gone', () => !workers.some(isAlive));
});

test('a taken port is named, and nothing is left running', async () => {
  const server = http.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const run = startServed(databaseUrl, { ...TWO, PORT: String(port) });
  assert.equal(await run.ended, 1);
  assert.ok(run.stderr.includes(`Banyan did not start. Port ${port} is taken`), run.stderr);
  // No process is left in its group.
  assert.throws(() => process.kill(-Number(run.child.pid), 0), { code: 'ESRCH' });
  server.close();
});
