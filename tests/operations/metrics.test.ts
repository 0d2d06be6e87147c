import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { DURATIONS, type Scraped, scrape } from '../support/metrics.ts';
import { Receiver } from '../support/receiver.ts';
import { FAST_WEBHOOK_POLLING, shareService, startService } from '../support/service.ts';
import { waitFor, waitForEstablishedConnections } from '../support/wait.ts';

/** The metrics of one process, on the main listener. */

const DEPTS = '/system/dept-api';
const service = await startService(
  { BANYAN_METRICS: '1', BANYAN_WEBHOOK_NETWORKS: 'loopback' },
  { timing: FAST_WEBHOOK_POLLING },
);
const { root, anonymous, base } = service;
const tenant = await service.createTenant();
/** Another service, which seals nothing and serves one request at a time. */
const limited = await startService(
  { BANYAN_METRICS: '1' },
  { timing: { sealMs: 3_600_000 }, limits: { requests: { min: 1, max: 1 } } },
);

const waitForValue = (name: string, labels: Record<string, string>, expected: number) =>
  waitFor(`${name} is ${expected}`, async () => (await scrape(base)).sum(name, labels) === expected);

const waitForGrowth = (earlier: Scraped, name: string, labels: Record<string, string>, expected: number) =>
  waitFor(
    `${name} has grown by ${expected}`,
    async () => (await scrape(base)).growth(earlier, name, labels) === expected,
  );

test('without the settings there are no metrics', async () => {
  const { root: other, app } = await shareService();
  assert.equal((await other.get('/metrics')).status, 404);
  assert.equal(app.metrics, undefined);
});

test('values are rounded so that the sum of several processes does not depend on their order', async () => {
  const { samples, types } = await scrape(base);
  const sums = samples.filter(({ name }) => types.get(name.replace(/_sum$/, '')) === 'histogram');
  assert.ok(sums.some(({ value }) => !Number.isInteger(value)));
  for (const { name, value } of sums) assert.ok(Number.isInteger(value * 2 ** 20), `${name} ${value}`);
});

test('the OpenAPI document leaves metrics out', async () => {
  const { paths } = JSON.parse((await anonymous.get('/openapi.json')).text);
  assert.ok(paths[`${DEPTS}/{id}`]);
  assert.equal(paths['/metrics'], undefined);
});

test('responses are counted by method, route and status, and the route never contains an id', async () => {
  const id = await tenant.createDepartment();
  const labels = { http_request_method: 'GET', http_route: `${DEPTS}/:id` };
  const count = async (status: string) =>
    (await scrape(base)).sum(`${DURATIONS}_count`, { ...labels, http_response_status_code: status }) ?? 0;
  const before = { found: await count('200'), missing: await count('404') };
  for (let n = 0; n < 3; n++) await tenant.get(`${DEPTS}/${id}`);
  await tenant.get(`${DEPTS}/999999`);
  await waitFor('three reads are counted', async () => (await count('200')) === before.found + 3);
  await waitFor('one error is counted', async () => (await count('404')) === before.missing + 1);
});

test('paths and methods that match no operation share one label', async () => {
  const before = await scrape(base);
  for (const path of ['/a-secret-path', '/another?token=secret', '/%E4%BD%A0']) await anonymous.get(path);
  await anonymous.call('PROPFIND', '/a-secret-path');
  const { text } = await waitFor('they are counted', async () => {
    const scraped = await scrape(base);
    const counted = (method: string) =>
      scraped.growth(before, `${DURATIONS}_count`, { http_route: 'unmatched', http_request_method: method });
    return counted('GET') === 3 && counted('_OTHER') === 1 ? scraped : undefined;
  });
  assert.doesNotMatch(text, /secret|another|PROPFIND/);
});

test('no label names a tenant, a user or an id', async () => {
  const { tenantId } = tenant;
  const { samples } = await scrape(base);
  const routes = new Set(['unmatched', '*', ...routesOf()]);
  for (const { name, labels } of samples) {
    for (const [label, value] of Object.entries(labels)) {
      if (label === 'http_route') assert.ok(routes.has(value), value);
      else if (label === 'http_response_status_code') assert.match(value, /^[1-5]\d\d$/);
      else if (label === 'http_request_method')
        assert.match(value, /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|_OTHER)$/);
      else if (label === 'le') assert.match(value, /^([\d.]+|\+Inf)$/);
      else if (/^nodejs_|^banyan_info$/.test(name)) assert.doesNotMatch(value, new RegExp(tenantId));
      else assert.match(value, /^[a-z_]+$/, `${name} ${label}`);
    }
  }
});

