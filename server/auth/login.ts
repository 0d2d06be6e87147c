import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/driver.ts';
import { writeInTenant } from '../../db/tenant-scope.ts';
import { commitWith } from '../../db/transaction.ts';
import type { Config } from '../config.ts';
import { ApiError, apiError } from '../http/errors.ts';
import { assertActive, type Caller } from './caller.ts';
import { type AttemptKey, findLogin, type LoginRow, lockLogin, recordLogin } from './queries.ts';
import type { Login, LogoutQuery, Tokens } from './schema.ts';
import { deleteSession, insertSession, lockSession, rotateSession, type SessionRow } from './session-queries.ts';
import { endSessionsOf } from './sessions.ts';
import type { Keyring } from './signing-keys.ts';
import { readTenantState } from './tenant-state.ts';
import {
  admitLogin,
  type FailedLogin,
  type LoginAttempt,
  settle,
  settleInTransaction,
  type ThrottleDependencies,
} from './throttle.ts';
import {
  createRefreshSecret,
  createSalt,
  deriveNextSecret,
  hashSecret,
  joinRefreshToken,
  signAccessToken,
  splitRefreshToken,
} from './tokens.ts';
import { userKey as keyOf } from './user-key.ts';

/** The dependencies of a login. */
export interface AuthDependencies extends ThrottleDependencies {
  keys: Keyring;
  config: Config;
}

/** The address and the client that a login comes from. */
export interface LoginOrigin {
  address: string;
  userAgent: string;
  requestId: string;
}

/**
 * Logs a user in. A wrong tenant, user name or password gives the same error after the same time. Only a caller with the
 * right password learns more, for example that the user is disabled.
 */
export async function logIn(
  deps: AuthDependencies,
  origin: LoginOrigin,
  { tenantId, username, password }: Login,
): Promise<Required<Tokens>> {
  const { db, config } = deps;
  const userKey = keyOf(username);
  const key: AttemptKey = { tenantId, userKey, address: origin.address };
  const from = { address: origin.address, requestId: origin.requestId };
  const failed = { userName: username, reason: 'LOGIN_FAILED', origin: from } as const;
  const { attempt, user } = await checkPassword(deps, key, password, failed, { key: userKey });
  const secret = createRefreshSecret();
  const userId = String(user.userId);
  const sessionId = randomUUID();
  try {
    const written = writeInTenant(
      db,
      tenantId,
      async (tx) => {
        const [tenantState, current] = await Promise.all([
          readTenantState(tx, tenantId),
          // Lock the user: a concurrent password change waits and then ends this session too. If the password has
          // changed since it was checked, the login fails.
          lockLogin(tx, tenantId, userId),
        ]);
        // A deleted tenant gives the same error as an unknown one.
        if (tenantState === 'deleted' || current?.passwordHash !== user.passwordHash) throw apiError('LOGIN_FAILED');
        assertActive({ ...current, tenantState });
        const refreshHash = hashSecret(secret);
        const session = { tenantId, sessionId, userId, refreshHash, ...origin, seconds: config.refreshTokenSeconds };
        const login = { userName: username, userId, reason: null };
        await commitWith(tx, () =>
          Promise.all([
            settleInTransaction(tx, attempt, 'passed'),
            insertSession(tx, session),
            recordLogin(tx, tenantId, login),
          ]),
        );
      },
      { origin: { tenantId, userId, ...from } },
    );
    // Sign the token while the transaction runs.
    const [tokens] = await Promise.all([issueTokens(deps, { tenantId, userId, sessionId }, secret), written]);
    return tokens;
  } catch (error) {
    const rejected = error instanceof ApiError ? { ...failed, userId, reason: error.code } : undefined;
    await settle(db, attempt, 'abandoned', rejected).catch(() => {});
    throw error;
  }
}

/**
 * Checks a password, with brute-force protection. A failed attempt is settled here; after a success the caller of this
 * function settles it, together with its own writes.
 */
