import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import type { Caller } from '../../server/auth/caller.ts';
import { generateKey } from '../../server/auth/key-format.ts';
import { KEY_PERMISSIONS, PERMISSIONS } from '../../server/auth/permissions.ts';
import { addKey } from '../../server/keys/rules.ts';
import { DEPTS, expectError, expectOk } from '../support/expect.ts';
import { basic, postForm } from '../support/oauth.ts';
import { Client, startService } from '../support/service.ts';
import { captureQueries, idsIn, type Query } from '../support/statements.ts';
import { waitFor } from '../support/wait.ts';

const KEYS = '/system/key-api';
const queries: Query[] = [];
// A process records the use of a key at most once a day instead of once a minute: no test takes that long.
const timing = { streamHeartbeatMs: 50, keyUseMs: 86_400_000 };
const service = await startService({}, { wrapDatabase: captureQueries(queries), timing });
const second = await startService({ DATABASE_URL: service.databaseUrl });
const { superuser } = service;
const admin = await service.createTenant();

const withKey = (key: string, { base } = service) => new Client(base, key, undefined, admin.tenantId);
async function createKey(body: Record<string, unknown> = {}) {
  const { data, text, code } = await admin.post(KEYS, { keyName: 'key', permissions: ['dept:read'], ...body });
  assert.equal(code, 200, text);
  return { keyId: data.keyId as number, key: data.key as string, client: withKey(data.key) };
}
/** Sets the tokens of a key. They are not refilled, however long the test takes. */
const fillBucket = (keyId: number, tokens: number) => superuser`
  insert into banyan.request_buckets (tenant_id, key_id, tokens, refilled)
  values (${admin.tenantId}, ${keyId}, ${tokens}, now() + interval '1 day')`;
/** The statements that the service sends during a request, including those of its background work. */
async function statementsOf(call: () => Promise<{ status: number }>, expected: number): Promise<string[]> {
  queries.length = 0;
  assert.equal((await call()).status, expected);
  return queries.flatMap(({ string }) => string ?? []);
}
const lookups = (statements: string[]) => statements.filter((text) => /find_api_key|api_key_secrets/.test(text));

