import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import { outcomeOf } from '../support/expect.ts';
import { basic, createKey, postForm } from '../support/oauth.ts';
import { assertDocumented, operationsOf, readDocument } from '../support/openapi.ts';
import { type ApiResponse, Client, shareService, startService } from '../support/service.ts';
import { captureQueries, type Query } from '../support/statements.ts';
import { waitFor } from '../support/wait.ts';

/**
 * POST /auth/token: the grant client_credentials, with oauth4webapi (a third-party client) and by hand, and the grant
 * refresh_token, with oauth4webapi.
 */

const service = await shareService();
const admin = await service.createTenant();
const operations = operationsOf(await readDocument(service));
const operation = operations.find(({ operationId }) => operationId === 'issueToken') ?? assert.fail();
const DEPTS = '/system/dept-api';

/** The tests call http, which OAuth clients refuse by default. */
const insecure = { [oauth.allowInsecureRequests]: true };
const discover = async () => {
  const issuer = new URL(service.base);
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  return oauth.processDiscoveryResponse(issuer, response);
};

const token = async (sent: Record<string, string>, headers?: Record<string, string>) => {
  const form = { grant_type: 'client_credentials', ...sent };
  const response = await postForm(service.base, '/auth/token', form, headers);
  assertDocumented(operation, response);
  return response;
};
const errorOf = ({ status, text }: ApiResponse) => `${status} ${JSON.parse(text).error}`;

for (const [method, authenticate] of [
  ['client_secret_basic', oauth.ClientSecretBasic],
  ['client_secret_post', oauth.ClientSecretPost],
] as const) {
  test(`oauth4webapi discovers the service and exchanges an API key for a token with ${method}`, async () => {
    const server = await discover();
    assert.ok(server.token_endpoint_auth_methods_supported?.includes(method));
    const { keyId, key } = await createKey(admin, { permissions: ['dept:read', 'user:read'] });
    const client = { client_id: keyId };
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authenticate(key),
      { scope: 'dept:read' },
      insecure,
    );
    const issued = await oauth.processClientCredentialsResponse(server, client, response);
    assert.deepEqual([issued.token_type, issued.expires_in, issued.scope], ['bearer', 1800, 'dept:read']);
    assert.equal(issued.refresh_token, undefined);
    const program = new Client(service.base, issued.access_token);
    assert.equal(outcomeOf(await program.get(`${DEPTS}/list`)), '200 OK');
    assert.equal(outcomeOf(await program.get('/system/user-api/list')), '403 NOT_ALLOWED', 'not in the scope');
    assert.equal(outcomeOf(await program.get('/auth/me')), '403 USERS_ONLY');
  });
}

test('oauth4webapi refreshes the session of a user, and reports reuse as invalid_grant', async () => {
  const server = await discover();
  const client = { client_id: 'a-public-client' };
  const { refreshToken = '' } = await service.logIn(admin.tenantId, 'boss');
  const refresh = async () => {
    const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, insecure);
    return oauth.processRefreshTokenResponse(server, client, response);
  };
  const issued = await refresh();
  assert.equal((await new Client(service.base, issued.access_token).get('/auth/me')).code, 200);
  assert.ok(issued.refresh_token);
  await assert.rejects(refresh, { error: 'invalid_grant', status: 400 });
});

test('oauth4webapi gets a challenge for a key that was sent with another client id', async () => {
  const server = await discover();
  const client = { client_id: '1' };
  const { key } = await createKey(admin, { permissions: ['dept:read'] });
  const request = (authentication: oauth.ClientAuth) =>
    oauth.clientCredentialsGrantRequest(server, client, authentication, {}, insecure);
  const response = await request(oauth.ClientSecretBasic(key));
  assert.match(response.headers.get('www-authenticate') ?? '', /^Basic /);
  await assert.rejects(oauth.processClientCredentialsResponse(server, client, response), /WWW-Authenticate/);
});

