import { createHash, createHmac, randomBytes } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { apiError } from '../http/errors.ts';
import type { KeyToken, Token, VerifiedToken } from './claims.ts';
import type { Keyring } from './signing-keys.ts';

const ISSUER = 'banyan';
const AUDIENCE = 'banyan';
const TYPE = 'at+jwt';
const ALGORITHM = 'HS256';

export async function signAccessToken(keys: Keyring, token: Token, seconds: number): Promise<string> {
  const { keyId, secret } = await keys.signingKey();
  const now = keys.now();
  return new SignJWT({ tid: token.tenantId, sid: token.sessionId })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: keyId })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(token.userId)
    .setIssuedAt(new Date(now))
    .setExpirationTime(new Date(now + seconds * 1000))
    .sign(secret);
}

/**
 * Verifies the token of an Authorization header: algorithm, key, issuer, audience, type and expiry. Clients send the same
 * token many times, so verified tokens are cached; expiry and key are checked on every request.
 */
export class TokenReader {
  private readonly keys: Keyring;
  private readonly verified = new LRUCache<string, Verified>({ max: MAX_CACHED });

  constructor(keys: Keyring) {
    this.keys = keys;
  }

  /** Returns a token from the cache, if it is still valid. */
  cached(authorization: string | undefined): VerifiedToken | undefined {
    const found = authorization && this.verified.get(authorization);
    if (!found) return undefined;
    if (found.token.expires > this.keys.now() && this.keys.has(found.keyId)) return found.token;
    this.verified.delete(authorization);
    return undefined;
  }

  async read(authorization: string | undefined): Promise<VerifiedToken> {
    const found = await verify(this.keys, authorization);
    if ((authorization as string).length > MAX_CACHED_LENGTH) return found.token;
    this.verified.set(authorization as string, found);
    return found.token;
  }

  /** The milliseconds until a token or an API key expires, for responses that outlast it, such as event streams. */
  timeLeft = (token: VerifiedToken | KeyToken): number =>
    token.keyId === undefined ? token.expires - this.keys.now() : token.known.expires - performance.now();
}

/** Limit the cache to a few megabytes: a token has about 300 characters, but the header may contain any number of spaces. */
const MAX_CACHED = 10_000;
const MAX_CACHED_LENGTH = 1_000;

interface Verified {
  token: VerifiedToken;
  keyId: string;
}

async function verify(keys: Keyring, authorization: string | undefined): Promise<Verified> {
  if (!authorization) throw apiError('NO_TOKEN');
  const jwt = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization)?.[1];
  if (!jwt) throw apiError('INVALID_TOKEN');
  try {
    const { payload, protectedHeader } = await jwtVerify(
      jwt,
      async ({ kid }) => (await keys.find(String(kid)))?.secret ?? unknownKey(),
      {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        typ: TYPE,
        requiredClaims: ['sub', 'exp', 'iat'],
        currentDate: new Date(keys.now()),
      },
    );
    const token = { tenantId: String(payload.tid), userId: String(payload.sub), sessionId: String(payload.sid) };
    if (!/^\d{6,18} \d{1,16} [\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(Object.values(token).join(' ')))
      throw apiError('INVALID_TOKEN');
    return { token: { ...token, expires: Number(payload.exp) * 1000 }, keyId: String(protectedHeader.kid) };
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw apiError('TOKEN_EXPIRED');
    if (error instanceof errors.JOSEError) throw apiError('INVALID_TOKEN');
    throw error;
  }
}

function unknownKey(): never {
  throw new errors.JWKSNoMatchingKey();
}

/** A refresh token consists of tenant, session and a secret. Only the hash of the secret is stored. */
export const createRefreshSecret = () => randomBytes(32).toString('base64url');

/** Derives the next secret from the current one and a stored salt, so that a repeated refresh gets the same secret. */
export const deriveNextSecret = (secret: string, salt: Buffer) =>
  createHmac('sha256', secret).update(salt).digest('base64url');

export const createSalt = () => randomBytes(32);

export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export const joinRefreshToken = (tenantId: string, sessionId: string, secret: string) =>
  `${tenantId}.${sessionId}.${secret}`;

export function splitRefreshToken(token: string) {
  const parts = /^(\d{6,18})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]{43})$/.exec(token);
  if (!parts) throw apiError('REFRESH_REFUSED');
  return { tenantId: parts[1] as string, sessionId: parts[2] as string, secret: parts[3] as string };
}
