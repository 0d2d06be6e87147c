import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { connectOwner } from '../../db/driver.ts';
import { isAlive } from '../../db/embedded/processes.ts';
import { readConfig } from '../../server/config.ts';
import { serveSockets } from '../../server/process/serve.ts';
import { createDatabase, NO_DEADLINES } from '../support/database.ts';
import { type Run, startOnDatabase } from '../support/process.ts';
import type { Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const DEPTS = '/system/dept-api';
const TWO = { BANYAN_WORKERS: '2', BANYAN_LOG_LEVEL: 'info' };

/** Returns the ids of the processes that have answered requests so far, according to the log. */
const answeringPids = ({ stdout }: Run) => {
  const lines = stdout.split('\n').filter((line) => line.includes('"request completed"'));
  return new Set(lines.flatMap((line) => (line.endsWith('}') ? [JSON.parse(line).pid as number] : [])));
};

/** Sends each request over a new connection, so that all workers get some. */
const callOverNewConnections = ({ base, token }: Client) => {
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
// The clients of a test below never pause, but a busy machine may delay one for longer than the default of half a second.
const run = startOnDatabase(databaseUrl, TWO, { timing: { shutdownIdleMs: 600_000 } });
const admin = await run.admin();
const call = callOverNewConnections(admin);

/** Sends requests until two live workers have answered. Returns their process ids. */
const waitForBothWorkers = (of = run, calls = call) =>
  waitFor('two workers have answered', async () => {
    await calls('GET', `${DEPTS}/list`);
    const alive = [...answeringPids(of)].filter(isAlive);
    return alive.length === 2 ? alive : undefined;
  });

test('both workers answer requests, and each shows what the other has acknowledged', async () => {
  let parentId = 0;
  for (let n = 0; n < 20; n++) {
    const { location } = await call('POST', DEPTS, { deptName: `n${n}`, parentId });
    for (let repeat = 0; repeat < 3; repeat++) {
      const { status, text } = await call('GET', location);
      assert.equal(status, 200, text);
      assert.equal(JSON.parse(text).data.deptName, `n${n}`);
    }
    parentId = Number(location.split('/').at(-1));
  }
  const workers = await waitForBothWorkers();
  assert.ok(!workers.includes(Number(run.child.pid)));
  // Cached paths are never stale: a move through one worker is visible at the other.
  const { data: tree } = await admin.get(`${DEPTS}/list?pageSize=100`);
  const [top, leaf] = [tree.rows[0].deptId, parentId];
  for (const newParent of [0, top, 0, top]) {
    assert.equal((await admin.put(DEPTS, { deptId: leaf, deptName: 'leaf', parentId: newParent })).code, 200);
    for (let repeat = 0; repeat < 4; repeat++) {
      const { text } = await call('GET', `${DEPTS}/${leaf}`);
      assert.equal(JSON.parse(text).data.ancestors, newParent === 0 ? '0' : `0,${top}`);
    }
  }
  // Every log line is complete, although two processes write them.
  for (const line of run.stdout.trim().split('\n')) assert.doesNotThrow(() => JSON.parse(line), line);
});

test('a client that half-closes its connection after the request gets a response', async () => {
  const { hostname, port } = new URL(admin.base);
  const received = await sendText(Number(port), hostname, 'GET /health/live HTTP/1.1\r\nHost: banyan\r\n\r\n', true);
  assert.match(received, /^HTTP\/1\.1 200 /);
});

test('a client that does not finish its request gets a 408 response, also from a worker that gets its connections from the first process', async (t) => {
  const config = readConfig({});
  const db = await openDatabase({ ...config, databaseUrl, timing: NO_DEADLINES });
  const { accept, close } = await serveSockets({ db, config, timing: { requestMs: 100, requestCheckMs: 50 } });
  // This server stands in for the process that passes connections to the workers.
  const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true }, accept).listen(0, '127.0.0.1');
  t.after(async () => {
    server.close();
    await close();
    await db.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const received = await sendText(port, '127.0.0.1', 'GET /health/live HTTP/1.1\r\nHost: banyan\r\n', false);
  assert.match(received, /^HTTP\/1\.1 408 /);
});

/** Sends the text and half-closes the connection if `end`. Returns everything received until the server closes it. */
async function sendText(port: number, host: string, text: string, end: boolean): Promise<string> {
  // allowHalfOpen: the socket must not close automatically when the server ends.
  const socket = net.connect({ host, port, allowHalfOpen: true });
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.on('end', () => socket.end());
  if (end) socket.end(text);
  else socket.write(text);
  await waitFor('the connection is closed', () => socket.closed);
  return received;
}

test('a killed worker is replaced while the other keeps running', async () => {
  const before = await waitForBothWorkers();
  const [victim] = before;
  process.kill(Number(victim), 'SIGKILL');
  await run.waitForOutput('Worker exited (SIGKILL), starting another one');
  const after = await waitForBothWorkers();
  assert.deepEqual(
    after.filter((pid) => before.includes(pid)),
    [before[1]],
  );
});

test('no client waits indefinitely when a worker is killed with connections handed to it', async () => {
  const { hostname, port } = new URL(admin.base);
  const [victim] = await waitForBothWorkers();
  const outcomes: string[] = [];
  /** Sends a request. Its outcome is a response or a closed connection. */
  const sendRequest = () => {
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
  // A suspended worker accepts none of the connections it is handed, which is every other one.
  process.kill(Number(victim), 'SIGSTOP');
  for (let n = 0; n < 100; n++) sendRequest();
  await waitFor('the other worker has answered its half', () => outcomes.length >= 50);
  process.kill(Number(victim), 'SIGKILL');
  await waitFor('all requests have an outcome', () => outcomes.length === 100);
  assert.ok(outcomes.filter((outcome) => outcome === 'answered').length >= 50, outcomes.join());
});

test('on SIGTERM under load every accepted request is answered, and no process is left', async (t) => {
  const superuser = connectOwner({ url: superuserUrl });
  t.after(() => superuser.end());
  const count = async () => (await superuser`select from banyan.departments`).length;
  const workers = await waitForBothWorkers();
  const before = await count();
  let done = 0;
  const client = async () => {
    for (;;) {
      const response = await admin.post(DEPTS, {}).catch((error) => {
        assert.equal(error.code, 'ECONNREFUSED');
      });
      if (!response) return;
      assert.equal(response.code, 200, response.text);
      done++;
    }
  };
  const load = Promise.all(Array.from({ length: 16 }, client));
  await waitFor('more than 50 requests are done', () => done > 50);
  assert.equal(await run.stop(), 0, run.stderr);
  await load;
  for (const pid of workers) assert.ok(!isAlive(pid), `process ${pid} is still running`);
  assert.equal(await count(), before + done);
});

test('the workers exit when their parent process is killed', async () => {
  const again = startOnDatabase(databaseUrl, TWO);
  const workers = await waitForBothWorkers(again, callOverNewConnections(await again.admin()));
  await again.kill('SIGKILL');
  await waitFor('the workers have exited', () => !workers.some(isAlive));
});

test('a start on a taken port fails with a message that names the port, and leaves nothing running', async () => {
  const server = http.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const run = startOnDatabase(databaseUrl, { ...TWO, PORT: String(port) });
  assert.equal(await run.ended, 1);
  assert.ok(run.stderr.includes(`Banyan did not start. Port ${port} is in use`), run.stderr);
  // No process of its group is left.
  assert.throws(() => process.kill(-Number(run.child.pid), 0), { code: 'ESRCH' });
  server.close();
});