test('another service verifies the token of a key with jose and the published keys', async () => {
  const { keyId, key } = await createKey(admin, { permissions: ['user:read', 'dept:read'] });
  const { status, text, headers } = await token({ client_id: keyId, client_secret: key });
  assert.equal(status, 200, text);
  assert.deepEqual([headers['cache-control'], headers.pragma], ['no-store', 'no-cache']);
  const { access_token, ...rest } = JSON.parse(text);
  const scope = 'user:read dept:read';
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 1800, scope }, 'all permissions by default');
  const keys = createRemoteJWKSet(new URL(`${service.base}/.well-known/jwks.json`), { timeoutDuration: 600_000 });
  const { payload } = await jwtVerify(access_token, keys, { issuer: service.base, audience: 'banyan', typ: 'at+jwt' });
  const { sub, client_id, tenant_id, sid } = payload;
  assert.deepEqual([sub, client_id, tenant_id, payload.scope, sid], [keyId, keyId, admin.tenantId, scope, undefined]);
});

test('a scope beyond the permissions of the key is rejected with invalid_scope', async () => {
  const { keyId, key } = await createKey(admin, { permissions: ['dept:read', 'dept:write'] });
  for (const scope of ['user:read', 'dept:read user:read', 'dept:read  dept:write', 'DEPT:READ', 'key:write', '*']) {
    assert.equal(errorOf(await token({ scope }, basic(keyId, key))), '400 invalid_scope', scope);
  }
  for (const [scope, granted] of [
    ['dept:write', 'dept:write'],
    ['dept:write dept:read', 'dept:read dept:write'],
    ['', 'dept:read dept:write'],
  ] as const) {
    assert.equal(JSON.parse((await token({ scope }, basic(keyId, key))).text).scope, granted);
  }
});

test('the Authorization header accepts form-encoded and plain credentials, and its scheme in upper or lower case', async () => {
  const { keyId, key } = await createKey(admin, { permissions: ['dept:read'] });
  const encoded = key.replace('byk_', 'byk%5F');
  for (const credentials of [`${keyId}:${key}`, `${keyId}:${encoded}`, `%3${keyId[0]}${keyId.slice(1)}:${key}`]) {
    for (const scheme of ['Basic', 'basic', 'BASIC']) {
      const authorization = `${scheme} ${Buffer.from(credentials).toString('base64')}`;
      assert.equal((await token({}, { authorization })).status, 200, credentials);
    }
  }
  assert.equal((await token({ client_id: keyId }, basic(keyId, key))).status, 200, 'the id may be repeated');
});

test('a key is not accepted with the id of another one', async () => {
  const [one, other] = [await createKey(admin), await createKey(admin)];
  assert.equal(errorOf(await token({ client_id: other.keyId, client_secret: one.key })), '401 invalid_client');
  assert.equal(errorOf(await token({}, basic(other.keyId, one.key))), '401 invalid_client');
  const foreign = await createKey(await service.createTenant());
  assert.equal(errorOf(await token({}, basic(foreign.keyId, one.key))), '401 invalid_client');
});

interface Case {
  what: string;
  act(keyId: string): Promise<ApiResponse>;
  /** The response to the next request with the token. */
  expected: string;
}
const settings = {
  keyName: 'k',
  permissions: ['dept:read', 'dept:write'],
  addresses: null,
  requestsPerMinute: null,
  expiresTime: null,
};
const update = (keyId: string, changes: object) =>
  admin.put('/system/key-api', { ...settings, keyId, status: '0', ...changes });
const cases: Case[] = [
  { what: 'deleted', act: (id) => admin.delete(`/system/key-api/${id}`), expected: '401 INVALID_KEY' },
  { what: 'disabled', act: (id) => update(id, { status: '1' }), expected: '403 KEY_DISABLED' },
  { what: 'expired', act: (id) => update(id, { expiresTime: '2020-01-01 00:00:00' }), expected: '401 KEY_EXPIRED' },
  {
    what: 'bound to another network',
    act: (id) => update(id, { addresses: ['10.0.0.0/8'] }),
    expected: '403 KEY_ADDRESS_REFUSED',
  },
  {
    what: 'rotated without a grace period',
    act: (id) => admin.post(`/system/key-api/${id}/rotate`, { graceSeconds: 0 }),
    expected: '401 INVALID_KEY',
  },
  {
    what: 'deprived of the permission',
    act: (id) => update(id, { permissions: ['dept:write'] }),
    expected: '403 NOT_ALLOWED',
  },
];
for (const { what, act, expected } of cases) {
  test(`the token of a key that was ${what} is rejected on the next request`, async () => {
    const { keyId, key } = await createKey(admin, settings);
    const { access_token } = JSON.parse((await token({}, basic(keyId, key))).text);
    const program = new Client(service.base, access_token);
    assert.equal(outcomeOf(await program.get(`${DEPTS}/list`)), '200 OK');
    const done = await act(keyId);
    assert.equal(done.code, 200, done.text);
    assert.equal(outcomeOf(await program.get(`${DEPTS}/list`)), expected);
    assert.equal(outcomeOf(await program.get(`${DEPTS}/7`)), expected, 'reads that are batched too');
    if (expected !== '403 NOT_ALLOWED') assert.equal(errorOf(await token({}, basic(keyId, key))), '401 invalid_client');
  });
}

