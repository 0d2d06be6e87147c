import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { Database } from '../../db/connect.ts';
import { commitWith, type Tx } from '../../db/sql.ts';
import { writeInTenant } from '../../db/tenancy.ts';
import type { Config } from '../config.ts';
import { Refusal, refuse } from '../http/refusals.ts';
import { readOwnTenant } from '../tenants/tenants.ts';
import { findLogin, holdLogin, keyOf, type LoginRow, readOwnUser, setPassword } from '../users/users.ts';
import { type Caller, refuseShutOut } from './caller.ts';
import { admitGuess, type FailedLogin, type Guess, type GuessParts, settle, settleGuess } from './guesses.ts';
import type { Keyring } from './keys.ts';
import { type Attempt, noteLogin, readStanding } from './queries.ts';
import type { Login, LogoutQuery, Me, PasswordChange, Tokens } from './schema.ts';
import { deleteSession, insertSession, lockSession, rotateSession, type SessionRow } from './session-queries.ts';
import { endSessionsOf } from './sessions.ts';
import {
  hashSecret,
  joinRefreshToken,
  makeNextSecret,
  makeRefreshSecret,
  makeSalt,
  signAccessToken,
  splitRefreshToken,
} from './tokens.ts';

/** What every login needs. */
export interface AuthParts extends GuessParts {
  keys: Keyring;
  config: Config;
}

/** Where a login comes from, and by which program. */
export interface Origin {
  address: string;
  userAgent: string;
  requestId: string;
}

/** Wrong tenant, user and password answer alike and take alike long; only who knows the password learns more. */
export async function logIn(parts: AuthParts, origin: Origin, login: Login): Promise<Required<Tokens>> {
  const { db, config } = parts;
  const { tenantId, username, password } = login;
  const userKey = keyOf(username);
  const attempt: Attempt = { tenantId, userKey, address: origin.address };
  const from = { address: origin.address, requestId: origin.requestId };
  const failed = { userName: username, reason: 'LOGIN_FAILED', origin: from } as const;
  const { guess, user } = await checkPassword(parts, attempt, password, failed, { key: userKey });
  const secret = makeRefreshSecret();
  const userId = String(user.userId);
  const sessionId = randomUUID();
  try {
    const written = writeInTenant(
      db,
      tenantId,
      async (tx) => {
        const [tenantStanding, present] = await Promise.all([
          readStanding(tx, tenantId),
          // Held: whoever changes the password now ends this session too. One changed since is a wrong one.
          holdLogin(tx, tenantId, userId),
        ]);
        // A deleted tenant is as if it had never been.
        if (tenantStanding === 'deleted' || present?.passwordHash !== user.passwordHash) throw refuse('LOGIN_FAILED');
        refuseShutOut({ ...present, tenantStanding });
        const refreshHash = hashSecret(secret);
        const session = { tenantId, sessionId, userId, refreshHash, ...origin, seconds: config.refreshTokenSeconds };
        const noted = { userName: username, userId, reason: null };
        await commitWith(tx, () =>
          Promise.all([settleGuess(tx, guess, 'passed'), insertSession(tx, session), noteLogin(tx, tenantId, noted)]),
        );
      },
      { origin: { tenantId, userId, ...from } },
    );
    // Signed meanwhile.
    const [tokens] = await Promise.all([giveTokens(parts, { tenantId, userId, sessionId }, secret), written]);
    return tokens;
  } catch (error) {
    const refused = error instanceof Refusal ? { ...failed, userId, reason: error.reason } : undefined;
    await settle(db, guess, 'dropped', refused).catch(() => {});
    throw error;
  }
}

/** Guarded against guessing. The guess is settled when it fails; who passes settles it with what he does. */
async function checkPassword(
  parts: GuessParts,
  attempt: Attempt,
  password: string,
  failed: Omit<FailedLogin, 'userId'> & { reason: 'LOGIN_FAILED' | 'WRONG_PASSWORD' },
  who: { key: string } | { id: string },
): Promise<{ guess: Guess; user: LoginRow }> {
  const { db, passwords } = parts;
  const { guess, found: user, leave } = await admitGuess(parts, attempt, (tx) => findLogin(tx, attempt.tenantId, who));
  let right = false;
  try {
    right = await passwords.verify(user?.passwordHash, password);
  } catch (error) {
    await settle(db, guess, 'dropped');
    throw error;
  } finally {
    leave();
  }
  if (user && right) return { guess, user };
  await settle(db, guess, 'failed', { ...failed, userId: user ? String(user.userId) : null });
  throw refuse(failed.reason);
}

/** For so many seconds a browser may come again with the refresh token it had before. */
const AGAIN = 10;

