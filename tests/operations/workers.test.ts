import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { isAlive } from '../../db/embedded/processes.ts';
import { readConfig } from '../../server/config.ts';
import { serveMetrics } from '../../server/metrics/endpoint.ts';
import { serveSockets } from '../../server/process/serve.ts';
import { Worker } from '../../server/process/workers.ts';
import { connectWithoutDeadline, createDatabase, NO_DEADLINES } from '../support/database.ts';
import { DURATIONS, type Scraped, scrape } from '../support/metrics.ts';
import { logIn, startOnDatabase } from '../support/process.ts';
import { scale } from '../support/scale.ts';
import { Client, PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import {
  answeringPids,
  callOverNewConnections,
  countResponses as count,
  DEPTS,
  logLines,
  metricsAddressOf,
  sendText,
  waitForAnswers,
} from './worker-requests.ts';

/** A service with several workers, and its metrics. */

const READ = { http_request_method: 'GET', http_route: `${DEPTS}/:id` };
const CREATE = { http_request_method: 'POST', http_route: DEPTS, http_response_status_code: '200' };
const WORKERS = scale(2, 3);

const { databaseUrl, superuserUrl } = await createDatabase();
const settings = {
  BANYAN_WORKERS: String(WORKERS),
  BANYAN_METRICS: '1',
  BANYAN_METRICS_PORT: '0',
  BANYAN_LOG_LEVEL: 'info',
};
// The clients of a test below never pause, but a busy machine may delay one for longer than the default of half a second.
const run = startOnDatabase(databaseUrl, settings, { timing: { shutdownIdleMs: 600_000 } });
const admin = await run.admin();
const metricsBase = metricsAddressOf(run);
const call = callOverNewConnections(admin);
const waitForWorkers = () => waitForAnswers(run, call, WORKERS);

test('the sums over all workers are exactly what was sent, while metrics are scraped under load', async () => {
  const before = await scrape(metricsBase);
  await logIn(admin.base, PASSWORD);
  const id = await admin.createDepartment();
  const requests = scale(36, 3_000);
  const statuses = new Map<number, number>();
  let done = false;
  let creations = 0;
  const clients = Array.from({ length: 12 }, async (_, client) => {
    for (let n = client; n < requests; n += 12) {
      const { status } =
        n % 5 === 0 ? await call('POST', DEPTS, {}) : await call('GET', `${DEPTS}/${n % 3 ? id : 999_999}`);
      if (n % 5 === 0) creations++;
      else statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  const scrapes: Scraped[] = [];
  const scraping = (async () => {
    while (!done) for (const base of [metricsBase, admin.base]) scrapes.push(await scrape(base));
  })();
  await Promise.all(clients);
  done = true;
  await scraping;
  await waitFor('each worker has answered', () => [...answeringPids(run)].filter(isAlive).length === WORKERS);
  const expected = (scraped: Scraped) =>
    scraped.growth(before, `${DURATIONS}_count`, CREATE) === creations + 1 &&
    [...statuses].every(([status, sent]) => {
      const labels = { ...READ, http_response_status_code: String(status) };
      return scraped.growth(before, `${DURATIONS}_count`, labels) === sent;
    });
  // A client may have its response a moment before the service has counted it.
  const last = await waitFor('all responses are counted', async () => {
    const scraped = await scrape(metricsBase);
    return expected(scraped) ? scraped : undefined;
  });
  assert.ok(expected(await scrape(admin.base)), 'the same on the main listener');
  assert.equal(last.growth(before, 'banyan_batch_size_sum', { operation: 'department_create' }), creations + 1);
  const reads = [...statuses.values()].reduce((sum, sent) => sum + sent, 0);
  assert.equal(last.growth(before, 'banyan_batch_size_sum', { operation: 'department_read' }), reads);
  assert.equal(last.growth(before, 'banyan_logins_total', { outcome: 'success' }), 1);
  for (const [n, scraped] of scrapes.slice(1).entries()) {
    assert.ok(count(scraped, CREATE) >= count(scrapes[n] as Scraped, CREATE), 'no counter falls');
  }
});

test('gauges of the processes are added up, and figures about the database are not', async () => {
  const scraped = await scrape(metricsBase);
  assert.equal(scraped.sum('banyan_workers'), WORKERS);
  assert.equal(scraped.sum('banyan_db_connections_max'), WORKERS * 10);
  assert.equal(scraped.sum('banyan_request_slots_limit'), WORKERS * 200);
  assert.equal(scraped.sum('banyan_db_up'), 1);
  const id = await admin.create('/system/tenant-api', { tenantName: 't', username: 'boss', password: PASSWORD });
  const { tenantId } = (await admin.get(`/system/tenant-api/${id}`)).data;
  await admin.put(`/system/quota-api/reports?tenantId=${tenantId}`, { total: 5 });
  const reservation = { quota: 'reports', amount: 1, seconds: 600 };
  const { code, text } = await admin.post(`/system/quota-api/reserve?tenantId=${tenantId}`, reservation);
  assert.equal(code, 200, text);
  assert.equal((await scrape(metricsBase)).sum('banyan_quota_reservations_open'), 1);
});

test('the metrics port serves only metrics', async () => {
  const own = new Client(metricsBase);
  assert.equal((await own.get('/health/live')).status, 404);
  assert.equal((await own.get(DEPTS)).status, 404);
  assert.equal((await own.post('/metrics')).status, 405);
});

test('a metrics port that is in use is an error that names the setting', async () => {
  const taken = Number(new URL(metricsBase).port);
  await assert.rejects(
    serveMetrics({ metricsPort: taken, host: '127.0.0.1' }, async () => ''),
    new RegExp(`Port ${taken} is in use: set BANYAN_METRICS_PORT`),
  );
});

test('all workers answer requests, and each shows what the others have acknowledged', async () => {
  let parentId = 0;
  for (let n = 0; n < scale(6, 20); n++) {
    const { location } = await call('POST', DEPTS, { deptName: `n${n}`, parentId });
    for (let repeat = 0; repeat < 3; repeat++) {
      const { status, text } = await call('GET', location);
      assert.equal(status, 200, text);
      assert.equal(JSON.parse(text).data.deptName, `n${n}`);
    }
    parentId = Number(location.split('/').at(-1));
  }
  const workers = await waitForWorkers();
  assert.ok(!workers.includes(Number(run.child.pid)));
  // Cached paths are never stale: a move through one worker is visible at the others.
  const { data: tree } = await admin.get(`${DEPTS}/list?pageSize=100`);
  const [top, leaf] = [tree.rows[0].deptId, parentId];
  for (const newParent of [0, top, 0, top].slice(0, scale(2, 4))) {
    assert.equal((await admin.put(DEPTS, { deptId: leaf, deptName: 'leaf', parentId: newParent })).code, 200);
    for (let repeat = 0; repeat < 4; repeat++) {
      const { text } = await call('GET', `${DEPTS}/${leaf}`);
      assert.equal(JSON.parse(text).data.ancestors, newParent === 0 ? '0' : `0,${top}`);
    }
  }
  // Every log line is complete, although several processes write them.
  for (const line of logLines(run)) assert.doesNotThrow(() => JSON.parse(line), line);
});

test('when a worker is killed with connections handed to it, no client waits indefinitely and no counter falls', async () => {
  const { hostname, port } = new URL(admin.base);
  const [victim] = await waitForWorkers();
  const { samples, types } = await scrape(metricsBase);
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
  // A suspended worker accepts none of the connections that it is handed: half of them with two workers, fewer with three.
  process.kill(Number(victim), 'SIGSTOP');
  for (let n = 0; n < 100; n++) sendRequest();
  await waitFor('the other workers have answered at least half', () => outcomes.length >= 50);
  process.kill(Number(victim), 'SIGKILL');
  await waitFor('all requests have an outcome', () => outcomes.length === 100);
  assert.ok(outcomes.filter((outcome) => outcome === 'answered').length >= 50, outcomes.join());

  await run.waitForOutput('Worker exited (SIGKILL)');
  await waitForWorkers();
  const after = await waitFor('it is replaced', async () => {
    const scraped = await scrape(metricsBase);
    return scraped.sum('banyan_workers') === WORKERS ? scraped : undefined;
  });
  for (const { name, labels, value } of samples) {
    const metric = name.replace(/_(bucket|sum|count)$/, '');
    if (!['counter', 'histogram'].includes(types.get(metric) ?? types.get(name) ?? '')) continue;
    assert.ok((after.sum(name, labels) ?? 0) >= value, `${name} ${JSON.stringify(labels)} fell from ${value}`);
  }
});

test('a worker whose process cannot be created counts as exited, so that another one is started', async () => {
  const { execPath } = process;
  process.execPath = '/nonexistent/node';
  let worker: Worker;
  try {
    worker = new Worker(undefined);
  } finally {
    process.execPath = execPath;
  }
  let message = '';
  worker.receive('started').catch((error: Error) => (message = error.message));
  await waitFor('the start has failed', () => message);
  assert.match(message, /^worker exited \(.*ENOENT/);
});

test('a client that half-closes its connection after the request gets a response', async () => {
  const { hostname, port } = new URL(admin.base);
  const received = await sendText(Number(port), hostname, 'GET /health/live HTTP/1.1\r\nHost: banyan\r\n\r\n', true);
  assert.match(received, /^HTTP\/1\.1 200 /);
});

test('a client that does not finish its request gets a 408 response from a worker, whose connections come from the parent process', async (t) => {
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

test('on SIGTERM under load every accepted request is answered, and no process is left', async (t) => {
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  t.after(() => superuser.end());
  const countDepartments = async () => (await superuser`select from banyan.departments`).length;
  const workers = await waitForWorkers();
  const countBefore = await countDepartments();
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
  assert.equal(await countDepartments(), countBefore + done);
});