/** Returns the route templates of the service. */
function routesOf(): string[] {
  const tree = service.app.printRoutes({ commonPrefix: false, includeHooks: false });
  const paths: string[] = [];
  const stack: string[] = [];
  for (const line of tree.split('\n')) {
    const [, indent = '', text = ''] = /^([│ ]*)(?:└── |├── )(.*?)(?: \([A-Z, ]+\))?$/.exec(line) ?? [];
    if (!text) continue;
    stack.length = indent.length / 4;
    stack.push(text);
    paths.push(stack.join(''));
  }
  return paths;
}

test('logins are counted by outcome', async () => {
  const before = await scrape(base);
  const count = (scraped = before, outcome = '') => scraped.sum('banyan_logins_total', { outcome }) ?? 0;
  const { tenantId } = tenant;
  await service.logIn(tenantId, 'boss');
  await anonymous.post('/auth/login', { tenantId, username: 'boss', password: 'not the password' });
  await anonymous.post('/auth/login', { tenantId: '999999', username: 'nobody', password: 'not the password' });
  await service.createMember(tenant, { userName: 'idle', status: '1' }).catch(() => {});
  const after = await scrape(base);
  assert.equal(count(after, 'success') - count(before, 'success'), 1);
  assert.equal(count(after, 'failed') - count(before, 'failed'), 2);
  assert.equal(count(after, 'inactive') - count(before, 'inactive'), 1);
});

test('batches, path cache and connections are counted', async () => {
  const top = await tenant.createDepartment();
  const below = await tenant.createDepartment({ parentId: Number(top) });
  const leaf = await tenant.createDepartment({ parentId: Number(below) });
  const read = () => tenant.get(`${DEPTS}/${leaf}`);
  const before = await scrape(base);
  await read();
  await Promise.all(Array.from({ length: 20 }, read));
  const after = await scrape(base);
  assert.equal(after.growth(before, 'banyan_batch_size_sum', { operation: 'department_read' }), 21);
  const batches = after.growth(before, 'banyan_batch_size_count', { operation: 'department_read' });
  assert.ok(batches >= 2 && batches <= 21, String(batches));
  assert.ok(after.growth(before, 'banyan_path_cache_misses_total') >= 1);
  // A new connection invalidates the cache, and the service may open one at any time.
  await waitFor('a path is found in the cache', async () => {
    await read();
    return (await scrape(base)).growth(before, 'banyan_path_cache_hits_total') > 0;
  });
  assert.ok((after.sum('banyan_path_cache_bytes') ?? 0) > 0);
  assert.ok((after.sum('banyan_db_connections_open') ?? 0) >= 1);
  assert.equal(after.sum('banyan_db_connections_max'), 10);
  assert.ok((after.sum('banyan_http_connections') ?? 0) >= 1);
});

test('the gauges of streams and long polls fall when clients leave', async (t) => {
  const open = (path: string) => {
    const request = http.get(`${base}${path}`, { headers: { authorization: `Bearer ${tenant.token}` } });
    request.on('error', () => {});
    t.after(() => request.destroy());
    return request;
  };
  const { next } = (await tenant.get('/system/change-api?after=0&limit=1000')).data;
  const stream = open('/system/change-api/stream?after=0');
  const longPoll = open(`/system/change-api?after=${next}&wait=30`);
  await once(stream, 'response');
  await waitForValue('banyan_subscriptions', { kind: 'stream' }, 1);
  await waitForValue('banyan_subscriptions', { kind: 'long_poll' }, 1);
  stream.destroy();
  longPoll.destroy();
  await waitForValue('banyan_subscriptions', { kind: 'stream' }, 0);
  await waitForValue('banyan_subscriptions', { kind: 'long_poll' }, 0);
});

