import assert from 'node:assert/strict';
import { test } from 'node:test';
import { basic, postForm } from '../support/oauth.ts';
import { assertDocumented, operationsOf, readDocument } from '../support/openapi.ts';
import { type ApiResponse, Client, PASSWORD, shareService, startService } from '../support/service.ts';

/** POST /auth/token: the grant refresh_token, and the errors of RFC 6749 for both grants. */

const service = await shareService();
const admin = await service.createTenant();
const operations = operationsOf(await readDocument(service));
const operation = operations.find(({ operationId }) => operationId === 'issueToken') ?? assert.fail();
const token = async (...sent: Parameters<typeof postForm> extends [string, string, ...infer Rest] ? Rest : never) => {
  const response = await postForm(service.base, '/auth/token', ...sent);
  assertDocumented(operation, response);
  return response;
};
const newSession = () => service.logIn(admin.tenantId, 'boss', PASSWORD);

/** Expects an error as RFC 6749 5.2 describes it, without our envelope. */
function expectOAuthError({ status, text, headers }: ApiResponse, expected: [status: number, error: string]): void {
  const body = JSON.parse(text);
  assert.deepEqual([status, body.error], expected, text);
  assert.deepEqual(Object.keys(body), ['error', 'error_description']);
  assert.match(body.error_description, /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  assertNotStored(headers);
}

function assertNotStored(headers: ApiResponse['headers']): void {
  assert.deepEqual([headers['cache-control'], headers.pragma], ['no-store', 'no-cache']);
}

test('a refresh token is exchanged for new tokens, without our envelope', async () => {
  const { refreshToken = '' } = await newSession();
  const { status, text, headers } = await token({ grant_type: 'refresh_token', refresh_token: refreshToken });
  assert.equal(status, 200, text);
  const { access_token, refresh_token, ...rest } = JSON.parse(text);
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 1800 });
  assertNotStored(headers);
  assert.equal((await new Client(service.base, access_token).get('/auth/me')).code, 200);
  const next = await token({ grant_type: 'refresh_token', refresh_token });
  assert.equal(next.status, 200);
});

test('reuse of a refresh token is invalid_grant and ends its session', async () => {
  const { refreshToken = '' } = await newSession();
  const sent = { grant_type: 'refresh_token', refresh_token: refreshToken };
  const first = JSON.parse((await token(sent)).text);
  expectOAuthError(await token(sent), [400, 'invalid_grant']);
  assert.equal((await new Client(service.base, first.access_token).get('/auth/me')).data.reason, 'SESSION_ENDED');
});

test('the refresh token of a disabled user is invalid_grant', async () => {
  const member = await service.createMember(admin);
  await admin.put('/system/user-api', { userId: member.id, status: '1' });
  const sent = { grant_type: 'refresh_token', refresh_token: member.refreshToken as string };
  expectOAuthError(await token(sent), [400, 'invalid_grant']);
});

test('a scope for a session is invalid_scope and does not use up its refresh token', async () => {
  const { refreshToken = '' } = await newSession();
  const sent = { grant_type: 'refresh_token', refresh_token: refreshToken };
  expectOAuthError(await token({ ...sent, scope: 'dept:read' }), [400, 'invalid_scope']);
  assert.equal(
    (await token({ ...sent, scope: '', client_id: 'console' })).status,
    200,
    'an empty parameter counts as omitted',
  );
});