test('a key with the wrong form or checksum is rejected without a lookup, an unknown one with a single lookup', async () => {
  const { key } = await createKey();
  const swapped = `${key.slice(0, 10)}${key[11]}${key[10]}${key.slice(12)}`;
  const wrong = [
    'byk_',
    key.slice(0, -1),
    `${key}0`,
    key.replace('byk_', 'BYK_'),
    `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
    ...(swapped === key ? [] : [swapped]),
    `byk_${'é'.repeat(49)}`.normalize('NFD').replace(/[^\x20-\x7e]/g, '!'),
    `byk_${'0'.repeat(49)}`,
    `byk_${'A'.repeat(5_000)}`,
  ];
  for (const text of wrong) {
    const call = async () => {
      const response = await withKey(text).get(`${DEPTS}/list`);
      expectError(response, 401, 'INVALID_KEY');
      assert.equal(response.headers['www-authenticate'], 'Bearer');
      assert.ok(text.length < 8 || !response.text.includes(text));
      return response;
    };
    assert.deepEqual(lookups(await statementsOf(call, 401)), [], text);
  }
  const unknown = withKey(generateKey());
  assert.equal(lookups(await statementsOf(() => unknown.get(`${DEPTS}/list`), 401)).length, 1);
  expectError(await unknown.get(`${DEPTS}/list`), 401, 'INVALID_KEY');
});

test('a read with a key sends the same number of statements as one with a token', async () => {
  const dept = await admin.createDepartment();
  const { client } = await createKey();
  for (const path of [`${DEPTS}/${dept}`, `${DEPTS}/list`, `${DEPTS}/tree`]) {
    const counts: number[] = [];
    for (const caller of [admin, client]) {
      // The first request of a process looks for the key, and fills the cache of paths.
      await caller.get(path);
      // Work in the background, such as sealing, can only add statements.
      let fewest = Number.POSITIVE_INFINITY;
      for (let n = 0; n < 20; n++) {
        fewest = Math.min(fewest, (await statementsOf(() => caller.get(path), 200)).length);
      }
      counts.push(fewest);
    }
    assert.ok((counts[0] ?? 0) > 0);
    assert.equal(counts[0], counts[1], path);
  }
});

test('no table contains a key, and the response that showed it is not stored', async () => {
  const { keyId, key } = await createKey();
  const headers = { 'idempotency-key': 'stored' };
  const created = await admin.post(KEYS, { keyName: 'key', permissions: ['dept:read'] }, { headers });
  const rotated = await admin.post(`${KEYS}/${keyId}/rotate`, {}, { headers: { 'idempotency-key': 'rotated' } });
  await admin.delete(`${KEYS}/${created.data.keyId}`);
  const tables = await superuser<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'banyan' order by 1`;
  for (const text of [key, created.data.key, rotated.data.key]) {
    assert.match(text, /^byk_/);
    for (const { name } of tables) {
      const rows = await superuser`
        select from ${superuser(`banyan.${name}`)} t where strpos(t::text, ${text.slice(12)}) > 0 or strpos(t::text, ${Buffer.from(text).toString('hex')}) > 0`;
      assert.equal(rows.length, 0, name);
    }
  }
  const { text } = await admin.get('/system/change-api/list?resource=key');
  assert.doesNotMatch(text, /byk_/);
});

test('the ledger records each change of a key, which cannot be reverted', async () => {
  const { keyId } = await createKey({ addresses: ['10.0.0.0/8'], expiresTime: '2099-01-01 08:00:00' });
  await admin.put(KEYS, { keyId, keyName: 'renamed', permissions: ['user:read'] });
  await admin.post(`${KEYS}/${keyId}/rotate`);
  await admin.delete(`${KEYS}/${keyId}`);
  const { rows } = (await admin.get(`/system/change-api/list?resource=key&resourceId=${keyId}`)).data;
  assert.deepEqual(
    rows.map(({ action, by }: { action: string; by: string }) => `${action} by ${by}`),
    ['deleted', 'secret changed', 'updated', 'created'].map((action) => `${action} by boss`),
  );
  assert.deepEqual(rows[3].after, {
    keyId,
    keyName: 'key',
    permissions: ['dept:read'],
    below: false,
    addresses: ['10.0.0.0/8'],
    requestsPerMinute: null,
    status: '0',
    expiresTime: '2099-01-01 08:00:00',
  });
  assert.deepEqual([rows[0].before.keyName, rows[0].after], ['renamed', null]);
  expectError(await admin.post(`/system/change-api/${rows[2].id}/revert`), 409, 'CHANGE_IRREVERSIBLE');
  const { text } = await admin.get('/system/change-api?limit=1000');
  assert.doesNotMatch(text, /"resource":"key"/);
});

test('a caller can grant a key only permissions that they have, and never key:write or role:write', async () => {
  const rights = {
    permissions: new Set(['dept:read', 'key:write'] as const),
    canActInDescendants: false,
    ownTenantId: '1',
  };
  const caller = { ...rights, tenantId: '1', userId: '1', sessionId: '', userName: 'x' } satisfies Caller;
  const add = (permissions: ('dept:read' | 'dept:write')[], below: boolean) =>
    addKey(undefined as never, caller, { keyName: 'x', permissions, below });
  await assert.rejects(add(['dept:read', 'dept:write'], false), {
    code: 'PERMISSION_NOT_HELD',
    details: { permissions: ['dept:write'] },
  });
  await assert.rejects(add(['dept:read'], true), { code: 'PERMISSION_NOT_HELD', details: { permissions: ['below'] } });
  const withheld = PERMISSIONS.filter((permission) => !KEY_PERMISSIONS.includes(permission));
  assert.deepEqual(withheld, ['role:write', 'key:write']);
  // Whatever the table says, a key never manages keys.
  const { keyId, client } = await createKey();
  await superuser`update banyan.api_keys set permissions = '{dept:read,key:write}' where key_id = ${keyId}`;
  expectError(await client.get(`${KEYS}/list`), 403, 'NOT_ALLOWED');
});

test('a key that may write users neither creates, changes nor restores an administrator', async () => {
  const users = '/system/user-api';
  const { client } = await createKey({ permissions: ['user:write', 'user:read', 'change:revert'] });
  const body = { userName: 'made-by-key', password: 'correct horse battery' };
  expectError(await client.post(users, { ...body, roles: ['admin'] }), 403, 'NOT_ALLOWED');
  expectError(
    await client.post(`${users}/bulk`, { users: [{ ref: 'a', ...body, roles: ['admin'] }] }),
    403,
    'NOT_ALLOWED',
  );
  const member = await client.create(users, body);
  expectError(await client.put(users, { userId: member, roles: ['admin'] }), 403, 'NOT_ALLOWED');
  const [boss] = (await admin.get(`${users}/list?userName=boss`)).data.rows;
  expectError(await client.put(users, { ...boss, password: body.password }), 403, 'NOT_ALLOWED');
  const other = await admin.createUser({ userName: 'other-admin', roles: ['admin'] });
  expectError(await client.delete(`${users}/${other}`), 403, 'NOT_ALLOWED');
  // A revert does not make one either.
  await admin.put(users, { userId: other, roles: ['member'] });
  const [demoted] = (await admin.get(`/system/change-api/list?resource=user&resourceId=${other}&limit=1`)).data.rows;
  expectError(await client.post(`/system/change-api/${demoted.id}/revert`), 403, 'NOT_ALLOWED');
  expectError(await client.delete(`${users}/${boss.userId}/sessions`), 403, 'NOT_ALLOWED');
  // Nor does it restore one, who would still know their password.
  const former = await admin.createUser({ userName: 'former-admin', roles: ['admin'] });
  await admin.delete(`${users}/${former}`);
  const [deletion] = (await admin.get(`/system/change-api/list?resource=user&resourceId=${former}&limit=1`)).data.rows;
  expectError(await client.post(`${users}/${former}/restore`, {}), 403, 'NOT_ALLOWED');
  expectError(await client.post(`/system/change-api/${deletion.id}/revert`), 403, 'NOT_ALLOWED');
  assert.equal((await client.delete(`${users}/${member}`)).status, 200);
});

test('a key moves administrators neither by deleting a department nor by a revert', async () => {
  const { client } = await createKey({ permissions: ['dept:write', 'user:write', 'change:revert'] });
  const [from, to] = [await admin.createDepartment(), await admin.createDepartment()];
  const lead = await admin.createUser({ userName: 'leading-admin', roles: ['admin'], deptId: to, deptIds: [from] });
  for (const mode of ['users=delete', `users=move&toDeptId=${to}`]) {
    expectError(await client.delete(`${DEPTS}/${from}?${mode}`), 403, 'NOT_ALLOWED');
  }
  expectOk(await admin.delete(`${DEPTS}/${from}?users=move&toDeptId=${to}`));
  const [move] = (await admin.get(`/system/change-api/list?resource=user&resourceId=${lead}&limit=1`)).data.rows;
  expectError(await client.post(`/system/change-api/${move.id}/revert`), 403, 'NOT_ALLOWED');
});

test('requestsPerMinute is exact over two nodes, and each key has a bucket of its own', async () => {
  const { key, keyId, client } = await createKey({ requestsPerMinute: 6 });
  await fillBucket(keyId, 6);
  const clients = [client, withKey(key, second)];
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (clients[n % 2] as Client).get(`${DEPTS}/list`)),
  );
  assert.equal(responses.filter(({ status }) => status === 200).length, 6);
  for (const response of responses) {
    assert.equal(response.headers['ratelimit-policy'], '"key";q=6;w=60');
    if (response.status === 200) continue;
    expectError(response, 429, 'TOO_MANY_REQUESTS', { keyId });
    assert.equal(response.headers['retry-after'], '10');
    assert.equal(response.headers.ratelimit, '"key";r=0;t=10');
  }
  const other = await createKey({ requestsPerMinute: 6 });
  assert.equal((await other.client.get(`${DEPTS}/list`)).headers.ratelimit, '"key";r=5;t=10');
  const unlimited = await (await createKey()).client.get(`${DEPTS}/list`);
  assert.deepEqual([unlimited.status, unlimited.headers.ratelimit], [200, undefined]);
});

