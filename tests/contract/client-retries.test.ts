import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClientOptions, createClient, isApiError, NetworkError } from '../../client/src/main.ts';
import { shareService } from '../support/service.ts';

/** What the client does when a request fails. A `fetch` between client and service simulates the failures. */

const service = await shareService();
const admin = await service.createTenant();
const QUICK = { minDelayMs: 1 };

type Step = 'send' | 'fail' | 'lose' | Response;

/** Handles the first requests as `steps` says and sends all others. `lose` sends a request and drops its response. */
function connect(steps: Step[], options: ClientOptions = {}) {
  const keys: (string | null)[] = [];
  const unreliable: typeof fetch = async (url, init) => {
    const step = steps[keys.length] ?? 'send';
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    init?.signal?.throwIfAborted();
    if (step === 'fail') throw new TypeError('fetch failed');
    if (step instanceof Response) return step.clone() as Response;
    const response = await fetch(url, init);
    if (step === 'lose') throw new TypeError('terminated');
    return response;
  };
  const common = { baseUrl: service.base, key: String(admin.token), retry: QUICK, fetch: unreliable };
  return { client: createClient({ ...common, ...options }), keys };
}

const errorResponse = (status: number, reason: string, headers: Record<string, string> = {}) =>
  Response.json({ code: status, msg: reason, data: { reason } }, { status, headers });
const busy = (retryAfter: string) => errorResponse(503, 'TOO_BUSY', { 'retry-after': retryAfter });

test('a read is sent again after network errors, and an error page of a proxy counts as one', async () => {
  const html = new Response('<h1>Bad Gateway</h1>', { status: 502, headers: { 'content-type': 'text/html' } });
  const attempts: boolean[] = [];
  const { client, keys } = connect(['fail', 'lose', html], { onAttempt: (error) => attempts.push(!error) });
  assert.ok(Array.isArray((await client.readTree()).data));
  assert.deepEqual(keys, [null, null, null, null]);
  assert.deepEqual(attempts, [false, false, false, true]);
});

test('a write whose response is lost is sent again with the same key and takes effect once', async () => {
  const { client, keys } = connect(['lose', 'fail', 'lose']);
  const { id, headers } = await client.createDepartment({ body: { deptName: '一次' } });
  assert.equal(headers.get('idempotent-replayed'), 'true');
  const { data } = await client.listDepartments({ deptName: '一次', exact: true });
  assert.deepEqual(
    data.rows.map(({ deptId }) => String(deptId)),
    [id],
  );
  assert.equal(new Set(keys.slice(0, 4)).size, 1);
  assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
});

test('each write has its own key unless the caller gives one', async () => {
  const { client, keys } = connect([]);
  const body = { deptName: '键' };
  await client.createDepartment({ body });
  await client.createDepartment({ body });
  assert.notEqual(keys[0], keys[1]);
  const first = await client.createDepartment({ body }, { idempotencyKey: 'mine' });
  const second = await client.createDepartment({ body }, { idempotencyKey: 'mine' });
  assert.equal(first.id, second.id);
});

test('retries are bounded', async () => {
  const { client, keys } = connect(Array<Step>(9).fill('fail'), { retry: { ...QUICK, maxRetries: 2 } });
  await assert.rejects(client.readTree(), NetworkError);
  assert.equal(keys.length, 3);
  const never = connect(['fail'], { retry: false });
  await assert.rejects(never.client.readTree(), NetworkError);
  assert.equal(never.keys.length, 1);
});

test('a request that is not a read and carries no Idempotency-Key is never sent again', async () => {
  for (const step of ['lose', busy('0')] as const) {
    const { client, keys } = connect([step], { key: undefined });
    const login = client.logIn({ body: { tenantId: admin.tenantId, username: 'boss', password: 'wrong' } });
    await assert.rejects(login, (error) => error instanceof NetworkError || isApiError(error, 'TOO_BUSY'));
    assert.equal(keys.length, 1);
  }
});

test('Retry-After is honoured for 429 and 503, as seconds and as a date', async () => {
  const limited = errorResponse(429, 'TOO_MANY_REQUESTS', { 'retry-after': '1' });
  const { client, keys } = connect([limited, busy('0'), busy(new Date(Date.now() + 3_000).toUTCString())]);
  const start = performance.now();
  await client.createDepartment({ body: { deptName: '等待' } });
  // The date has whole seconds, and was at least two seconds ahead at the start.
  assert.ok(performance.now() - start >= 1_990);
  assert.equal(new Set(keys).size, 1);
  assert.equal(keys.length, 4);
});

test('an error is not retried if Retry-After is missing or too long, or if the status is neither 429 nor 503', async () => {
  const cases: [Response, string][] = [
    [errorResponse(503, 'TOO_BUSY'), 'TOO_BUSY'],
    [errorResponse(500, 'INTERNAL', { 'retry-after': '0' }), 'INTERNAL'],
    [errorResponse(409, 'DEPT_CYCLE', { 'retry-after': '0' }), 'DEPT_CYCLE'],
    [busy('61'), 'TOO_BUSY'],
  ];
  for (const [response, reason] of cases) {
    const { client, keys } = connect([response]);
    await assert.rejects(client.readTree(), (error) => isApiError(error) && error.reason === reason);
    assert.equal(keys.length, 1, reason);
  }
});

test('a signal ends a call that waits, that is being sent or that has not been sent yet', async () => {
  const waiting = new AbortController();
  const { client, keys } = connect([busy('50')], {
    onAttempt: () => setImmediate(() => waiting.abort(new Error('enough'))),
  });
  await assert.rejects(client.readTree({}, { signal: waiting.signal }), /enough/);
  assert.equal(keys.length, 1);
  const hanging: typeof fetch = (_, init) =>
    new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  const sending = new AbortController();
  const sent = connect([], { fetch: hanging }).client.readTree({}, { signal: sending.signal });
  sending.abort(new Error('closed'));
  await assert.rejects(sent, /closed/);
  const late = connect([]);
  await assert.rejects(late.client.readTree({}, { signal: AbortSignal.abort(new Error('before')) }), /before/);
  assert.equal(late.keys.length, 0);
});

test('an attempt that takes longer than timeoutMs counts as a network error', async () => {
  const hanging: typeof fetch = (_, init) =>
    new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  const { client } = connect([], { fetch: hanging, retry: false });
  await assert.rejects(client.readTree({}, { timeoutMs: 5 }), NetworkError);
});

test('a function can replace the retry policy, and is told whether the request is a read and how many attempts were made', async () => {
  const seen: [boolean, number][] = [];
  const { client } = connect(['fail', 'fail'], {
    retry: async ({ isRead, attempts }) => seen.push([isRead, attempts]) > 0,
  });
  await client.createDepartment({ body: { deptName: '函数' } });
  assert.deepEqual(seen, [
    [false, 1],
    [false, 2],
  ]);
});

test('a call that was aborted before its token is renewed leaves no rejection unhandled', async () => {
  const controller = new AbortController();
  const denied = errorResponse(401, 'INVALID_TOKEN');
  const { client } = connect([denied], { onAttempt: () => controller.abort(new Error('enough')) });
  await assert.rejects(client.readTree({}, { signal: controller.signal }), /enough/);
  // An unhandled rejection is reported before the next event, and fails the test.
  await new Promise(setImmediate);
});
