import { randomUUID } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { apiError } from '../http/errors.ts';
import type { ApiKeyIdentity, SessionIdentity, TokenSubject } from './credentials.ts';
import type { Issuer } from './issuer.ts';
import { KEY_PERMISSIONS, type Permission } from './permissions.ts';
import type { Keyring } from './signing-keys.ts';

/**
 * Access tokens are JWTs in the format of RFC 9068, except that those of users have no `client_id`. Other services verify them
 * with the keys in /.well-known/jwks.json.
 */
const AUDIENCE = 'banyan';
export const ALGORITHM = 'EdDSA';
const TYPE = 'at+jwt';

export interface TokenKeys {
  keys: Keyring;
  issuer: Issuer;
}

/** Signs the token of a user's session. */
export const signAccessToken = (signer: TokenKeys, { tenantId, userId, sessionId }: SessionIdentity, seconds: number) =>
  sign(signer, userId, { tenant_id: tenantId, sid: sessionId }, seconds);

/** Signs a token that acts for an API key, with some of its permissions. It is valid only while the secret `secretId` is. */
export const signKeyToken = (
  signer: TokenKeys,
  { tenantId, keyId, secretId }: ApiKeyIdentity,
  scope: readonly Permission[],
  seconds: number,
) =>
  sign(signer, keyId, { tenant_id: tenantId, client_id: keyId, secret_id: secretId, scope: scope.join(' ') }, seconds);

async function sign({ keys, issuer }: TokenKeys, subject: string, claims: JWTPayload, seconds: number) {
  const { keyId, privateKey } = await keys.signingKey();
  const now = keys.now();
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: keyId })
    .setIssuer(issuer.url())
    .setAudience(AUDIENCE)
    .setSubject(subject)
    .setJti(randomUUID())
    .setIssuedAt(new Date(now))
    .setExpirationTime(new Date(now + seconds * 1000))
    .sign(privateKey);
}

/** A token whose signature, issuer, audience, type and expiry are valid. */
interface AccessToken {
  subject: TokenSubject;
  /** Milliseconds since 1970, by the clock of the keyring. */
  expires: number;
  /** The id of the signing key. */
  signedBy: string;
  claims: JWTPayload;
}

export async function verifyAccessToken({ keys, issuer }: TokenKeys, jwt: string): Promise<AccessToken> {
  try {
    const { payload, protectedHeader } = await jwtVerify(
      jwt,
      async ({ kid }) => (await keys.find(String(kid)))?.publicKey ?? unknownKey(),
      {
        algorithms: [ALGORITHM],
        ...(issuer.configured ? { issuer: issuer.configured } : {}),
        audience: AUDIENCE,
        typ: TYPE,
        requiredClaims: ['iss', 'sub', 'exp', 'iat', 'jti'],
        currentDate: new Date(keys.now()),
      },
    );
    const expires = Number(payload.exp) * 1000;
    const subject = payload.client_id === undefined ? toSession(payload) : toApiKey(payload, expires);
    return { subject, expires, signedBy: String(protectedHeader.kid), claims: payload };
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw apiError('TOKEN_EXPIRED');
    if (error instanceof errors.JOSEError) throw apiError('INVALID_TOKEN');
    throw error;
  }
}

function unknownKey(): never {
  throw new errors.JWKSNoMatchingKey();
}

function toSession({ tenant_id, sub, sid }: JWTPayload): SessionIdentity {
  const token = { tenantId: String(tenant_id), userId: String(sub), sessionId: String(sid) };
  if (!/^\d{6,18} \d{1,16} [\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(Object.values(token).join(' ')))
    throw apiError('INVALID_TOKEN');
  return token;
}

function toApiKey({ tenant_id, sub, client_id, secret_id, scope }: JWTPayload, expires: number): ApiKeyIdentity {
  const identity = { tenantId: String(tenant_id), keyId: String(client_id), secretId: String(secret_id) };
  if (sub !== client_id || !/^\d{6,18} \d{1,16} \d{1,16}$/.test(Object.values(identity).join(' ')))
    throw apiError('INVALID_TOKEN');
  const names = String(scope ?? '').split(' ');
  const granted = new Set(KEY_PERMISSIONS.filter((permission) => names.includes(permission)));
  return { ...identity, issued: { scope: granted, expires } };
}
