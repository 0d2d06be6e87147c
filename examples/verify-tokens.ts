// A back end that accepts the access tokens of Banyan. It verifies them itself, with the public keys of the service, so a
// request to it needs no request to Banyan.
//
//   BANYAN_ISSUER=http://127.0.0.1:8080 PORT=9000 node examples/verify-tokens.ts
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { required } from './banyan.ts';

const issuer = required('BANYAN_ISSUER');
// jose loads the keys at the first token, caches them, and loads them again when a token names a key that it does not know.
const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`));

const server = createServer(async (request, response) => {
  const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  try {
    // `algorithms` and `typ` are part of the check: without them, a token made for another purpose could pass.
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: 'banyan',
      algorithms: ['EdDSA'],
      typ: 'at+jwt',
    });
    // Tokens of API keys have `client_id`; their `sub` is the id of the key, not of a user.
    const caller = payload.client_id === undefined ? { user: payload.sub } : { key: payload.sub };
    response.end(JSON.stringify({ ...caller, tenant: payload.tenant_id }));
  } catch (error) {
    // jose reports an invalid token with an error of its own. A timeout, a generic error such as an unexpected response, or
    // any other error means that the keys could not be loaded, which is not the fault of the caller.
    const isInvalid =
      error instanceof errors.JOSEError && !['ERR_JWKS_TIMEOUT', errors.JOSEError.code].includes(error.code);
    response.writeHead(isInvalid ? 401 : 503, isInvalid ? { 'www-authenticate': 'Bearer error="invalid_token"' } : {});
    response.end();
  }
});
server.listen(Number(process.env.PORT ?? 9000), () => {
  console.log(`Listening on http://localhost:${(server.address() as AddressInfo).port}`);
});
