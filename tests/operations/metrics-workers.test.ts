import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { createDatabase } from '../support/database.ts';
import { DURATIONS, type Scraped, scrape } from '../support/metrics.ts';
import { type Run, startOnDatabase } from '../support/process.ts';
import { scale } from '../support/scale.ts';
import { Client, PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** The metrics of a service with several workers. */

const DEPTS = '/system/dept-api';
const READ = { http_request_method: 'GET', http_route: `${DEPTS}/:id` };
const CREATE = { http_request_method: 'POST', http_route: DEPTS, http_response_status_code: '200' };
const WORKERS = 3;

const { databaseUrl } = await createDatabase();
const run = startOnDatabase(databaseUrl, {
  BANYAN_WORKERS: String(WORKERS),
  BANYAN_METRICS: '1',
  BANYAN_METRICS_PORT: '0',
  BANYAN_LOG_LEVEL: 'info',
});
const admin = await run.admin();
const metricsBase = run.printed('Metrics').replace('localhost', '127.0.0.1').replace('/metrics', '');

const count = (scraped: Scraped, labels: Record<string, string>) => scraped.sum(`${DURATIONS}_count`, labels) ?? 0;

/** Calls with many connections, so that all workers get some. */
async function call(method: string, path: string, body?: unknown): Promise<number> {
  const { hostname, port } = new URL(admin.base);
  const headers = { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json', connection: 'close' };
  return new Promise((resolve, reject) => {
    const request = http.request({ method, path, hostname, port, headers, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The processes that have answered, according to the log. */
const answeringPids = ({ stdout }: Run) =>
  new Set([...stdout.matchAll(/"pid":(\d+)[^\n]*"request completed"/g)].map(([, pid]) => Number(pid)));

test('the sums over all workers are exactly what was sent, while metrics are scraped under load', async () => {
  const id = await admin.createDepartment();
  const requests = scale(300, 3_000);
  const statuses = new Map<number, number>();
  let done = false;
  let creations = 0;
  const clients = Array.from({ length: 12 }, async (_, client) => {
    for (let n = client; n < requests; n += 12) {
      const status =
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
  assert.equal(answeringPids(run).size, WORKERS);
  const expected = (scraped: Scraped) =>
    count(scraped, CREATE) === creations + 1 &&
    [...statuses].every(
      ([status, sent]) => count(scraped, { ...READ, http_response_status_code: String(status) }) === sent,
    );
  // A client may have its response a moment before the service has counted it.
  const last = await waitFor('all responses are counted', async () => {
    const scraped = await scrape(metricsBase);
    return expected(scraped) ? scraped : undefined;
  });
  assert.ok(expected(await scrape(admin.base)), 'the same on the main listener');
  assert.equal(last.sum('banyan_batch_size_sum', { operation: 'department_create' }), creations + 1);
  const reads = [...statuses.values()].reduce((sum, sent) => sum + sent, 0);
  assert.equal(last.sum('banyan_batch_size_sum', { operation: 'department_read' }), reads);
  assert.equal(last.sum('banyan_logins_total', { outcome: 'success' }), 1);
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

test('the port of metrics serves nothing else', async () => {
  const own = new Client(metricsBase);
  assert.equal((await own.get('/health/live')).status, 404);
  assert.equal((await own.get(DEPTS)).status, 404);
  assert.equal((await own.post('/metrics')).status, 405);
});

test('no counter falls when a worker dies and is replaced', async () => {
  const before = await scrape(metricsBase);
  const [victim] = answeringPids(run);
  process.kill(Number(victim), 'SIGKILL');
  await run.waitForOutput('Worker exited (SIGKILL)');
  const after = await waitFor('it is replaced', async () => {
    const scraped = await scrape(metricsBase);
    return scraped.sum('banyan_workers') === WORKERS ? scraped : undefined;
  });
  for (const { name, labels, value } of before.samples) {
    const metric = name.replace(/_(bucket|sum|count)$/, '');
    if (!['counter', 'histogram'].includes(before.types.get(metric) ?? before.types.get(name) ?? '')) continue;
    assert.ok((after.sum(name, labels) ?? 0) >= value, `${name} ${JSON.stringify(labels)} fell from ${value}`);
  }
});

test('a worker that does not answer keeps its last values', async () => {
  const short = startOnDatabase(
    databaseUrl,
    { BANYAN_WORKERS: '2', BANYAN_METRICS_PORT: '0', BANYAN_LOG_LEVEL: 'info' },
    { timing: { metricsWaitMs: 500 } },
  );
  const { base } = await short.ready();
  const address = short.printed('Metrics').replace('localhost', '127.0.0.1').replace('/metrics', '');
  const live = { http_route: '/health/live' };
  await waitFor('both workers have answered', async () => {
    await fetch(`${base}/health/live`, { headers: { connection: 'close' } });
    return answeringPids(short).size === 2;
  });
  const before = await waitFor('what they answered is counted', async () => {
    const scraped = await scrape(address);
    return count(scraped, live) > 1 ? scraped : undefined;
  });
  const [suspended] = answeringPids(short);
  process.kill(Number(suspended), 'SIGSTOP');
  assert.ok(count(await scrape(address), live) >= count(before, live));
  process.kill(Number(suspended), 'SIGCONT');
  assert.equal(await short.stop(), 0, short.stderr);
});

test('a taken port of metrics stops the start with a message that names the setting', async () => {
  const taken = new URL(metricsBase).port;
  for (const workers of ['1', '2']) {
    const again = startOnDatabase(databaseUrl, { BANYAN_METRICS_PORT: taken, BANYAN_WORKERS: workers });
    assert.equal(await again.ended, 1);
    assert.match(again.stderr, new RegExp(`Port ${taken} is in use: set BANYAN_METRICS_PORT`));
  }
});
