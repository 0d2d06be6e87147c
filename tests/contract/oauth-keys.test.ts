import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, type FetchImplementation, jwtVerify } from 'jose';
import { assertDocumented, operationsOf, readDocument } from '../support/openapi.ts';
import { Client, PASSWORD, shareService, startService } from '../support/service.ts';
import { encode, tamper } from '../support/tokens.ts';

/** Verifies access tokens with the published keys, as other software does. The verifier is jose. */

const service = await shareService();
const admin = await service.createTenant();
const JWKS = '/.well-known/jwks.json';
const METADATA = '/.well-known/oauth-authorization-server';
const readJson = async (path: string) => JSON.parse((await service.anonymous.get(path)).text);

/** A verifier that knows only the issuer, and counts how often it fetches keys. */
function createVerifier(base = service.base, options: { cooldownDuration?: number } = {}) {
  const fetched: string[] = [];
  const counting: FetchImplementation = (url, init) => {
    fetched.push(url);
    return fetch(url, init);
  };
  const keys = createRemoteJWKSet(new URL(`${base}${JWKS}`), {
    ...options,
    timeoutDuration: 600_000,
    [customFetch]: counting,
  });
  const verify = (token: string) => jwtVerify(token, keys, { issuer: base, audience: 'banyan', typ: 'at+jwt' });
  return { fetched, verify };
}

test('a service that knows only the issuer verifies an access token and reads its claims', async () => {
  const { verify, fetched } = createVerifier();
  const { payload, protectedHeader } = await verify(admin.token as string);
  const me = (await admin.get('/auth/me')).data.user;
  assert.deepEqual([payload.sub, payload.tenant_id, payload.iss], [String(me.userId), admin.tenantId, service.base]);
  assert.equal(protectedHeader.alg, 'EdDSA');
  await verify(service.root.token as string);
  assert.equal(fetched.length, 1, 'the keys are fetched once');
  await assert.rejects(verify(tamper(admin.token as string, { sub: '1' })), {
    code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  });
});

test('the key set has public parts only', async () => {
  const { keys } = await readJson(JWKS);
  assert.equal(keys.length, 1);
  const { kid, x, ...rest } = keys[0];
  assert.deepEqual(rest, { kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA' });
  assert.equal(kid, decodeProtectedHeader(admin.token as string).kid);
  assert.equal(Buffer.from(x, 'base64url').length, 32);
});

test('a new key is published an hour before it first signs, so a verifier that cached the keys in that hour knows it', async () => {
  const own = await startService();
  const logIn = async () => (await own.logIn('000000', 'admin', PASSWORD)).token as string;
  const kidOf = (token: string) => decodeProtectedHeader(token).kid;
  /** Makes the service load its keys again: it does so when a token names a key that it does not know. */
  const reloadKeys = async () => {
    const unknown = `${encode({ alg: 'EdDSA', typ: 'at+jwt', kid: crypto.randomUUID() })}.${encode({})}.${encode('x')}`;
    assert.equal((await new Client(own.base, unknown).get('/auth/me')).status, 401);
  };
  const first = await logIn();
  await own.superuser`update banyan.signing_keys set create_time = create_time - interval '30 days 1 minute'`;
  await reloadKeys();
  const published = JSON.parse((await own.anonymous.get(JWKS)).text).keys.map((key: { kid: string }) => key.kid);
  assert.equal(published.length, 2);
  const before = await logIn();
  assert.equal(kidOf(before), kidOf(first), 'the new key does not sign yet');
  // This verifier never fetches keys again, so it fails unless it got the new key with the first fetch.
  const { verify, fetched } = createVerifier(own.base, { cooldownDuration: Number.POSITIVE_INFINITY });
  await verify(before);
  await own.superuser`update banyan.signing_keys set create_time = create_time - interval '1 hour'`;
  await reloadKeys();
  const after = await logIn();
  assert.equal(kidOf(after), published[0]);
  for (const token of [first, before, after]) await verify(token);
  assert.equal(fetched.length, 1);
});

test('the metadata names the endpoints below the issuer', async () => {
  const metadata = await readJson(METADATA);
  assert.equal(metadata.issuer, service.base);
  assert.equal(metadata.jwks_uri, `${service.base}${JWKS}`);
  assert.equal(metadata.token_endpoint, `${service.base}/auth/token`);
  assert.equal(metadata.introspection_endpoint, `${service.base}/auth/introspect`);
  assert.deepEqual(metadata.grant_types_supported, ['client_credentials', 'refresh_token']);
  assert.deepEqual(metadata.response_types_supported, []);
  assert.ok(metadata.scopes_supported.includes('dept:read'));
  for (const reserved of ['key:write', 'role:write']) assert.ok(!metadata.scopes_supported.includes(reserved));
});

test('with BANYAN_ISSUER the metadata and the tokens name that URL', async () => {
  const issuer = 'https://example.com/banyan';
  const own = await startService({ BANYAN_ISSUER: issuer });
  const metadata = JSON.parse((await own.anonymous.get(METADATA)).text);
  assert.deepEqual([metadata.issuer, metadata.token_endpoint], [issuer, `${issuer}/auth/token`]);
  const keys = createRemoteJWKSet(new URL(`${own.base}${JWKS}`), { timeoutDuration: 600_000 });
  await jwtVerify(own.root.token as string, keys, { issuer, audience: 'banyan' });
});

test('the issuer does not follow the Host header', async () => {
  const { text } = await service.anonymous.get(METADATA, { headers: { host: 'evil.example' } });
  assert.equal(JSON.parse(text).issuer, service.base);
});

for (const path of [JWKS, METADATA]) {
  test(`${path} is documented, may be cached, and is not sent again to a client that has it`, async () => {
    const operations = operationsOf(await readDocument(service));
    const operation = operations.find((each) => each.path === path) ?? assert.fail();
    const response = await service.anonymous.get(`${path}?v=2`);
    assertDocumented(operation, response);
    assert.equal(response.headers['cache-control'], 'public, max-age=600');
    const { etag = '' } = response.headers;
    const again = await service.anonymous.get(path, { headers: { 'if-none-match': etag } });
    assert.deepEqual([again.status, again.text], [304, '']);
    assert.equal((await service.anonymous.get(path, { headers: { 'if-none-match': '"other"' } })).status, 200);
  });
}
