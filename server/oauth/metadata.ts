import { ALGORITHM } from '../auth/access-tokens.ts';
import type { Issuer } from '../auth/issuer.ts';
import { KEY_PERMISSIONS } from '../auth/permissions.ts';
import type { Keyring } from '../auth/signing-keys.ts';
import type { KeySet, Metadata } from './schema.ts';

/** The public keys with which others verify access tokens (RFC 7517, RFC 8037). */
export async function readKeySet(keys: Keyring): Promise<KeySet> {
  const published = await keys.published();
  return {
    keys: published.map(({ keyId, publicKey }) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      x: String(publicKey.export({ format: 'jwk' }).x),
      kid: keyId,
      use: 'sig',
      alg: ALGORITHM,
    })),
  };
}

/** What clients need to know about this authorization server (RFC 8414). */
export function describeServer(issuer: Issuer): Metadata {
  const url = issuer.url();
  return {
    issuer: url,
    token_endpoint: `${url}/auth/token`,
    introspection_endpoint: `${url}/auth/introspect`,
    jwks_uri: `${url}/.well-known/jwks.json`,
    scopes_supported: [...KEY_PERMISSIONS],
    // There is no authorization endpoint.
    response_types_supported: [],
    grant_types_supported: ['client_credentials', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'Bearer'],
    service_documentation: `${url}/docs`,
  };
}
