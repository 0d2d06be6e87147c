import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { Tx } from '../../db/driver.ts';
import { writeInTenant } from '../../db/tenant-scope.ts';
import { commitWith } from '../../db/transaction.ts';
import type { Config } from '../config.ts';
import { isTooBusy } from '../http/envelope.ts';
import { ApiError, apiError, type ErrorCode } from '../http/errors.ts';
import type { LoginOutcome, Metrics } from '../metrics/metrics.ts';
import { signAccessToken } from './access-tokens.ts';
import { assertActive, asUser, type Caller } from './caller.ts';
import { type FairnessKey, fairnessKeyOfAddress } from './fair-queue.ts';
import type { Issuer } from './issuer.ts';
import { type AttemptKey, findLoginUser, type LoginUser, lockLoginUser, recordLogin } from './queries.ts';
import type { Login, LogoutQuery, Tokens } from './schema.ts';
import { deleteSession, insertSession, lockSession, rotateSession, type SessionRow } from './session-queries.ts';
import { endAndRecordSessions } from './sessions.ts';
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
  splitRefreshToken,
} from './tokens.ts';
import { userKey as keyOf } from './user-key.ts';

export interface AuthDependencies extends ThrottleDependencies {
  keys: Keyring;
  issuer: Issuer;
  config: Config;
  /** Stores another hash of the same password. The domain of users defines it, because it writes their table. */
  replaceHash(tx: Tx, user: { tenantId: string; userId: string; passwordHash: string }): Promise<unknown>;
  metrics: Metrics | undefined;
}

/** The address and the client that a login comes from. */
export interface LoginOrigin {
  address: string;
  userAgent: string;
  requestId: string;
}

/**
 * What the ledger records instead of a name that no account has. The name may be a password that was typed into the wrong
 * field, and the ledger may keep it indefinitely and shows it to administrators.
 */
const UNKNOWN_USER = 'unknown';

/**
 * Logs a user in. A wrong tenant, user name or password gives the same error after the same time. Only a caller with the
 * right password learns more, for example that the user is disabled.
 */
export async function logIn(deps: AuthDependencies, origin: LoginOrigin, login: Login): Promise<IssuedTokens> {
  try {
    const issued = await issueForPassword(deps, origin, login);
    deps.metrics?.countLogin('success');
    return issued;
  } catch (error) {
    deps.metrics?.countLogin(outcomeOf(error));
    throw error;
  }
}

/** How metrics count rejected logins. */
const OUTCOMES: Partial<Record<ErrorCode, LoginOutcome>> = {
  LOGIN_FAILED: 'failed',
  USER_DISABLED: 'inactive',
  TENANT_DISABLED: 'inactive',
  TENANT_NOT_STARTED: 'inactive',
  TENANT_ENDED: 'inactive',
  TOO_MANY_LOGINS: 'throttled',
};

function outcomeOf(error: unknown): LoginOutcome {
  if (isTooBusy(error)) return 'busy';
  return (error instanceof ApiError && OUTCOMES[error.code]) || 'error';
}

