import { createHash, createHmac, randomBytes } from 'node:crypto';
import { createCache } from '../cache.ts';
import { apiError } from '../http/errors.ts';
import { type TokenKeys, verifyAccessToken } from './access-tokens.ts';
import type { ApiKeyCredentials, ApiKeyIdentity, KnownKey, VerifiedToken } from './credentials.ts';
import type { KeyLimits } from './key-limits.ts';
import type { RefusalStates } from './refusal-states.ts';

/**
 * Verifies the token of an Authorization header: algorithm, key, issuer, audience, type and expiry. Clients send the same
 * token many times, so verified tokens are cached; expiry and signing key are checked on every request.
 */
export class TokenReader {
  private readonly tokenKeys: TokenKeys;
  private readonly limits: KeyLimits;
  private readonly refusalStates: RefusalStates;
  private readonly verified = createCache<Verified>(MAX_CACHED);
  /** What requests learned about the API keys that tokens were issued to. All tokens for one secret share it. */
  private readonly knownKeys = createCache<KnownKey>(MAX_CACHED);

  constructor(tokenKeys: TokenKeys, limits: KeyLimits, refusalStates: RefusalStates) {
    this.tokenKeys = tokenKeys;
    this.limits = limits;
    this.refusalStates = refusalStates;
  }

  /** Returns a token from the cache, if it is still valid. */
  cached(authorization: string | undefined, address: string): VerifiedToken | ApiKeyCredentials | undefined {
    const found = authorization && this.verified.get(authorization);
    if (!found) return undefined;
    const { keys } = this.tokenKeys;
    if (found.expires > keys.now() && keys.has(found.signedBy)) {
      // Concurrent requests share the object, see ApiKeyCredentials.
      if (found.token.keyId !== undefined && found.token.address !== address)
        found.token = { ...found.token, address, refusalState: this.refusalStates(found.token, address) };
      return found.token;
    }
    this.verified.delete(authorization);
    return undefined;
  }

  async read(authorization: string | undefined, address: string): Promise<VerifiedToken | ApiKeyCredentials> {
    if (!authorization) throw apiError('NO_TOKEN');
    const jwt = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization)?.[1];
    if (!jwt) throw apiError('INVALID_TOKEN');
    const { subject, expires, signedBy } = await verifyAccessToken(this.tokenKeys, jwt);
    const token =
      subject.keyId === undefined
        ? { ...subject, expires }
        : { ...subject, address, known: this.knownKey(subject), refusalState: this.refusalStates(subject, address) };
    if (authorization.length <= MAX_CACHED_LENGTH) this.verified.set(authorization, { token, expires, signedBy });
    return token;
  }

  /** The secrets of a key expire at different times, so each has an object of its own. */
  private knownKey({ tenantId, keyId, secretId }: ApiKeyIdentity): KnownKey {
    const id = `${tenantId} ${keyId} ${secretId}`;
    const known = this.knownKeys.get(id) ?? {
      limit: this.limits(tenantId, keyId),
      accepted: false,
      expires: Number.POSITIVE_INFINITY,
    };
    this.knownKeys.set(id, known);
    return known;
  }

  /** The milliseconds until a token or an API key expires, for responses that outlast it, such as event streams. */
  timeLeft = (token: VerifiedToken | ApiKeyCredentials): number => {
    const now = this.tokenKeys.keys.now();
    if (token.keyId === undefined) return token.expires - now;
    const keyLeft = token.known.expires - performance.now();
    return token.issued ? Math.min(token.issued.expires - now, keyLeft) : keyLeft;
  };
}

/** Limit the cache to a few megabytes: a token has about 500 characters, but the header may contain any number of spaces. */
const MAX_CACHED = 10_000;
const MAX_CACHED_LENGTH = 1_000;

interface Verified {
  token: VerifiedToken | ApiKeyCredentials;
  expires: number;
  signedBy: string;
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

/** The form of a session id. */
export const UUID_PATTERN = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const REFRESH_TOKEN = new RegExp(`^(\\d{6,18})\\.(${UUID_PATTERN})\\.([\\w-]{43})$`);

export function splitRefreshToken(token: string) {
  const parts = REFRESH_TOKEN.exec(token);
  if (!parts) throw apiError('REFRESH_REFUSED');
  return { tenantId: parts[1] as string, sessionId: parts[2] as string, secret: parts[3] as string };
}