test('a token keeps its scope when its key gets further permissions', async () => {
  const { keyId, key } = await createKey(admin, { ...settings, permissions: ['dept:read'] });
  const { access_token } = JSON.parse((await token({}, basic(keyId, key))).text);
  assert.equal((await update(keyId, {})).code, 200);
  assert.equal(outcomeOf(await new Client(service.base, access_token).post(DEPTS, {})), '403 NOT_ALLOWED');
});

test('createBy names the key when its token created the record', async () => {
  const { keyId, key } = await createKey(admin, { ...settings, keyName: 'payroll' });
  const { access_token } = JSON.parse((await token({}, basic(keyId, key))).text);
  const created = await new Client(service.base, access_token).post(DEPTS, { deptName: '研发' });
  const { data } = await admin.get(String(created.headers.location));
  assert.equal(data.createBy, `key ${keyId}: payroll`);
});

test('a token does not outlive its key', async () => {
  // Ten minutes from now, as a local time of Asia/Shanghai.
  const expires = new Date(Date.now() + 8 * 3_600_000 + 600_000).toISOString().slice(0, 19).replace('T', ' ');
  const { keyId, key } = await createKey(admin, { ...settings, expiresTime: expires });
  const { access_token, expires_in } = JSON.parse((await token({}, basic(keyId, key))).text);
  assert.ok(expires_in > 0 && expires_in <= 600, `${expires_in} seconds`);
  const { exp = 0, iat = 0 } = decodeJwt(access_token);
  assert.equal(exp - iat, expires_in);
});

test('requestsPerMinute counts the tokens that a key requests', async () => {
  const { keyId, key } = await createKey(admin, { ...settings, requestsPerMinute: 3 });
  const responses = [];
  for (let n = 0; n < 6; n++) {
    responses.push(await token({}, basic(keyId, key)));
    // The bucket does not refill, however long the test takes.
    await service.superuser`
      update banyan.request_buckets set refilled = now() + interval '1 hour' where key_id = ${keyId}`;
  }
  const limited = responses.find(({ status }) => status === 429) ?? assert.fail('no request was limited');
  assert.equal(errorOf(limited), '429 temporarily_unavailable');
  assert.ok(Number(limited.headers['retry-after']) > 0);
});

test('a key with an invalid checksum causes no database query, and one with a valid checksum causes one query', async () => {
  const queries: Query[] = [];
  // No background work sends statements while they are counted.
  const timing = { sealMs: 600_000, webhookPollMs: 600_000, noticeMs: 600_000 };
  const own = await startService({}, { timing, wrapDatabase: captureQueries(queries) });
  // The dispatcher of webhooks polls once at the start. The last statement of a poll calls `due_webhooks`.
  await waitFor('the first poll is sent', () => queries.some(({ string }) => string?.includes('due_webhooks')));
  const attempt = async (secret: string) => {
    queries.length = 0;
    const sent = { grant_type: 'client_credentials', client_id: '1001', client_secret: secret };
    assert.equal(errorOf(await postForm(own.base, '/auth/token', sent)), '401 invalid_client');
    return queries.length;
  };
  const { key } = await createKey(admin);
  assert.equal(await attempt('guess'), 0);
  assert.equal(await attempt(`${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`), 0);
  assert.equal(await attempt(key), 1);
});
