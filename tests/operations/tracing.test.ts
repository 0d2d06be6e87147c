import assert from 'node:assert/strict';
import { test } from 'node:test';
import { context, diag, propagation, trace } from '@opentelemetry/api';
import { traceContextOf } from '../../server/http/trace-context.ts';
import { afterFile } from '../support/cleanup.ts';
import { takeRecentLog } from '../support/logs.ts';
import { serveInProcess, startOnDatabase } from '../support/process.ts';
import { type Received, Receiver } from '../support/receiver.ts';
import { isLong } from '../support/scale.ts';
import { type Client, FAST_WEBHOOK_POLLING, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { type ExportedSpan, startCollector } from './trace-collector.ts';

/** The trace of a request (traceparent): in the log, in webhooks, and as spans of OpenTelemetry. */

const DEPTS = '/system/dept-api';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const traceparent = `00-${TRACE}-${PARENT}-01`;

const collector = await startCollector();
const environment = { BANYAN_WEBHOOK_NETWORKS: 'loopback', BANYAN_LOG_LEVEL: 'info' };
const plain = await startService(environment, { timing: FAST_WEBHOOK_POLLING });
const admin = plain.root;
/** The log of this process so far. */
const log: string[] = [];
const readLog = () => {
  log.push(...takeRecentLog());
  return log.join('\n');
};
const receiver = await Receiver.start();
const added = await admin.post('/system/webhook-api', { name: 'w', url: receiver.url, kinds: ['department.*'] });
assert.equal(added.code, 200, added.text);

/** Creates a department with headers. Returns the message that the webhook got, and the log line of the request. */
async function createWith(headers: Record<string, string>, client: Client = admin, { stdout } = { stdout: readLog }) {
  const response = await client.post(DEPTS, {}, { headers });
  assert.equal(response.code, 200, response.text);
  const id = String(response.headers.location).split('/').at(-1);
  const requestId = String(response.headers['x-request-id']);
  const message = (await waitFor('the webhook has the change', () =>
    receiver.all.find(({ data }) => data?.resourceId === id),
  )) as Received;
  const line = await waitFor('the request is logged', () =>
    stdout()
      .split('\n')
      .find((text) => text.includes(requestId) && text.endsWith('}')),
  );
  return { requestId, message, logged: JSON.parse(line) as Record<string, unknown> };
}

test('the trace of a request is in its log line, and its webhook message names the same trace', async () => {
  const { requestId, message, logged } = await createWith({ traceparent });
  assert.equal(logged.traceId, TRACE);
  assert.match(requestId, new RegExp(`^${TRACE}-${PARENT}-01-[0-9a-f]{8}$`));
  assert.equal(message.headers.traceparent, traceparent);
  assert.equal(message.data.requestId, requestId);
});

test('two requests of one span have different request ids', async () => {
  const ids = await Promise.all(
    [1, 2].map(async () => (await admin.get(`${DEPTS}/list`, { headers: { traceparent } })).headers['x-request-id']),
  );
  assert.notEqual(ids[0], ids[1]);
});

test('a request without a traceparent is logged without a trace, and its webhook message has no traceparent', async () => {
  const { requestId, message, logged } = await createWith({});
  assert.match(requestId, /^[0-9a-f]{8}-[0-9a-f]{4}-/);
  assert.equal('traceId' in logged, false);
  assert.equal(message.headers.traceparent, undefined);
});

test('the request id of the caller is kept, and only the log line names the trace', async () => {
  const { requestId, message, logged } = await createWith({ traceparent, 'x-request-id': 'order-7.1' });
  assert.equal(requestId, 'order-7.1');
  assert.equal(logged.traceId, TRACE);
  assert.equal(message.headers.traceparent, undefined);
});

test('an invalid traceparent is ignored', async () => {
  const zeros = (length: number) => '0'.repeat(length);
  const invalid = [
    'garbage',
    `00-${zeros(32)}-${PARENT}-01`,
    `00-${TRACE}-${zeros(16)}-01`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}`,
    `${traceparent}, ${traceparent}`,
    `00-${TRACE}-${PARENT}-0g`,
  ];
  for (const text of invalid) assert.equal(traceContextOf({ traceparent: text }), undefined, text);
  const { logged, requestId } = await createWith({ traceparent: invalid[0] as string });
  assert.equal('traceId' in logged, false);
  assert.match(requestId, /^[0-9a-f]{8}-[0-9a-f]{4}-/);
});

test('a traceparent of a later version is accepted', () => {
  const expected = { traceId: TRACE, parentId: PARENT, flags: '03' };
  assert.deepEqual(traceContextOf({ traceparent: `01-${TRACE}-${PARENT}-03-more` }), expected);
  assert.deepEqual(traceContextOf({ traceparent: `cc-${TRACE}-${PARENT}-03` }), expected);
});

const attribute = ({ attributes }: ExportedSpan, name: string) =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];

/** Starts two workers in the long run. The everyday run serves in this process, because starting others is slow. */
async function startTraced(settings: Record<string, string>) {
  const all = { ...environment, ...settings };
  if (isLong) {
    const run = startOnDatabase(plain.databaseUrl, { ...all, BANYAN_WORKERS: '2' }, { timing: FAST_WEBHOOK_POLLING });
    const stop = async () => assert.equal(await run.stop(), 0, run.stderr);
    return { admin: () => run.admin(), stdout: () => run.stdout, stop };
  }
  // OpenTelemetry reads the environment of the process.
  Object.assign(process.env, settings);
  const { admin, stop } = await serveInProcess({ DATABASE_URL: plain.databaseUrl, ...all }, FAST_WEBHOOK_POLLING);
  afterFile(() => {
    for (const name of Object.keys(settings)) delete process.env[name];
    for (const api of [trace, context, propagation, diag]) api.disable();
  });
  return { admin, stdout: readLog, stop };
}

test('with OTEL_EXPORTER_OTLP_ENDPOINT each request is exported as a span of its trace', async () => {
  const traced = await startTraced({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  const client = await traced.admin();
  const { message, logged } = await createWith({ traceparent }, client, traced);
  await client.get('/health/live', { headers: { traceparent } });
  const missing = `${DEPTS}/987654321`;
  await client.get(`${missing}?includeDeleted=true`, { headers: { traceparent } });
  const spanOf = (name: string) =>
    waitFor(`a span ${name}`, () => collector.spans.find((span) => span.name === name && span.traceId === TRACE));
  const created = await spanOf(`POST ${DEPTS}`);
  assert.equal(created.parentSpanId, PARENT);
  assert.equal(created.kind, 2, 'a server span');
  assert.equal(Number(attribute(created, 'http.response.status_code')), 200);
  assert.equal(attribute(created, 'http.route'), DEPTS);
  assert.equal(logged.traceId, TRACE);
  // What the receiver does becomes a child of the request that made the change.
  assert.equal(message.headers.traceparent, `00-${TRACE}-${created.spanId}-01`);
  const notFound = await spanOf(`GET ${DEPTS}/:id`);
  assert.equal(attribute(notFound, 'url.path'), missing);
  assert.equal(Number(attribute(notFound, 'http.response.status_code')), 404);
  assert.ok(!notFound.status.code && !notFound.status.message, 'a client error is not an error of the server');
  const login = await waitFor('the login begins a trace', () =>
    collector.spans.find(({ name }) => name === 'POST /auth/login'),
  );
  assert.ok(!login.parentSpanId);
  await traced.stop();
  assert.deepEqual(
    collector.spans.filter(({ name }) => name.includes('/health/')),
    [],
  );
  assert.match(collector.resources.join(), /"banyan"/);
  assert.match(collector.resources.join(), /deployment.environment.name/);
});
