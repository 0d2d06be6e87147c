import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Database } from '../../db/connect.ts';
import { createKeyring } from '../../server/auth/signing-keys.ts';
import { TokenReader } from '../../server/auth/tokens.ts';
import { Client, startService } from '../support/service.ts';
import { encode, now, signToken, tamper } from '../support/tokens.ts';

const service = await startService();
const admin = await service.createTenant();
const other = await service.createTenant();
const validToken = admin.token as string;
const [head = '', payload = '', signature = ''] = validToken.split('.');
const secret = randomBytes(32);

const me = (authorization: string) => service.anonymous.get('/auth/me', { headers: { authorization } });

/** Values of the Authorization header and the reason with which they are rejected. */
const rejected: [what: string, authorization: () => string | Promise<string>, reason?: string][] = [
  ['only the scheme', () => 'Bearer'],
  ['the token without its scheme', () => validToken],
  ['another scheme', () => `Basic ${Buffer.from('boss:correct horse').toString('base64')}`],
  ['the token under another scheme', () => `Token ${validToken}`],
  ['garbage', () => 'Bearer garbage'],
  ['garbage in three parts', () => 'Bearer a.b.c'],
  ['text after the token', () => `Bearer ${validToken} ${validToken}`],
  ['a truncated token', () => `Bearer ${validToken.slice(0, -5)}`],
  ['a token without a signature', () => `Bearer ${head}.${payload}`],
  ['a token with an empty signature', () => `Bearer ${head}.${payload}.`],
  ['a token with another signature', () => `Bearer ${head}.${payload}.${signature.split('').reverse().join('')}`],
  ['a changed tenant code with the original signature', () => `Bearer ${tamper(validToken, { tid: other.tenantId })}`],
  ['a later expiry with the original signature', () => `Bearer ${tamper(validToken, { exp: now() + 86_400 })}`],
  ['algorithm none', () => `Bearer ${encode({ ...decodeProtectedHeader(validToken), alg: 'none' })}.${payload}.`],
  [
    'algorithm none with a signature',
    () => `Bearer ${encode({ ...decodeProtectedHeader(validToken), alg: 'none' })}.${payload}.x`,
  ],
  ['another algorithm with the right key', () => bearer({ header: { alg: 'HS512' } })],
  ['a foreign key with the right kid', () => bearer({ secret })],
  ['a foreign key with an unknown kid', () => bearer({ secret, header: { kid: randomUUID() } })],
  ['the right key with an unknown kid', () => bearer({ header: { kid: randomUUID() } })],
  ['no kid', () => bearer({ header: { kid: undefined } })],
  ['a key embedded in the token', () => bearer({ secret, header: { jwk: { kty: 'oct', k: encode('k') } } })],
  ['another issuer', () => bearer({ claims: { iss: 'somebody' } })],
  ['no issuer', () => bearer({ claims: { iss: undefined } })],
  ['another audience', () => bearer({ claims: { aud: 'something' } })],
  ['no audience', () => bearer({ claims: { aud: undefined } })],
  ['a token of another type', () => bearer({ header: { typ: 'JWT' } })],
  ['a token without a type', () => bearer({ header: { typ: undefined } })],
  ['an expired token', () => bearer({ claims: { exp: now() - 1 } }), 'TOKEN_EXPIRED'],
  ['a token without expiry', () => bearer({ claims: { exp: undefined } })],
  ['a token that is not valid yet', () => bearer({ claims: { nbf: now() + 600 } })],
  ['a token without a subject', () => bearer({ claims: { sub: undefined } })],
  ['a refresh token', () => `Bearer ${admin.refreshToken}`],
  // The service never issues these, but it must reject them without an internal error.
  ['an unknown session', () => bearer({ claims: { sid: randomUUID() } }), 'SESSION_ENDED'],
  ['the session of another user', () => bearer({ claims: { sid: sessionOf(other) } }), 'SESSION_ENDED'],
  ['a user of another tenant', () => bearer({ claims: { tid: other.tenantId } }), 'SESSION_ENDED'],
  ['an unknown user', () => bearer({ claims: { sub: '99999999' } }), 'SESSION_ENDED'],
  ['no session', () => bearer({ claims: { sid: undefined } })],
  ['a malformed session id', () => bearer({ claims: { sid: 'x' } })],
  ['a malformed user id', () => bearer({ claims: { sub: 'boss' } })],
  ['no tenant', () => bearer({ claims: { tid: undefined } })],
];

const bearer = async (changes: Parameters<typeof signToken>[2]) =>
  `Bearer ${await signToken(service, validToken, changes)}`;
const sessionOf = (client: Client) => decodeJwt(client.token as string).sid as string;

test('a crafted token without changes is accepted', async () => {
  // Otherwise the rejections below would prove nothing.
  assert.equal((await me(await bearer({}))).code, 200);
  assert.equal((await me(`bearer ${validToken}`)).code, 200);
});

for (const [what, authorization, reason = 'INVALID_TOKEN'] of rejected) {
  test(`${what} is rejected as an access token`, async () => {
    const response = await me(await authorization());
    assert.equal(response.status, 401, response.text);
    assert.equal(response.code, 401);
    assert.equal(response.headers['www-authenticate'], 'Bearer');
    assert.equal(response.data.reason, reason);
  });
}

test('a missing token returns NO_TOKEN and the message that front ends expect', async () => {
  const zh = await service.anonymous.get('/auth/me');
  assert.deepEqual([zh.status, zh.msg, zh.data], [401, '认证失败，无法访问系统资源', { reason: 'NO_TOKEN' }]);
  const empty = await me('');
  assert.deepEqual([empty.status, empty.data.reason], [401, 'NO_TOKEN']);
});

test('an access token contains only the caller, the session and its validity', async () => {
  const { iat = 0, exp, ...claims } = decodeJwt(validToken);
  assert.equal(exp, iat + 1800);
  assert.deepEqual(Object.keys(claims).sort(), ['aud', 'iss', 'sid', 'sub', 'tid']);
});

test('a token in the query or body is ignored', async () => {
  const query = await service.anonymous.get(`/auth/me?access_token=${validToken}&token=${validToken}`);
  assert.equal(query.data.reason, 'NO_TOKEN');
  const body = await service.anonymous.post('/system/dept-api', { access_token: validToken });
  assert.equal(body.data.reason, 'NO_TOKEN');
});

test('every node accepts the tokens of other nodes, also those signed with an older key', async () => {
  const [key] = await service.superuser<[{ id: string }]>`
    insert into banyan.signing_keys (secret, create_time) values (${secret}, now() - interval '1 day')
    returning key_id as id`;
  const node = await startService({ DATABASE_URL: service.databaseUrl });
  for (const token of [validToken, await signToken(service, validToken, { secret, header: { kid: key.id } })]) {
    const { data } = await new Client(node.base, token).get('/auth/me');
    assert.equal(data.user.userName, 'boss');
  }
  assert.equal((await new Client(service.base, node.root.token).get('/auth/me')).code, 200);
});

test('the token cache stores a normal header but not one padded with thousands of spaces', async () => {
  let db: Database | undefined;
  const wrapDatabase = (real: Database) => {
    db = real;
    return real;
  };
  const own = await startService({}, { wrapDatabase });
  const reader = new TokenReader(createKeyring(db as Database));
  const [short, long] = [1, 50_000].map((spaces) => `Bearer${' '.repeat(spaces)}${own.root.token}`) as [string, string];
  for (const header of [short, long]) assert.equal((await reader.read(header)).tenantId, '000000');
  assert.equal(reader.cached(short)?.tenantId, '000000');
  assert.equal(reader.cached(long), undefined);
});
