import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Database } from '../../db/connect.ts';
import { createIssuer } from '../../server/auth/issuer.ts';
import { createKeyLimits } from '../../server/auth/key-limits.ts';
import { createRefusalStates } from '../../server/auth/refusal-states.ts';
import { createKeyring } from '../../server/auth/signing-keys.ts';
import { TokenReader } from '../../server/auth/tokens.ts';
import { readConfig } from '../../server/config.ts';
import { Client, startService } from '../support/service.ts';
import { encode, now, readPrivateKey, signToken, tamper } from '../support/tokens.ts';

/** With this setting, tokens of other issuers are rejected. */
const issuer = { BANYAN_ISSUER: 'https://org.example.com' };
let db: Database | undefined;
const service = await startService(issuer, {
  wrapDatabase: (real) => {
    db = real;
    return real;
  },
});
const admin = await service.createTenant();
const other = await service.createTenant();
const validToken = admin.token as string;
const [head = '', payload = '', signature = ''] = validToken.split('.');
const { privateKey: foreignKey, publicKey: foreignPublicKey } = generateKeyPairSync('ed25519');
const keyId = String(decodeProtectedHeader(validToken).kid);

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
  [
    'a changed tenant code with the original signature',
    () => `Bearer ${tamper(validToken, { tenant_id: other.tenantId })}`,
  ],
  ['a later expiry with the original signature', () => `Bearer ${tamper(validToken, { exp: now() + 86_400 })}`],
  ['algorithm none', () => `Bearer ${encode({ ...decodeProtectedHeader(validToken), alg: 'none' })}.${payload}.`],
  [
    'algorithm none with a signature',
    () => `Bearer ${encode({ ...decodeProtectedHeader(validToken), alg: 'none' })}.${payload}.x`,
  ],
  ['another algorithm with the right key', () => bearer({ header: { alg: 'Ed25519' } })],
  ['the public key as the secret of an HMAC', async () => bearer({ key: await publicKey(), header: { alg: 'HS256' } })],
  ['a foreign key with the right kid', () => bearer({ key: foreignKey })],
  ['a foreign key with an unknown kid', () => bearer({ key: foreignKey, header: { kid: randomUUID() } })],
  ['a token of the right key with an unknown kid', () => bearer({ header: { kid: randomUUID() } })],
  ['a token without a kid', () => bearer({ header: { kid: undefined } })],
  ['a token with its key embedded', () => bearer({ key: foreignKey, header: { jwk: embeddedKey } })],
  ['a token of another issuer', () => bearer({ claims: { iss: 'somebody' } })],
  ['a token without an issuer', () => bearer({ claims: { iss: undefined } })],
  ['a token for another audience', () => bearer({ claims: { aud: 'something' } })],
  ['a token without an audience', () => bearer({ claims: { aud: undefined } })],
  ['a token of another type', () => bearer({ header: { typ: 'JWT' } })],
  ['a token without a type', () => bearer({ header: { typ: undefined } })],
  // The clock of the service, which issued the valid token, may be a little behind that of the test.
  ['an expired token', () => bearer({ claims: { exp: Number(decodeJwt(validToken).iat) - 1 } }), 'TOKEN_EXPIRED'],
  ['a token without expiry', () => bearer({ claims: { exp: undefined } })],
  ['a token that is not valid yet', () => bearer({ claims: { nbf: now() + 600 } })],
  ['a token without a subject', () => bearer({ claims: { sub: undefined } })],
  ['a refresh token', () => `Bearer ${admin.refreshToken}`],
  // The service never issues these, but it must reject them without an internal error.
  ['a token of an unknown session', () => bearer({ claims: { sid: randomUUID() } }), 'SESSION_ENDED'],
  ['a token of the session of another user', () => bearer({ claims: { sid: sessionOf(other) } }), 'SESSION_ENDED'],
  ['a token with another tenant', () => bearer({ claims: { tenant_id: other.tenantId } }), 'SESSION_ENDED'],
  ['a token of an unknown user', () => bearer({ claims: { sub: '99999999' } }), 'SESSION_ENDED'],
  ['a token without an id', () => bearer({ claims: { jti: undefined } })],
  ['a token without a session', () => bearer({ claims: { sid: undefined } })],
  ['a token with a malformed session id', () => bearer({ claims: { sid: 'x' } })],
  ['a token with a malformed user id', () => bearer({ claims: { sub: 'boss' } })],
  ['a token without a tenant', () => bearer({ claims: { tenant_id: undefined } })],
];

