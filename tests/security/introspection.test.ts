import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { basic, createKey, postForm } from '../support/oauth.ts';
import { assertDocumented, operationsOf, readDocument } from '../support/openapi.ts';
import { type ApiResponse, Client, shareService } from '../support/service.ts';
import { now, signToken, tamper } from '../support/tokens.ts';

/** POST /auth/introspect: what programs learn about tokens, and that they learn nothing about those of other subtrees. */

const service = await shareService();
const above = await service.createTenant();
const admin = await service.createTenant({}, above);
const below = await service.createTenant({}, admin);
const sibling = await service.createTenant({}, above);
const operations = operationsOf(await readDocument(service));
const operation = operations.find(({ operationId }) => operationId === 'introspectToken') ?? assert.fail();

const introspect = async (headers: Record<string, string>, sent: Record<string, string>): Promise<ApiResponse> => {
  const response = await postForm(service.base, '/auth/introspect', sent, headers);
  assertDocumented(operation, response);
  return response;
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const checker = await createKey(admin, { permissions: ['check'] });
const checkerBelow = await createKey(admin, { permissions: ['check'], below: true });
const ask = async (token: string, key = checker.key) => {
  const { status, text, headers } = await introspect(bearer(key), { token });
  assert.equal(status, 200, text);
  assert.deepEqual([headers['cache-control'], headers.pragma], ['no-store', 'no-cache']);
  return JSON.parse(text);
};
const INACTIVE = { active: false };

const issue = async ({ keyId, key }: { keyId: string; key: string }, scope = '') => {
  const sent = { grant_type: 'client_credentials', scope };
  return JSON.parse((await postForm(service.base, '/auth/token', sent, basic(keyId, key))).text).access_token as string;
};

test('an active access token of a user is described', async () => {
  const member = await service.createMember(admin, { userName: 'xiaowang' });
  const { iss, aud, exp, iat, jti, sub } = decodeJwt(member.token as string);
  assert.deepEqual(await ask(member.token as string), {
    active: true,
    token_type: 'Bearer',
    exp,
    iat,
    iss,
    aud,
    jti,
    sub,
    username: 'xiaowang',
    tenant_id: admin.tenantId,
    scope: 'dept:read',
  });
  assert.match((await ask(admin.token as string)).scope, /\bkey:write\b/, 'administrators have all permissions');
});

test('the token of a key has the permissions of its scope that the key still has', async () => {
  const key = await createKey(admin, { permissions: ['dept:read', 'user:read', 'export'] });
  const token = await issue(key, 'dept:read user:read');
  const { sub, client_id, username, scope, tenant_id } = await ask(token);
  const expected = [key.keyId, key.keyId, undefined, 'dept:read user:read', admin.tenantId];
  assert.deepEqual([sub, client_id, username, scope, tenant_id], expected);
  const changes = { keyName: 'k', permissions: ['user:read', 'export'], status: '0' };
  const nothing = { addresses: null, requestsPerMinute: null, expiresTime: null };
  assert.equal((await admin.put('/system/key-api', { keyId: key.keyId, ...changes, ...nothing })).code, 200);
  assert.equal((await ask(token)).scope, 'user:read');
  await admin.delete(`/system/key-api/${key.keyId}`);
  assert.deepEqual(await ask(token), INACTIVE);
});

test('an API key and a refresh token are described too, and a refresh token is not used up', async () => {
  const { keyId, key } = await createKey(admin, { permissions: ['export'] });
  const tenant_id = admin.tenantId;
  assert.deepEqual(await ask(key), {
    active: true,
    token_type: 'Bearer',
    sub: keyId,
    client_id: keyId,
    tenant_id,
    scope: 'export',
  });
  const member = await service.createMember(admin, { userName: 'refreshing' });
  const refresh_token = member.refreshToken as string;
  const { active, username, exp } = await ask(refresh_token);
  assert.deepEqual([active, username], [true, 'refreshing']);
  assert.ok(exp > now() + 600_000);
  const refreshed = await service.anonymous.post('/auth/refresh', { refresh_token });
  assert.equal(refreshed.code, 200);
  assert.deepEqual(await ask(refresh_token), INACTIVE, 'a former refresh token');
  const { access_token } = refreshed.data;
  assert.equal((await new Client(service.base, access_token).get('/auth/me')).code, 200, 'the session continues');
});

/** Tokens that are not active, each for a different reason. */
const inactive: [what: string, token: () => Promise<string> | string][] = [
  ['garbage', () => 'garbage'],
  ['garbage in three parts', () => 'a.b.c'],
  ['a changed token', () => tamper(admin.token as string, { sub: '1' })],
  ['an expired token', () => signToken(service, admin.token as string, { claims: { exp: now() - 1 } })],
  ['an unknown API key', () => `byk_${'a'.repeat(49)}`],
  [
    'a refresh token with another secret',
    () => (admin.refreshToken as string).replace(/.$/, (c) => (c === 'A' ? 'B' : 'A')),
  ],
  [
    'a token whose session has ended',
    async () => {
      const member = await service.createMember(admin);
      await member.post('/auth/logout');
      return member.token as string;
    },
  ],
  [
    'a token of a disabled user',
    async () => {
      const member = await service.createMember(admin);
      await admin.put('/system/user-api', { userId: member.id, status: '1' });
      return member.token as string;
    },
  ],
  ['a text of 8,000 characters', async () => 'x'.repeat(8_000)],
  [
    'a token of a deleted user',
    async () => {
      const member = await service.createMember(admin);
      await admin.delete(`/system/user-api/${member.id}`);
      return member.token as string;
    },
  ],
  [
    'a token of a user who must change their password',
    async () => {
      const member = await service.createMember(admin);
      await admin.put('/system/user-api', { userId: member.id, mustChangePassword: true, password: 'another horse' });
      return (
        await service.logIn(
          admin.tenantId,
          (
            await admin.get(`/system/user-api/${member.id}`)
          ).data.userName,
          'another horse',
        )
      ).token as string;
    },
  ],
];
for (const [what, token] of inactive) {
  test(`the response for ${what} is exactly {"active":false}`, async () => {
    assert.equal((await introspect(bearer(checker.key), { token: await token() })).text, '{"active":false}');
  });
}

test('the response for a token of a tenant that is out of scope equals that for an invalid token, byte for byte', async () => {
  const foreign = await Promise.all(
    [above, sibling, below, service.root].map(async (tenant) => {
      const key = await createKey(tenant);
      return [tenant.token as string, tenant.refreshToken as string, key.key, await issue(key)];
    }),
  );
  const withoutVarying = ({ status, text, headers: { date, 'x-request-id': id, ...headers } }: ApiResponse) => ({
    status,
    text,
    headers,
  });
  const garbage = withoutVarying(await introspect(bearer(checker.key), { token: 'garbage' }));
  for (const token of foreign.flat()) {
    assert.deepEqual(withoutVarying(await introspect(bearer(checker.key), { token })), garbage);
  }
  // A key made with below: true sees the tenants below its own, but no others.
  for (const [n, [token = '']] of foreign.entries()) {
    const { active, tenant_id } = await ask(token, checkerBelow.key);
    assert.deepEqual([active, tenant_id], n === 2 ? [true, below.tenantId] : [false, undefined]);
  }
});

test('a token of a descendant tenant that was disabled is inactive', async () => {
  const closed = await service.createTenant({}, admin);
  assert.equal((await ask(closed.token as string, checkerBelow.key)).active, true);
  await admin.put('/system/tenant-api', { id: closed.id, status: '1' });
  assert.deepEqual(await ask(closed.token as string, checkerBelow.key), INACTIVE);
});

test('a caller authenticates with the key, a token of it, or HTTP Basic', async () => {
  const token = admin.token as string;
  for (const headers of [bearer(checker.key), bearer(await issue(checker)), basic(checker.keyId, checker.key)]) {
    assert.equal(JSON.parse((await introspect(headers, { token, token_type_hint: 'access_token' })).text).active, true);
  }
  const issuer = new URL(service.base);
  const insecure = { [oauth.allowInsecureRequests]: true };
  const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  const server = await oauth.processDiscoveryResponse(issuer, discovered);
  const client = { client_id: checker.keyId };
  const response = await oauth.introspectionRequest(
    server,
    client,
    oauth.ClientSecretBasic(checker.key),
    token,
    insecure,
  );
  const answer = await oauth.processIntrospectionResponse(server, client, response);
  assert.deepEqual([answer.active, answer.username, answer.tenant_id], [true, 'boss', admin.tenantId]);
});

test('callers without the permission `check` are rejected', async () => {
  const token = admin.token as string;
  const unable = await createKey(admin, { permissions: ['dept:read'] });
  const both = await createKey(admin, { permissions: ['dept:read', 'check'] });
  const revoked = await createKey(admin, { permissions: ['check'] });
  await admin.delete(`/system/key-api/${revoked.keyId}`);
  const challenge = { basic: 'Basic realm="banyan", charset="UTF-8"', bearer: 'Bearer realm="banyan", error=' };
  for (const [headers, expected, scheme] of [
    [{}, '401 invalid_client', challenge.basic],
    [basic('1', checker.key), '401 invalid_client', challenge.basic],
    [basic(checker.keyId, 'guess'), '401 invalid_client', challenge.basic],
    [basic(checker.keyId, await issue(checker)), '401 invalid_client', challenge.basic],
    [basic(revoked.keyId, revoked.key), '401 invalid_client', challenge.basic],
    [bearer(revoked.key), '401 invalid_token', challenge.bearer],
    [bearer('a.b.c'), '401 invalid_token', challenge.bearer],
    [bearer(unable.key), '403 insufficient_scope', challenge.bearer],
    [bearer(await issue(both, 'dept:read')), '403 insufficient_scope', challenge.bearer],
    [bearer(token), '403 insufficient_scope', challenge.bearer],
    [bearer(service.root.token as string), '403 insufficient_scope', challenge.bearer],
  ] as const) {
    const { status, text, headers: received } = await introspect(headers, { token });
    assert.equal(`${status} ${JSON.parse(text).error}`, expected);
    assert.ok(String(received['www-authenticate']).startsWith(scheme), received['www-authenticate']);
  }
  for (const sent of [{}, { token: '' }, { token_type_hint: 'x' }] as Record<string, string>[]) {
    const { status, text } = await introspect(bearer(checker.key), sent);
    assert.deepEqual([status, JSON.parse(text).error], [400, 'invalid_request']);
  }
});