export async function checkPassword(
  deps: ThrottleDependencies,
  key: AttemptKey,
  password: string,
  failed: Omit<FailedLogin, 'userId'> & { reason: 'LOGIN_FAILED' | 'WRONG_PASSWORD' },
  by: { key: string } | { id: string },
): Promise<{ attempt: LoginAttempt; user: LoginRow }> {
  const { db, passwords } = deps;
  const { attempt, found: user, release } = await admitLogin(deps, key, (tx) => findLogin(tx, key.tenantId, by));
  let matches = false;
  try {
    matches = await passwords.verify(user?.passwordHash, password);
  } catch (error) {
    await settle(db, attempt, 'abandoned');
    throw error;
  } finally {
    release();
  }
  if (user && matches) return { attempt, user };
  await settle(db, attempt, 'failed', { ...failed, userId: user ? String(user.userId) : null });
  throw apiError(failed.reason);
}

/** A browser may reuse its previous refresh token for this many seconds. */
const REUSE_SECONDS = 10;

/**
 * Each refresh token works once. Reuse of an old token may mean that it was stolen, so the session ends. Only a browser may
 * reuse one for a moment, and then gets the same new token: its tabs share a cookie, and a reload can lose a response.
 */
export async function refresh(
  deps: AuthDependencies,
  refreshToken: string,
  { browser = false } = {},
): Promise<Required<Tokens>> {
  const { tenantId, sessionId, secret } = splitRefreshToken(refreshToken);
  // Throw only after the commit: otherwise the deletion of the session would be rolled back.
  const found = await writeInTenant(deps.db, tenantId, async (tx) => {
    const session = await lockSession(tx, tenantId, sessionId, REUSE_SECONDS);
    if (!session) return undefined;
    const reissued = browser ? successorOf(session, secret) : undefined;
    if (session.expired || !(reissued || isHashOf(session.refreshHash, secret))) {
      await deleteSession(tx, tenantId, sessionId);
      return undefined;
    }
    const userId = String(session.userId);
    const user = await findLogin(tx, tenantId, { id: userId });
    if (!user) return undefined;
    assertActive({ ...user, tenantState: await readTenantState(tx, tenantId) });
    if (reissued) return { userId, next: reissued };
    const nextSalt = browser ? createSalt() : null;
    const next = nextSalt ? deriveNextSecret(secret, nextSalt) : createRefreshSecret();
    const previousHash = browser ? hashSecret(secret) : null;
    const seconds = deps.config.refreshTokenSeconds;
    await rotateSession(tx, tenantId, sessionId, { refreshHash: hashSecret(next), previousHash, nextSalt, seconds });
    return { userId, next };
  });
  if (!found) throw apiError('REFRESH_REFUSED');
  return issueTokens(deps, { tenantId, userId: found.userId, sessionId }, found.next);
}

/** The secret that replaced this one a moment ago. */
function successorOf({ previousHash, nextSalt }: SessionRow, secret: string): string | undefined {
  return previousHash && nextSalt && isHashOf(previousHash, secret) ? deriveNextSecret(secret, nextSalt) : undefined;
}

const isHashOf = (hash: Buffer, secret: string) => timingSafeEqual(hash, hashSecret(secret));

async function issueTokens(
  { keys, config }: AuthDependencies,
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

/** Ends a session by its refresh token, even if the access token has expired or the user or tenant is disabled. */
export async function endSessionByRefreshToken(db: Database, refreshToken: string): Promise<void> {
  const { tenantId, sessionId, secret } = splitRefreshToken(refreshToken);
  await writeInTenant(db, tenantId, async (tx) => {
    const session = await lockSession(tx, tenantId, sessionId, REUSE_SECONDS);
    if (!session || !(isHashOf(session.refreshHash, secret) || successorOf(session, secret))) return;
    await deleteSession(tx, tenantId, sessionId);
  });
}

export async function logOut(tx: Tx, caller: Caller, { everywhere = false }: LogoutQuery): Promise<void> {
  if (everywhere) await endSessionsOf(tx, caller.tenantId, [caller.userId]);
  else await deleteSession(tx, caller.tenantId, caller.sessionId);
}
