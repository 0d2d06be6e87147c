import { createHash, createHmac, randomBytes } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { refuse } from '../http/refusals.ts';
import type { Keyring } from './keys.ts';

const ISSUER = 'banyan';
const AUDIENCE = 'banyan';
const TYPE = 'at+jwt';
const ALGORITHM = 'HS256';

/** What an access token says. Everything else about the caller is read from the database, on every request. */
export interface Token {
  tenantId: string;
  userId: string;
  sessionId: string;
}

/** One that came with a request. */
export interface GivenToken extends Token {
  /** Milliseconds since 1970, by the clock of the keys. */
  expires: number;
}

export async function signAccessToken(keys: Keyring, token: Token, seconds: number): Promise<string> {
  const { keyId, secret } = await keys.signing();
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
 * Reads the token of an Authorization header, checked for algorithm, key, issuer, audience, type and time. The same one
 * comes again and again, and its signature stays as good as it was: it is checked once, its time and its key each time.
 */
export class TokenReader {
  private readonly keys: Keyring;
  private readonly verified = new Map<string, Verified>();

  constructor(keys: Keyring) {
    this.keys = keys;
  }

  /** Without waiting, if it was verified before and still holds. */
  known(authorization: string | undefined): GivenToken | undefined {
    const found = authorization && this.verified.get(authorization);
    if (!found) return undefined;
    if (found.token.expires > this.keys.now() && this.keys.holds(found.keyId)) return found.token;
    this.verified.delete(authorization);
    return undefined;
  }

  async read(authorization: string | undefined): Promise<GivenToken> {
    const found = await verify(this.keys, authorization);
    if ((authorization as string).length > NOT_LONGER) return found.token;
    if (this.verified.size >= REMEMBERED) this.verified.clear();
    this.verified.set(authorization as string, found);
    return found.token;
  }

  /** How many milliseconds are left to it: for what goes on after its request was let in. */
  timeLeft = ({ expires }: GivenToken): number => expires - this.keys.now();
}

/** Some megabytes at most: ours have some 300 letters, but any number of blanks may stand before them. */
const REMEMBERED = 10_000;
const NOT_LONGER = 1_000;

interface Verified {
  token: GivenToken;
  keyId: string;
}

async function verify(keys: Keyring, authorization: string | undefined): Promise<Verified> {
  if (!authorization) throw refuse('NO_TOKEN');
  const jwt = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization)?.[1];
  if (!jwt) throw refuse('INVALID_TOKEN');
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
      throw refuse('INVALID_TOKEN');
    return { token: { ...token, expires: Number(payload.exp) * 1000 }, keyId: String(protectedHeader.kid) };
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw refuse('TOKEN_EXPIRED');
    if (error instanceof errors.JOSEError) throw refuse('INVALID_TOKEN');
    throw error;
  }
}

function unknownKey(): never {
  throw new errors.JWKSNoMatchingKey();
}

/** A refresh token: where its session is, and a secret of which only the hash is kept. */
export const makeRefreshSecret = () => randomBytes(32).toString('base64url');

/** The one that follows another: the same each time, for who has both that one and the salt that we keep. */
export const makeNextSecret = (secret: string, salt: Buffer) =>
  createHmac('sha256', secret).update(salt).digest('base64url');

export const makeSalt = () => randomBytes(32);

export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export const joinRefreshToken = (tenantId: string, sessionId: string, secret: string) =>
  `${tenantId}.${sessionId}.${secret}`;

export function splitRefreshToken(token: string) {
  const parts = /^(\d{6,18})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]{43})$/.exec(token);
  if (!parts) throw refuse('REFRESH_REFUSED');
  return { tenantId: parts[1] as string, sessionId: parts[2] as string, secret: parts[3] as string };
}