test('a changed requestsPerMinute applies after the next request with the key', async () => {
  const { keyId, client } = await createKey();
  await client.get(`${DEPTS}/list`);
  await admin.put(KEYS, { keyId, keyName: 'key', permissions: ['dept:read'], requestsPerMinute: 1 });
  await fillBucket(keyId, 1);
  const statuses = [];
  for (let n = 0; n < 3; n++) statuses.push((await client.get(`${DEPTS}/list`)).status);
  assert.deepEqual(statuses, [200, 200, 429]);
});

test('requestsPerMinute holds for the first requests with an access token of the key, on every node', async () => {
  const { key, keyId } = await createKey({ requestsPerMinute: 2 });
  await fillBucket(keyId, 2);
  const grant = { grant_type: 'client_credentials' };
  const issued = await postForm(service.base, '/auth/token', grant, basic(String(keyId), key));
  const { access_token } = JSON.parse(issued.text);
  // The second node has never seen the key.
  const clients = [withKey(access_token, second), withKey(access_token)];
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, n) => (clients[n % 2] as Client).get(`${DEPTS}/list`)),
  );
  // The bucket had two tokens, and issuing the access token took one of them.
  assert.equal(responses.filter(({ status }) => status === 200).length, 1);
  for (const response of responses) {
    assert.equal(response.headers['ratelimit-policy'], '"key";q=2;w=60');
    if (response.status !== 200) expectError(response, 429, 'TOO_MANY_REQUESTS', { keyId });
  }
});

