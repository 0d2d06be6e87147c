import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import {
  type ClientOptions,
  createClient,
  type FeedEvent,
  isApiError,
  verifyWebhook,
  WebhookVerificationError,
} from '../../client/src/main.ts';
import { DEPTS } from '../support/expect.ts';
import { Receiver } from '../support/receiver.ts';
import { FAST_WEBHOOK_POLLING, PASSWORD, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

let aheadMs = 0;
const service = await startService(
  { BANYAN_WEBHOOK_NETWORKS: 'loopback' },
  { timing: { ...FAST_WEBHOOK_POLLING, streamHeartbeatMs: 50 }, tokenClockAheadMs: () => aheadMs },
);

/** Creates a tenant, and a client with a key that can read its changes. */
async function createFeed(options: ClientOptions = {}) {
  const admin = await service.createTenant();
  const { data } = await admin.post('/system/key-api', { keyName: 'feed', permissions: ['change:read'] });
  const client = createClient({ baseUrl: service.base, key: data.key, ...options });
  return { admin, client };
}

const nameOf = ({ change }: FeedEvent): string[] =>
  change.resource === 'department' && change.after ? [change.after.deptName] : [];

/** Reads events until `count` departments have arrived. Returns their names and the last cursor. */
async function take(events: AsyncIterable<FeedEvent>, count: number, onName: (name: string) => unknown = () => {}) {
  const names: string[] = [];
  let cursor = '';
  for await (const event of events) {
    for (const name of nameOf(event)) {
      names.push(name);
      await onName(name);
    }
    cursor = event.cursor;
    if (names.length === count) break;
  }
  return { names, cursor };
}

for (const kind of ['changes', 'streamChanges'] as const) {
  test(`${kind} yields each change once, waits for new ones, and continues after a cursor`, async () => {
    const { admin, client } = await createFeed();
    await admin.createDepartment({ deptName: 'a' });
    await admin.createDepartment({ deptName: 'b' });
    const { names, cursor } = await take(client[kind](), 4, async (name) => {
      if (name === 'b') await admin.createDepartment({ deptName: 'c' });
      if (name === 'c') await admin.createDepartment({ deptName: 'd' });
    });
    assert.deepEqual(names, ['a', 'b', 'c', 'd']);
    await admin.createDepartment({ deptName: 'e' });
    assert.deepEqual((await take(client[kind]({ after: cursor }), 1)).names, ['e']);
  });

  test(`${kind} throws the reason of its signal when that is aborted`, async () => {
    const { client } = await createFeed();
    const controller = new AbortController();
    const reading = take(client[kind]({ signal: controller.signal }), 1);
    setImmediate(() => controller.abort(new Error('enough')));
    await assert.rejects(reading, /enough/);
  });

  test(`${kind} throws the reason of a signal that was aborted before`, async () => {
    const { admin, client } = await createFeed();
    await admin.createDepartment({ deptName: 'a' });
    const { cursor } = await take(client[kind](), 1);
    const signal = AbortSignal.abort(new Error('enough'));
    await assert.rejects(take(client[kind]({ after: cursor, signal }), 1), /enough/);
  });

  test(`${kind} throws the error of a key that is deleted`, async () => {
    const { admin, client } = await createFeed();
    await admin.createDepartment({ deptName: 'a' });
    const { data } = await admin.get('/system/key-api/list');
    const reading = take(client[kind]({}), 2, async () => {
      await admin.delete(`/system/key-api/${data.rows[0].keyId}`);
      await admin.createDepartment({ deptName: 'b' });
    });
    await assert.rejects(reading, (error) => isApiError(error, 'INVALID_KEY'));
  });
}

test('long polling repeats at most one response after a crash: the cursor advances with the last change of a response', async () => {
  const { admin, client } = await createFeed();
  for (const deptName of ['a', 'b', 'c']) await admin.createDepartment({ deptName });
  const cursors: string[] = [];
  for await (const event of client.changes({ limit: 2 })) {
    if (nameOf(event).length > 0) cursors.push(event.cursor);
    if (cursors.length === 3) break;
  }
  const after = async (cursor: string | undefined) => (await take(client.changes({ after: cursor }), 1)).names;
  await admin.createDepartment({ deptName: 'd' });
  // `a` is repeated unless it was the last change of its response, which depends on the earlier changes of the tenant.
  assert.ok(['a', 'b'].includes(String((await after(cursors[0])).at(0))));
  assert.deepEqual(await after(cursors[2]), cursors[2] === cursors[1] ? ['c'] : ['d']);
});

test('long polling from `latest` yields cursors from which nothing is missed after a crash', async () => {
  let onWait = () => {};
  const waiting = new Promise<void>((resolve) => (onWait = resolve));
  const { admin, client } = await createFeed({
    fetch(url, init) {
      if (String(url).includes('wait=20')) onWait();
      return fetch(url, init);
    },
  });
  await admin.createDepartment({ deptName: 'before' });
  const reading = take(client.changes({ after: 'latest' }), 1);
  await waiting;
  // One batch, so that both changes are in one response.
  const departments = ['a', 'b'].map((deptName) => ({ ref: deptName, deptName }));
  const { code, text } = await admin.post(`${DEPTS}/bulk`, { parentId: 0, departments });
  assert.equal(code, 200, text);
  const { names, cursor } = await reading;
  assert.deepEqual(names, ['a']);
  // The program crashed after the first change: the response is repeated.
  assert.deepEqual((await take(client.changes({ after: cursor }), 2)).names, ['a', 'b']);
});

/** Passes on one whole event and a part of the next one, then fails as a lost connection does. */
async function* cut(body: AsyncIterable<Uint8Array>) {
  let text = '';
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString();
    const second = text.split('event: change', 2).join('event: change').length;
    if (second === text.length) continue;
    yield Buffer.from(text.slice(0, second + 40));
    throw new TypeError('terminated');
  }
}

