// Only with test:long: it starts four services; tracing.test.ts exports the spans of one, and covers in-process how logs and webhooks show a trace.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { after } from '../support/cleanup.ts';
import { createDatabase } from '../support/database.ts';
import { launch, startOnDatabase } from '../support/process.ts';
import { PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { startCollector } from './trace-collector.ts';

const DEPTS = '/system/dept-api';
const { databaseUrl } = await createDatabase();
const collector = await startCollector();
const environment = { BANYAN_WEBHOOK_NETWORKS: 'loopback', BANYAN_LOG_LEVEL: 'info' };

test('an unavailable collector is logged, and affects no request', async () => {
  const unavailable = startOnDatabase(databaseUrl, {
    ...environment,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:1/v1/traces',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
  });
  const client = await unavailable.admin();
  assert.equal((await client.get(`${DEPTS}/list`)).code, 200);
  await waitFor('the problem is logged', () => unavailable.stdout.includes('traces could not be exported'));
  assert.equal(await unavailable.stop(), 0, unavailable.stderr);
});

/** Writes the names of all loaded CommonJS modules to a file when the process exits. */
const LIST_MODULES = `import fs from 'node:fs'; import { Module } from 'node:module';
  process.on('exit', () => process.env.MODULES && fs.writeFileSync(process.env.MODULES, Object.keys(Module._cache).join('\\n')));`;

test('the libraries of metrics and traces are loaded only when they are switched on', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-modules-'));
  after(() => fs.rmSync(folder, { recursive: true }));
  const modulesOf = async (name: string, settings: Record<string, string>) => {
    const file = path.join(folder, name);
    const serviceProcess = new URL('../support/service-process.js', import.meta.url).pathname;
    const env = { DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: PASSWORD, MODULES: file, ...settings };
    const preload = `data:text/javascript,${encodeURIComponent(LIST_MODULES)}`;
    const run = launch(['--import', preload, serviceProcess], { cwd: folder, env });
    await run.ready();
    assert.equal(await run.stop(), 0, run.stderr);
    const names = fs.readFileSync(file, 'utf8').matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)\//g);
    return new Set([...names].map(([, name]) => name));
  };
  const off = await modulesOf('off', {});
  assert.ok(off.has('fastify'));
  const libraries = (names: Set<string | undefined>) =>
    [...names].filter((name) => /prom-client|otel|opentelemetry/.test(String(name)));
  assert.deepEqual(libraries(off), []);
  const disabled = await modulesOf('disabled', {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SDK_DISABLED: 'true',
  });
  assert.deepEqual(libraries(disabled), []);
  const on = await modulesOf('on', { BANYAN_METRICS_PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  for (const name of ['prom-client', '@fastify/otel', '@opentelemetry/sdk-trace-node']) assert.ok(on.has(name), name);
});