test('a raised or removed requestsPerMinute applies while requests with the key are being rejected', async () => {
  for (const [requestsPerMinute, policy] of [
    [600, '"key";q=600;w=60'],
    [null, undefined],
  ]) {
    const { keyId, client } = await createKey({ requestsPerMinute: 1 });
    await fillBucket(keyId, 1);
    assert.equal((await client.get(`${DEPTS}/list`)).status, 200);
    expectError(await client.get(`${DEPTS}/list`), 429, 'TOO_MANY_REQUESTS', { keyId });
    await admin.put(KEYS, { keyId, keyName: 'key', permissions: ['dept:read'], requestsPerMinute });
    // The bucket is still empty, so requests are rejected unless the key has no limit any more.
    const { status } = await waitFor('the new limit applies', async () => {
      const response = await client.get(`${DEPTS}/list`);
      return response.headers['ratelimit-policy'] === policy ? response : undefined;
    });
    assert.equal(status, requestsPerMinute === null ? 200 : 429);
  }
});

test('a flood of rejected requests sends few statements', async () => {
  const { keyId, client } = await createKey({ requestsPerMinute: 1 });
  await fillBucket(keyId, 0);
  const startedAt = performance.now();
  queries.length = 0;
  for (let n = 0; n < 10; n++) {
    const responses = await Promise.all(Array.from({ length: 20 }, () => client.get(`${DEPTS}/list`)));
    for (const response of responses) expectError(response, 429, 'TOO_MANY_REQUESTS', { keyId });
  }
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000);
  const count = (text: RegExp) => queries.filter(({ string }) => text.test(string ?? '')).length;
  assert.ok(count(/select requests_per_minute as/) <= seconds, 'the limit is read once a second');
  assert.ok(count(/take_request_tokens/) <= seconds, 'an empty bucket is queried at most once a second');
});

/** Opens an event stream; resolves with all of it when it ends. */
function stream(client: Client): { opened: Promise<void>; ended: Promise<string> } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const ended = new Promise<string>((resolve, reject) => {
    const headers = { authorization: `Bearer ${client.token}` };
    http
      .get(`${client.base}/system/change-api/stream`, { headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
          open();
        });
        response.on('end', () => resolve(text));
      })
      .on('error', reject);
  });
  return { opened, ended };
}

for (const [how, reason, end] of [
  ['deleted', 'INVALID_KEY', ({ keyId }) => admin.delete(`${KEYS}/${keyId}`)],
  ['disabled', 'KEY_DISABLED', (key) => admin.put(KEYS, { ...key, status: '1' })],
  ['rotated', 'INVALID_KEY', ({ keyId }) => admin.post(`${KEYS}/${keyId}/rotate`, { graceSeconds: 0 })],
  [
    'expired',
    'KEY_EXPIRED',
    ({ keyId }) => superuser`update banyan.api_keys set expires = now() + interval '100 ms' where key_id = ${keyId}`,
  ],
] as [string, string, (key: { keyId: number; keyName: string; permissions: string[] }) => Promise<unknown>][]) {
  test(`a stream that was opened with a key ends when the key is ${how}`, async () => {
    const permissions = ['change:read'];
    const { keyId, client } = await createKey({ permissions });
    const { opened, ended } = stream(client);
    await opened;
    await end({ keyId, keyName: 'key', permissions });
    assert.match(await ended, new RegExp(`event: refused\\ndata: {"reason":"${reason}"}\\n\\n$`));
  });
}