test('pending deliveries are counted until they are delivered', async () => {
  let status = 503;
  const receiver = await Receiver.start(() => status);
  // Use a separate tenant: the departments of other tests are not delivered.
  const admin = await service.createTenant();
  const before = await scrape(base);
  await admin.create('/system/webhook-api', { name: 'w', url: receiver.url, kinds: ['department.*'] });
  await admin.createDepartment();
  await admin.createDepartment();
  // Wait for a request to the receiver before polling with scrapes, each of which counts rows of the database.
  await waitFor('an attempt was made', () => receiver.all.length > 0);
  await waitForGrowth(before, 'banyan_webhook_deliveries_waiting', {}, 2);
  const failing = await waitFor('an attempt has failed', async () => {
    const scraped = await scrape(base);
    return scraped.growth(before, 'banyan_webhooks_failing') === 1 ? scraped : undefined;
  });
  assert.ok((failing.sum('banyan_webhook_oldest_delivery_seconds') ?? 0) > 0);
  assert.ok(failing.growth(before, 'banyan_webhook_attempts_total', { outcome: 'failed' }) >= 1);
  status = 200;
  await waitFor('both are delivered', () => receiver.accepted.length === 2);
  await waitForGrowth(before, 'banyan_webhook_deliveries_waiting', {}, 0);
  await waitForGrowth(before, 'banyan_webhook_attempts_total', { outcome: 'delivered' }, 2);
  await waitForValue('banyan_webhook_oldest_delivery_seconds', {}, 0);
});

test('quotas and open reservations are counted', async () => {
  const before = await scrape(base);
  await root.put(`/system/quota-api/reports?tenantId=${tenant.tenantId}`, { total: 10 });
  const reserved = await tenant.post('/system/quota-api/reserve', { quota: 'reports', amount: 2, seconds: 600 });
  assert.equal(reserved.code, 200, reserved.text);
  const after = await scrape(base);
  assert.equal(after.growth(before, 'banyan_quota_reservations_open'), 1);
  assert.equal(after.growth(before, 'banyan_quotas'), 1);
});

test('the age of unsealed changes is that of the oldest one', async () => {
  const { root: other, base: address, superuser } = limited;
  await superuser`delete from banyan.unsealed_changes`;
  await other.createDepartment();
  await other.createDepartment();
  await superuser`update banyan.changes set time = now() - interval '1 hour' where change_id = (select min(change_id) from banyan.unsealed_changes)`;
  const scraped = await scrape(address);
  assert.equal(scraped.sum('banyan_ledger_unsealed_changes'), 2);
  const seconds = scraped.sum('banyan_ledger_oldest_unsealed_seconds') ?? 0;
  assert.ok(seconds >= 3_600 && seconds < 7_200, String(seconds));
});

test('rejected requests are counted as shed', async () => {
  const { root: other, base: address, superuser } = limited;
  const before = await scrape(address);
  const statuses: number[] = [];
  let requests: Promise<unknown>[] = [];
  await superuser.begin(async (tx) => {
    // The request with the only slot waits for this lock.
    await tx`lock table banyan.departments in access exclusive mode`;
    requests = Array.from({ length: 30 }, async () => statuses.push((await other.get(`${DEPTS}/list`)).status));
    await waitFor('the others are rejected', () => statuses.length === 29);
  });
  await Promise.all(requests);
  assert.deepEqual(statuses, [...Array(29).fill(503), 200]);
  await waitFor('all are counted', async () => {
    const scraped = await scrape(address);
    assert.equal(scraped.growth(before, 'banyan_requests_shed_total', { reason: 'slot' }), 29);
    return scraped.growth(before, `${DURATIONS}_count`, { http_response_status_code: '503' }) === 29;
  });
});

test('while the database is unavailable, the metrics of the process are served', async () => {
  const { superuser } = service;
  await root.get(`${DEPTS}/list`);
  const [{ name }] = await superuser<[{ name: string }]>`select current_database() as name`;
  const limitConnections = (limit: number) => superuser.unsafe(`alter database "${name}" connection limit ${limit}`);
  await limitConnections(0);
  try {
    await waitForEstablishedConnections(superuser);
    await superuser`select pg_terminate_backend(pid, 300000) from pg_stat_activity
      where datname = ${name} and pid <> pg_backend_pid()`;
    const scraped = await scrape(base);
    assert.equal(scraped.sum('banyan_db_up'), 0);
    assert.equal(scraped.sum('banyan_ledger_unsealed_changes'), undefined);
    assert.ok((scraped.sum('process_resident_memory_bytes') ?? 0) > 0);
  } finally {
    await limitConnections(-1);
  }
  await waitFor('the figures are back', async () => (await scrape(base)).sum('banyan_db_up') === 1);
});
