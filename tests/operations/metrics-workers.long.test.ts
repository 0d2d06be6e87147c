// Only with test:long: it starts three services, two of them with workers; workers.test.ts adds up the figures of two workers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type net from 'node:net';
import { test } from 'node:test';
import { createDatabase } from '../support/database.ts';
import { scrape } from '../support/metrics.ts';
import { startOnDatabase } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';
import { answeringPids, countResponses as count, metricsAddressOf } from './worker-requests.ts';

const { databaseUrl } = await createDatabase();

test('the metrics keep the last values of a worker that does not answer', async () => {
  const run = startOnDatabase(
    databaseUrl,
    { BANYAN_WORKERS: '2', BANYAN_METRICS_PORT: '0', BANYAN_LOG_LEVEL: 'info' },
    { timing: { metricsWaitMs: 500 } },
  );
  const { base } = await run.ready();
  const address = metricsAddressOf(run);
  const live = { http_route: '/health/live' };
  await waitFor('both workers have answered', async () => {
    await fetch(`${base}/health/live`, { headers: { connection: 'close' } });
    return answeringPids(run).size === 2;
  });
  const before = await waitFor('what they answered is counted', async () => {
    const scraped = await scrape(address);
    return count(scraped, live) > 1 ? scraped : undefined;
  });
  const [suspended] = answeringPids(run);
  process.kill(Number(suspended), 'SIGSTOP');
  assert.ok(count(await scrape(address), live) >= count(before, live));
  process.kill(Number(suspended), 'SIGCONT');
  assert.equal(await run.stop(), 0, run.stderr);
});

test('a metrics port that is in use stops the start with a message that names the setting', async () => {
  const server = http.createServer().listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const taken = String((server.address() as net.AddressInfo).port);
  for (const workers of ['1', '2']) {
    const run = startOnDatabase(databaseUrl, { BANYAN_METRICS_PORT: taken, BANYAN_WORKERS: workers });
    assert.equal(await run.ended, 1);
    assert.match(run.stderr, new RegExp(`Port ${taken} is in use: set BANYAN_METRICS_PORT`));
  }
});