test('the stream resumes after its connection was cut in the middle of an event', async () => {
  let cuts = 0;
  const sentIds: (string | null)[] = [];
  const cutting: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (!String(url).includes('/stream')) return response;
    sentIds.push(new Headers(init?.headers).get('last-event-id'));
    if (cuts === 3 || !response.body) return response;
    cuts++;
    return new Response(ReadableStream.from(cut(response.body)), { headers: response.headers });
  };
  const { admin, client } = await createFeed({ fetch: cutting });
  const expected = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const deptName of expected) await admin.createDepartment({ deptName });
  const { names } = await take(client.streamChanges(), expected.length);
  assert.deepEqual(names, expected);
  assert.equal(cuts, 3);
  assert.equal(sentIds[0], '0');
  assert.notEqual(sentIds.at(-1), '0');
});

test('a webhook of the service is verified, and forged, changed and old messages are not', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start();
  const { data } = await admin.post('/system/webhook-api', { url: receiver.url });
  const deptId = await admin.createDepartment({ deptName: '研发部' });
  const { headers, body } = await waitFor('the message has arrived', () => receiver.all[0]);
  const { id, message } = await verifyWebhook(data.secret, headers, body);
  assert.deepEqual([id, message.type, message.data?.resourceId], [headers['webhook-id'], 'department.created', deptId]);
  const bytes = new TextEncoder().encode(body);
  assert.deepEqual((await verifyWebhook(data.secret, new Headers(headers), bytes)).message, message);

  const sentAt = Number(headers['webhook-timestamp']) * 1000;
  const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const rejected: [string, Parameters<typeof verifyWebhook>][] = [
    ['another secret', [other, headers, body]],
    ['another body', [data.secret, headers, `${body} `]],
    ['another id', [data.secret, { ...headers, 'webhook-id': 'msg_1' }, body]],
    ['no signature', [data.secret, { ...headers, 'webhook-signature': undefined }, body]],
    ['invalid base64', [data.secret, { ...headers, 'webhook-signature': 'v1,###' }, body]],
    [
      'another version',
      [data.secret, { ...headers, 'webhook-signature': headers['webhook-signature']?.replace('v1', 'v2') }, body],
    ],
    ['too old', [data.secret, headers, body, { now: () => sentAt + 301_000 }]],
    ['from the future', [data.secret, headers, body, { now: () => sentAt - 301_000 }]],
    ['an invalid time', [data.secret, { ...headers, 'webhook-timestamp': 'NaN' }, body]],
  ];
  for (const [name, args] of rejected) await assert.rejects(verifyWebhook(...args), WebhookVerificationError, name);

  // Two signatures, as during a rotation: the Standard Webhooks library makes the valid one.
  const time = new Date();
  const signed = `v1,AAAA ${new Webhook(other).sign('msg_2', time, body)}`;
  const rotated = {
    'webhook-id': 'msg_2',
    'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
    'webhook-signature': signed,
  };
  assert.equal((await verifyWebhook(other, rotated, body)).id, 'msg_2');
});

// This must be the last test: it moves the clock, after which the token of `service.root` has expired.
test('the stream gets a new token when its token expires, and continues', async () => {
  const admin = await service.createTenant();
  const refreshes: string[] = [];
  const record: typeof fetch = (url, init) => {
    if (String(url).endsWith('/auth/refresh')) refreshes.push(String(url));
    return fetch(url, init);
  };
  const client = createClient({ baseUrl: service.base, fetch: record });
  await client.logIn({ body: { tenantId: admin.tenantId, username: 'boss', password: PASSWORD } });
  const writer = createClient({
    baseUrl: service.base,
    tokens: { access_token: String(admin.token), refresh_token: String(admin.refreshToken) },
  });
  await writer.createDepartment({ body: { deptName: 'before' } });
  const { names } = await take(client.streamChanges(), 2, async (name) => {
    if (name !== 'before') return;
    aheadMs += 1_801_000;
    await writer.createDepartment({ body: { deptName: 'after' } });
  });
  assert.deepEqual(names, ['before', 'after']);
  await client.readMe();
  assert.equal(refreshes.length, 1);
});