const secret = `byk_${'a'.repeat(49)}`;
const credentials = { client_id: '1001', client_secret: secret };
const clientGrant = { grant_type: 'client_credentials' };
const rejected: [what: string, expected: [number, string], sent: Parameters<typeof token>][] = [
  ['no grant type', [400, 'invalid_request'], [{ refresh_token: 'x' }]],
  ['an empty grant type', [400, 'invalid_request'], [{ grant_type: '' }]],
  [
    'an unknown grant type',
    [400, 'unsupported_grant_type'],
    [{ grant_type: 'password', username: 'a', password: 'b' }],
  ],
  ['no refresh token', [400, 'invalid_request'], [{ grant_type: 'refresh_token' }]],
  ['a malformed refresh token', [400, 'invalid_grant'], [{ grant_type: 'refresh_token', refresh_token: 'none' }]],
  ['a long refresh token', [400, 'invalid_grant'], [{ grant_type: 'refresh_token', refresh_token: 'x'.repeat(8_000) }]],
  ['a refresh token with NUL', [400, 'invalid_request'], [{ grant_type: 'refresh_token', refresh_token: 'a\0' }]],
  [
    'a repeated parameter',
    [400, 'invalid_request'],
    [
      [
        ['grant_type', 'refresh_token'],
        ['refresh_token', 'a'],
        ['refresh_token', 'a'],
      ],
    ],
  ],
  ['no client', [401, 'invalid_client'], [clientGrant]],
  ['a client id without a secret', [401, 'invalid_client'], [{ ...clientGrant, client_id: '1001' }]],
  ['a secret without a client id', [400, 'invalid_request'], [{ ...clientGrant, client_secret: secret }]],
  ['an unknown client in the body', [401, 'invalid_client'], [{ ...clientGrant, ...credentials }]],
  ['an unknown client in the header', [401, 'invalid_client'], [clientGrant, basic('1001', secret)]],
  [
    'a secret in the header and the body',
    [400, 'invalid_request'],
    [{ ...clientGrant, ...credentials }, basic('1001', secret)],
  ],
  [
    'another client id in the body',
    [400, 'invalid_request'],
    [{ ...clientGrant, client_id: '1' }, basic('1001', secret)],
  ],
  ['the scheme Bearer', [401, 'invalid_client'], [clientGrant, { authorization: `Bearer ${secret}` }]],
  ['Basic without a colon', [401, 'invalid_client'], [clientGrant, { authorization: `Basic ${btoa('1001')}` }]],
  [
    'Basic with an invalid escape',
    [401, 'invalid_client'],
    [clientGrant, { authorization: `Basic ${btoa('1001:%zz')}` }],
  ],
  ['Basic that is not UTF-8', [401, 'invalid_client'], [clientGrant, { authorization: `Basic ${btoa('1001:\xff')}` }]],
  ['Basic that is not base64', [401, 'invalid_client'], [clientGrant, { authorization: 'Basic ü' }]],
];

for (const [what, expected, sent] of rejected) {
  test(`a request with ${what} is rejected with ${expected.join(' ')}`, async () => {
    const response = await token(...sent);
    expectOAuthError(response, expected);
    const challenge = response.headers['www-authenticate'];
    assert.equal(challenge, expected[0] === 401 ? 'Basic realm="banyan", charset="UTF-8"' : undefined);
  });
}

test('bodies that are missing, too large or not a readable form, and parameters in the query, are invalid_request', async () => {
  const { anonymous } = service;
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const [response, status] of [
    [await anonymous.post('/auth/token', { grant_type: 'refresh_token', refresh_token: 'x' }), 400],
    [await anonymous.post('/auth/token'), 400],
    [await anonymous.post('/auth/token', undefined, { raw: '', headers: form }), 400],
    [await anonymous.post('/auth/token', undefined, { raw: Buffer.from([0xff]), headers: form }), 400],
    [
      await anonymous.post('/auth/token', undefined, { raw: 'a=b', headers: { ...form, 'content-encoding': 'gzip' } }),
      400,
    ],
    [await anonymous.post('/auth/token?grant_type=refresh_token', undefined, { raw: 'a=b', headers: form }), 400],
    [await anonymous.post('/auth/token', undefined, { raw: 'a'.repeat(9_000), headers: form }), 413],
  ] as const) {
    expectOAuthError(response, [status, 'invalid_request']);
    assertDocumented(operation, response);
    if (status === 413) assert.match(response.text, /8192 bytes/);
  }
});

test('/auth/refresh accepts no form', async () => {
  const { status, data } = await postForm(service.base, '/auth/refresh', { refresh_token: 'x' });
  assert.deepEqual([status, data.reason], [415, 'NOT_JSON']);
});

test('errors keep their status with BANYAN_ERROR_STATUS=200, because OAuth clients rely on it', async () => {
  const own = await startService({ BANYAN_ERROR_STATUS: '200' });
  expectOAuthError(await postForm(own.base, '/auth/token', { grant_type: 'x' }), [400, 'unsupported_grant_type']);
});