test('a key without below sees nothing of descendant tenants in the audit log', async () => {
  const below = await service.createTenant({}, admin);
  const dept = await below.createDepartment({ deptName: 'below' });
  const path = `/system/change-api/list?resource=department&resourceId=${dept}`;
  const permissions = ['change:read'];
  const [narrow, wide] = [await createKey({ permissions }), await createKey({ permissions, below: true })];
  assert.equal((await wide.client.get(path)).data.rows.length, 1);
  assert.equal((await narrow.client.get(path)).data.rows.length, 0);
  expectError(await narrow.client.get(`${path}&below=true`), 403, 'OTHER_TENANT');
});

test('a process records the use of a key at most once per interval, however many requests it serves', async () => {
  const { keyId, client } = await createKey();
  queries.length = 0;
  for (let n = 0; n < 20; n++) await client.get(`${DEPTS}/list`);
  await waitFor('the use is recorded', async () => (await admin.get(`${KEYS}/${keyId}`)).data.lastUsedTime);
  await client.get(`${DEPTS}/list`);
  const other = await createKey();
  await other.client.get(`${DEPTS}/list`);
  await waitFor('a later use is recorded', async () => (await admin.get(`${KEYS}/${other.keyId}`)).data.lastUsedTime);
  const recorded = queries.flatMap(({ string, parameters }) =>
    string?.includes('record_key_uses') ? idsIn(parameters?.[1]) : [],
  );
  assert.equal(recorded.filter((id) => id === String(keyId)).length, 1);
});

test('a key without below sees and changes only its own tenant', async () => {
  const TENANTS = '/system/tenant-api';
  const child = await service.createTenant({}, admin);
  const permissions = ['tenant:read', 'tenant:write', 'dept:read'];
  const { client: narrow } = await createKey({ permissions });
  const { client: wide } = await createKey({ permissions, below: true });
  const deleted = await admin.create(TENANTS, {});
  await admin.delete(`${TENANTS}/${deleted}`);
  const { data: list } = await narrow.get(`${TENANTS}/list`);
  assert.deepEqual([list.total, list.rows[0].tenantId], [1, admin.tenantId]);
  assert.deepEqual((await narrow.get(`${TENANTS}/list?tenantId=${child.tenantId}`)).data.rows, []);
  const { data: tree } = await narrow.get(`${TENANTS}/tree`);
  assert.deepEqual([tree.tenantId, tree.hasChildren, tree.children], [admin.tenantId, false, []]);
  assert.equal((await narrow.get('/system/overview-api')).data.tenantsBelow, 0);
  const unknown = '7777777777777777771';
  for (const call of [
    (id: string) => narrow.get(`${TENANTS}/${id}`),
    (id: string) => narrow.get(`${TENANTS}/${id}?asOf=${encodeURIComponent(new Date().toISOString())}`),
    (id: string) => narrow.get(`${TENANTS}/tree?rootId=${id}`),
    (id: string) => narrow.put(TENANTS, { id, tenantName: 'changed' }),
    (id: string) => narrow.call('PATCH', `${TENANTS}/${id}`, { tenantName: 'changed' }),
    (id: string) => narrow.delete(`${TENANTS}/${id}`),
    (id: string) => narrow.post(`${TENANTS}/${id}/restore`),
  ]) {
    for (const id of [child.id, deleted, unknown]) expectError(await call(id), 404, 'TENANT_NOT_FOUND');
  }
  expectError(await narrow.post(TENANTS, { tenantName: 'new' }), 403, 'NOT_ALLOWED');
  assert.equal((await wide.get(`${TENANTS}/${child.id}`)).code, 200);
  assert.equal((await wide.post(TENANTS, { tenantName: 'new' })).code, 200);
});