const bearer = async (changes: Parameters<typeof signToken>[2]) =>
  `Bearer ${await signToken(service, validToken, changes)}`;
const embeddedKey = foreignPublicKey.export({ format: 'jwk' });
/** The public key in PEM, as verifiers often store it. */
const publicKey = async () =>
  Buffer.from(createPublicKey(await readPrivateKey(service, keyId)).export({ type: 'spki', format: 'pem' }));
const sessionOf = (client: Client) => decodeJwt(client.token as string).sid as string;

test('a token that the test signs with the real key and unchanged claims is accepted', async () => {
  // Otherwise the rejections below would prove nothing.
  assert.equal((await me(await bearer({}))).code, 200);
  assert.equal((await me(`bearer ${validToken}`)).code, 200);
});

for (const [what, authorization, reason = 'INVALID_TOKEN'] of rejected) {
  test(`a request with ${what} is rejected`, async () => {
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

test('an access token contains only its issuer, audience, id and validity, the caller, the tenant and the session', async () => {
  const { iat = 0, exp, jti, sid, ...claims } = decodeJwt(validToken);
  assert.equal(exp, iat + 1800);
  for (const id of [jti, sid]) assert.match(String(id), /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  const { userId } = (await admin.get('/auth/me')).data.user;
  const expected = { iss: issuer.BANYAN_ISSUER, aud: 'banyan', sub: String(userId), tenant_id: admin.tenantId };
  assert.deepEqual(claims, expected);
  assert.deepEqual(decodeProtectedHeader(validToken), { alg: 'EdDSA', typ: 'at+jwt', kid: keyId });
});

test('a token in the query or body is ignored', async () => {
  const query = await service.anonymous.get(`/auth/me?access_token=${validToken}&token=${validToken}`);
  assert.equal(query.data.reason, 'NO_TOKEN');
  const body = await service.anonymous.post('/system/dept-api', { access_token: validToken });
  assert.equal(body.data.reason, 'NO_TOKEN');
});

test('every node accepts the tokens of other nodes, also those signed with an older key', async () => {
  const [key] = await service.superuser<[{ id: string }]>`
    insert into banyan.signing_keys (private_key, create_time)
    values (${foreignKey.export({ type: 'pkcs8', format: 'der' })}, now() - interval '1 day')
    returning key_id as id`;
  const node = await startService({ DATABASE_URL: service.databaseUrl, ...issuer });
  for (const token of [
    validToken,
    await signToken(service, validToken, { key: foreignKey, header: { kid: key.id } }),
  ]) {
    const { data } = await new Client(node.base, token).get('/auth/me');
    assert.equal(data.user.userName, 'boss');
  }
  assert.equal((await new Client(service.base, node.root.token).get('/auth/me')).code, 200);
});

test('the token cache stores a normal header but not one padded with thousands of spaces', async () => {
  const reader = new TokenReader(
    { keys: createKeyring(db as Database), issuer: createIssuer(readConfig(issuer), () => undefined) },
    createKeyLimits(db as Database),
    createRefusalStates(),
  );
  const [short, long] = [1, 50_000].map((spaces) => `Bearer${' '.repeat(spaces)}${service.root.token}`) as [
    string,
    string,
  ];
  for (const header of [short, long]) assert.equal((await reader.read(header, '')).tenantId, '000000');
  assert.equal(reader.cached(short, '')?.tenantId, '000000');
  assert.equal(reader.cached(long, ''), undefined);
});