/**
 * Each refresh token is good once. An old one that comes again may be stolen, so its session ends. Only a browser may
 * come again at once, and then gets the same: its windows share one cookie, and a reload loses an answer.
 */
export async function refresh(
  parts: AuthParts,
  refreshToken: string,
  { browser = false } = {},
): Promise<Required<Tokens>> {
  const { tenantId, sessionId, secret } = splitRefreshToken(refreshToken);
  // The end of a session must be kept, so the refusal is thrown only after this has been committed.
  const found = await writeInTenant(parts.db, tenantId, async (tx) => {
    const session = await lockSession(tx, tenantId, sessionId, AGAIN);
    if (!session) return undefined;
    const followed = browser ? followedBy(session, secret) : undefined;
    if (session.expired || !(followed || isHashOf(session.refreshHash, secret))) {
      await deleteSession(tx, tenantId, sessionId);
      return undefined;
    }
    const userId = String(session.userId);
    const user = await findLogin(tx, tenantId, { id: userId });
    if (!user) return undefined;
    refuseShutOut({ ...user, tenantStanding: await readStanding(tx, tenantId) });
    if (followed) return { userId, next: followed };
    const nextSalt = browser ? makeSalt() : null;
    const next = nextSalt ? makeNextSecret(secret, nextSalt) : makeRefreshSecret();
    const previousHash = browser ? hashSecret(secret) : null;
    const seconds = parts.config.refreshTokenSeconds;
    await rotateSession(tx, tenantId, sessionId, { refreshHash: hashSecret(next), previousHash, nextSalt, seconds });
    return { userId, next };
  });
  if (!found) throw refuse('REFRESH_REFUSED');
  return giveTokens(parts, { tenantId, userId: found.userId, sessionId }, found.next);
}

/** The secret that was given for this one a moment ago. */
function followedBy({ previousHash, nextSalt }: SessionRow, secret: string): string | undefined {
  return previousHash && nextSalt && isHashOf(previousHash, secret) ? makeNextSecret(secret, nextSalt) : undefined;
}

const isHashOf = (hash: Buffer, secret: string) => timingSafeEqual(hash, hashSecret(secret));

async function giveTokens(
  { keys, config }: AuthParts,
  token: { tenantId: string; userId: string; sessionId: string },
  secret: string,
): Promise<Required<Tokens>> {
  return {
    access_token: await signAccessToken(keys, token, config.accessTokenSeconds),
    token_type: 'Bearer',
    expires_in: config.accessTokenSeconds,
    refresh_token: joinRefreshToken(token.tenantId, token.sessionId, secret),
  };
}

/** By its refresh token: whatever became of the access token, of the user and of the tenant. */
export async function endByRefreshToken(db: Database, refreshToken: string): Promise<void> {
  const { tenantId, sessionId, secret } = splitRefreshToken(refreshToken);
  await writeInTenant(db, tenantId, async (tx) => {
    const session = await lockSession(tx, tenantId, sessionId, AGAIN);
    if (!session || !(isHashOf(session.refreshHash, secret) || followedBy(session, secret))) return;
    await deleteSession(tx, tenantId, sessionId);
  });
}

export async function logOut(tx: Tx, caller: Caller, { everywhere = false }: LogoutQuery): Promise<void> {
  if (everywhere) await endSessionsOf(tx, caller.tenantId, [caller.userId]);
  else await deleteSession(tx, caller.tenantId, caller.sessionId);
}

export async function readMe(tx: Tx, caller: Caller): Promise<Me> {
  const [user, tenant] = await Promise.all([readOwnUser(tx, caller), readOwnTenant(tx, caller)]);
  return { user, roles: user.roles, tenant };
}

/** Guarded like a login: a stolen token must not be enough to find the password. Gives the hash of the new one. */
export async function checkPasswordChange(
  parts: GuessParts,
  { tenantId, userId, userName }: Caller,
  origin: { address: string; requestId: string },
  { oldPassword, newPassword }: PasswordChange,
): Promise<string> {
  const attempt: Attempt = { tenantId, userKey: keyOf(userName), address: origin.address };
  const failed = { userName, reason: 'WRONG_PASSWORD', origin } as const;
  const { guess } = await checkPassword(parts, attempt, oldPassword, failed, { id: userId });
  await settle(parts.db, guess, 'passed');
  return parts.passwords.hash(newPassword);
}

export async function changePassword(tx: Tx, caller: Caller, passwordHash: string): Promise<void> {
  await setPassword(tx, caller, passwordHash);
  // Whoever may have known the old one is out; he who changed it stays.
  await endSessionsOf(tx, caller.tenantId, [caller.userId], caller.sessionId);
}
