import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Database } from '../../db/connect.ts';
import { makeKeyring } from '../../server/auth/keys.ts';
import { TokenReader } from '../../server/auth/tokens.ts';
import { Client, startService } from '../support/service.ts';
import { craft, encode, now, tamper } from '../support/tokens.ts';

const service = await startService();
const boss = await service.createTenant();
const other = await service.createTenant();
const good = boss.token as string;
const [head = '', payload = '', signature = ''] = good.split('.');
const secret = randomBytes(32);

const me = (authorization: string) => service.anonymous.get('/auth/me', { headers: { authorization } });

/** The value of the Authorization header, and why it is refused. */
const refused: [what: string, authorization: () => string | Promise<string>, reason?: string][] = [
  ['nothing but the scheme', () => 'Bearer'],
  ['the token without its scheme', () => good],
  ['another scheme', () => `Basic ${Buffer.from('boss:correct horse').toString('base64')}`],
  ['the token under another scheme', () => `Token ${good}`],
  ['garbage', () => 'Bearer garbage'],
  ['garbage in three parts', () => 'Bearer a.b.c'],
  ['something behind the token', () => `Bearer ${good} ${good}`],
  ['a token that lost its end', () => `Bearer ${good.slice(0, -5)}`],
  ['a token that lost its signature', () => `Bearer ${head}.${payload}`],
  ['a token with an empty signature', () => `Bearer ${head}.${payload}.`],
  ['a token with another signature', () => `Bearer ${head}.${payload}.${signature.split('').reverse().join('')}`],
  ["another tenant's code under our signature", () => `Bearer ${tamper(good, { tid: other.tenantId })}`],
  ['a later end under our signature', () => `Bearer ${tamper(good, { exp: now() + 86_400 })}`],
  ['no algorithm', () => `Bearer ${encode({ ...decodeProtectedHeader(good), alg: 'none' })}.${payload}.`],
  ['no algorithm, yet signed', () => `Bearer ${encode({ ...decodeProtectedHeader(good), alg: 'none' })}.${payload}.x`],
  ['another algorithm with our key', () => bearer({ header: { alg: 'HS512' } })],
  ["a stranger's key under our key's name", () => bearer({ secret })],
  ["a stranger's key under a name of its own", () => bearer({ secret, header: { kid: randomUUID() } })],
  ["our key under a stranger's name", () => bearer({ header: { kid: randomUUID() } })],
  ['no name of a key', () => bearer({ header: { kid: undefined } })],
  ['a key that the token brings along', () => bearer({ secret, header: { jwk: { kty: 'oct', k: encode('k') } } })],
  ['another issuer', () => bearer({ claims: { iss: 'somebody' } })],
  ['no issuer', () => bearer({ claims: { iss: undefined } })],
  ['another audience', () => bearer({ claims: { aud: 'something' } })],
  ['no audience', () => bearer({ claims: { aud: undefined } })],
  ['a token of another type', () => bearer({ header: { typ: 'JWT' } })],
  ['a token of no type', () => bearer({ header: { typ: undefined } })],
  ['a token that has ended', () => bearer({ claims: { exp: now() - 1 } }), 'TOKEN_EXPIRED'],
  ['a token that never ends', () => bearer({ claims: { exp: undefined } })],
  ['a token that is not good yet', () => bearer({ claims: { nbf: now() + 600 } })],
  ['a token of nobody', () => bearer({ claims: { sub: undefined } })],
  ['a refresh token', () => `Bearer ${boss.refreshToken}`],
  // Well signed, and yet of no session: not what the service hands out, but no fault of ours either.
  ['a session that is not', () => bearer({ claims: { sid: randomUUID() } }), 'SESSION_ENDED'],
  ["another user's session", () => bearer({ claims: { sid: sessionOf(other) } }), 'SESSION_ENDED'],
  ["another tenant's user", () => bearer({ claims: { tid: other.tenantId } }), 'SESSION_ENDED'],
  ['a user that is not', () => bearer({ claims: { sub: '99999999' } }), 'SESSION_ENDED'],
  ['no session', () => bearer({ claims: { sid: undefined } })],
  ['a session that is no id', () => bearer({ claims: { sid: 'x' } })],
  ['a user that is no id', () => bearer({ claims: { sub: 'boss' } })],
  ['no tenant', () => bearer({ claims: { tid: undefined } })],
];

const bearer = async (changes: Parameters<typeof craft>[2]) => `Bearer ${await craft(service, good, changes)}`;
const sessionOf = (client: Client) => decodeJwt(client.token as string).sid as string;

test('a crafted token with nothing changed about it is good', async () => {
  // Otherwise the refusals below would prove nothing.
  assert.equal((await me(await bearer({}))).code, 200);
  assert.equal((await me(`bearer ${good}`)).code, 200);
});

for (const [what, authorization, reason = 'INVALID_TOKEN'] of refused) {
  test(`refused as an access token: ${what}`, async () => {
    const answer = await me(await authorization());
    assert.equal(answer.status, 401, answer.text);
    assert.equal(answer.code, 401);
    assert.equal(answer.headers['www-authenticate'], 'Bearer');
    assert.equal(answer.data.reason, reason);
  });
}

test('without a token the answer is the familiar one', async () => {
  const zh = await service.anonymous.get('/auth/me');
  assert.deepEqual([zh.status, zh.msg, zh.data], [401, '认证失败，无法访问系统资源', { reason: 'NO_TOKEN' }]);
  const empty = await me('');
  assert.deepEqual([empty.status, empty.data.reason], [401, 'NO_TOKEN']);
});

test('an access token tells who and until when, and no more', async () => {
  const { iat = 0, exp, ...claims } = decodeJwt(good);
  assert.equal(exp, iat + 1800);
  assert.deepEqual(Object.keys(claims).sort(), ['aud', 'iss', 'sid', 'sub', 'tid']);
});

test('a token is not looked for in the query or the body', async () => {
  const query = await service.anonymous.get(`/auth/me?access_token=${good}&token=${good}`);
  assert.equal(query.data.reason, 'NO_TOKEN');
  const body = await service.anonymous.post('/system/dept-api', { access_token: good });
  assert.equal(body.data.reason, 'NO_TOKEN');
});

test('every node takes the tokens of every other, also of a key that signs no more', async () => {
  const [key] = await service.superuser<[{ id: string }]>`
    insert into banyan.signing_keys (secret, create_time) values (${secret}, now() - interval '1 day')
    returning key_id as id`;
  const node = await startService({ DATABASE_URL: service.databaseUrl });
  for (const token of [good, await craft(service, good, { secret, header: { kid: key.id } })]) {
    const { data } = await new Client(node.base, token).get('/auth/me');
    assert.equal(data.user.userName, 'boss');
  }
  assert.equal((await new Client(service.base, node.root.token).get('/auth/me')).code, 200);
});

test('a header is remembered as it came, but not one of endless blanks: they are all different, and large', async () => {
  let db: Database | undefined;
  const between = (real: Database) => {
    db = real;
    return real;
  };
  const own = await startService({}, { between });
  const reader = new TokenReader(makeKeyring(db as Database));
  const [short, long] = [1, 50_000].map((blanks) => `Bearer${' '.repeat(blanks)}${own.root.token}`) as [string, string];
  for (const header of [short, long]) assert.equal((await reader.read(header)).tenantId, '000000');
  assert.equal(reader.known(short)?.tenantId, '000000');
  assert.equal(reader.known(long), undefined);
});