async function issueForPassword(
  deps: AuthDependencies,
  origin: LoginOrigin,
  { tenantId, username, password }: Login,
): Promise<IssuedTokens> {
  const { db, config } = deps;
  const userKey = keyOf(username);
  const key: AttemptKey = { tenantId, userKey, address: origin.address };
  const from = { address: origin.address, requestId: origin.requestId };
  const failed = { userName: UNKNOWN_USER, reason: 'LOGIN_FAILED', origin: from } as const;
  const { attempt, user } = await checkPassword(deps, key, fairnessKeyOfAddress(key), password, failed, {
    key: userKey,
  });
  const needsRehash = deps.passwords.needsRehash(user.passwordHash);
  // When the queue is full, a later login replaces the hash.
  const newHash =
    needsRehash && (await deps.passwords.hash(password, fairnessKeyOfAddress(key)).catch(() => undefined));
  const secret = createRefreshSecret();
  const userId = String(user.userId);
  const sessionId = randomUUID();
  const seconds = Math.min(config.refreshTokenSeconds, config.sessionSeconds);
  let mustChangePassword = false;
  try {
    const written = writeInTenant(
      db,
      tenantId,
      async (tx) => {
        const [tenantState, current] = await Promise.all([
          readTenantState(tx, tenantId),
          // Lock the user: a concurrent password change waits and then ends this session too. If the password has
          // changed since it was checked, the login fails. A concurrent login of the user waits too, and then counts
          // this session.
          lockLoginUser(tx, tenantId, userId),
        ]);
        // A concurrent login may have replaced the outdated hash: the password has to be checked against the new one.
        if (needsRehash && current && current.passwordHash !== user.passwordHash) throw new HashReplacedError();
        // A deleted tenant or user gives the same error as an unknown one.
        const isDeleted = tenantState === 'deleted' || current?.delFlag !== '0';
        if (isDeleted || current.passwordHash !== user.passwordHash) throw apiError('LOGIN_FAILED');
        assertActive({ ...current, tenantState });
        if (newHash) await deps.replaceHash(tx, { tenantId, userId, passwordHash: newHash });
        const refreshHash = hashSecret(secret);
        const session = {
          tenantId,
          sessionId,
          userId,
          refreshHash,
          ...origin,
          seconds,
          maxSessions: config.maxSessions,
        };
        mustChangePassword = current.mustChangePassword;
        const login = { userName: user.userName, userId, reason: null };
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
    const [issued] = await Promise.all([issueTokens(deps, { tenantId, userId, sessionId }, secret, seconds), written]);
    return withNotice(issued, mustChangePassword);
  } catch (error) {
    if (error instanceof HashReplacedError) {
      await settle(db, attempt, 'abandoned');
      return issueForPassword(deps, origin, { tenantId, username, password });
    }
    const rejected =
      error instanceof ApiError ? { ...failed, userName: user.userName, userId, reason: error.code } : undefined;
    await settle(db, attempt, 'abandoned', rejected).catch(() => {});
    throw error;
  }
}

/** Thrown when an outdated hash was replaced, probably by a concurrent login, after this login had checked it. */
class HashReplacedError extends Error {}

/**
 * Checks a password, with brute-force protection. A failed attempt is settled here; after a success the caller of this
 * function settles it.
 */
export async function checkPassword(
  deps: ThrottleDependencies,
  key: AttemptKey,
  fairnessKey: FairnessKey,
  password: string,
  failed: Omit<FailedLogin, 'userId'> & { reason: 'LOGIN_FAILED' | 'WRONG_PASSWORD' },
  by: { key: string } | { id: string },
): Promise<{ attempt: LoginAttempt; user: LoginUser }> {
  const { db, passwords } = deps;
  const {
    attempt,
    found: user,
    release,
  } = await admitLogin(deps, key, fairnessKey, (tx) => findLoginUser(tx, key.tenantId, by));
  let matches = false;
  try {
    matches = await passwords.verify(user?.passwordHash, password, fairnessKey);
  } catch (error) {
    await settle(db, attempt, 'abandoned');
    throw error;
  } finally {
    release();
  }
  if (user && matches) return { attempt, user };
  await settle(db, attempt, 'failed', {
    ...failed,
    ...(user ? { userName: user.userName, userId: String(user.userId) } : { userId: null }),
  });
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
  { address, browser = false }: { address: string; browser?: boolean },
): Promise<IssuedTokens> {
  const { tenantId, sessionId, secret } = splitRefreshToken(refreshToken);
  const { config } = deps;
  const rotate = async (tx: Tx) => {
    const session = await lockSession(tx, { tenantId, sessionId }, config, REUSE_SECONDS);
    if (!session) return undefined;
    const reissued = browser ? successorOf(session, secret) : undefined;
    if (session.expired || !(reissued || isHashOf(session.refreshHash, secret))) {
      await deleteSession(tx, tenantId, sessionId);
      return undefined;
    }
    const userId = String(session.userId);
    const user = await findLoginUser(tx, tenantId, { id: userId });
    if (!user) return undefined;
    assertActive({ ...user, tenantState: await readTenantState(tx, tenantId) });
    const { mustChangePassword } = user;
    if (reissued) return { userId, mustChangePassword, next: reissued, seconds: session.secondsLeft };
    const nextSalt = browser ? createSalt() : null;
    const next = nextSalt ? deriveNextSecret(secret, nextSalt) : createRefreshSecret();
    const previousHash = browser ? hashSecret(secret) : null;
    const rotated = { refreshHash: hashSecret(next), previousHash, nextSalt };
    const seconds = await rotateSession(tx, { tenantId, sessionId }, config, rotated);
    return { userId, mustChangePassword, next, seconds };
  };
  const found = await writeInTenant(deps.db, tenantId, rotate, { anonymousAddress: address });
  // Throw only after the commit: otherwise the deletion of the session would be rolled back.
  if (!found) throw apiError('REFRESH_REFUSED');
  const issued = await issueTokens(deps, { tenantId, userId: found.userId, sessionId }, found.next, found.seconds);
  return withNotice(issued, found.mustChangePassword);
}

/** The secret that replaced this one a moment ago. */
function successorOf({ previousHash, nextSalt }: SessionRow, secret: string): string | undefined {
  return previousHash && nextSalt && isHashOf(previousHash, secret) ? deriveNextSecret(secret, nextSalt) : undefined;
}

const isHashOf = (hash: Buffer, secret: string) => timingSafeEqual(hash, hashSecret(secret));

/** New tokens, and the seconds until their session expires unless it is refreshed. */
export interface IssuedTokens {
  tokens: Tokens & Required<Pick<Tokens, 'refresh_token'>>;
  seconds: number;
}

async function issueTokens(
  deps: AuthDependencies,
  token: { tenantId: string; userId: string; sessionId: string },
  secret: string,
  seconds: number,
): Promise<IssuedTokens> {
  // An access token does not outlive its session.
  const accessSeconds = Math.min(deps.config.accessTokenSeconds, seconds);
  const tokens = {
    access_token: await signAccessToken(deps, token, accessSeconds),
    token_type: 'Bearer' as const,
    expires_in: accessSeconds,
    refresh_token: joinRefreshToken(token.tenantId, token.sessionId, secret),
  };
  return { tokens, seconds };
}

/** Tells the client that the user must change their password, so that it need not find out from an error. */
const withNotice = ({ tokens, seconds }: IssuedTokens, mustChangePassword: boolean): IssuedTokens => ({
  tokens: mustChangePassword ? { ...tokens, mustChangePassword } : tokens,
  seconds,
});

/** Ends a session by its refresh token, even if the access token has expired or the user or tenant is disabled. */
export async function endSessionByRefreshToken(
  { db, config }: AuthDependencies,
  refreshToken: string,
  address: string,
): Promise<void> {
  const { tenantId, sessionId, secret } = splitRefreshToken(refreshToken);
  const end = async (tx: Tx) => {
    const session = await lockSession(tx, { tenantId, sessionId }, config, REUSE_SECONDS);
    if (!session || !(isHashOf(session.refreshHash, secret) || successorOf(session, secret))) return;
    await deleteSession(tx, tenantId, sessionId);
  };
  await writeInTenant(db, tenantId, end, { anonymousAddress: address });
}

export async function logOut(tx: Tx, caller: Caller, { everywhere = false }: LogoutQuery): Promise<void> {
  const user = asUser(caller);
  if (everywhere) await endAndRecordSessions(tx, caller, user);
  else await deleteSession(tx, user.tenantId, user.sessionId);
}
