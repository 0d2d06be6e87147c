import { timingSafeEqual } from 'node:crypto';
import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/sql.ts';
import { readInTenant, writeInTenant } from '../../db/tenancy.ts';
import type { Config } from '../config.ts';
import { refuse } from '../http/refusals.ts';
import { readOwnTenant } from '../tenants/tenants.ts';
import { findLogin, keyOf, readOwnUser, setPassword } from '../users/users.ts';
import { type Caller, refuseShutOut } from './caller.ts';
import { type Attempt, inLane, refuseGuessing, rememberFailure, rememberSuccess } from './guesses.ts';
import type { Keyring } from './keys.ts';
import { hashPassword, isPassword } from './passwords.ts';
import {
  deleteExpiredSessions,
  deleteSession,
  insertSession,
  lockSession,
  readStanding,
  rotateSession,
} from './queries.ts';
import type { Login, Me, PasswordChange, Tokens } from './schema.ts';
import { endSessionsOf } from './sessions.ts';
import { hashSecret, joinRefreshToken, makeRefreshSecret, signAccessToken, splitRefreshToken } from './tokens.ts';

/** What every login needs. */
export interface AuthParts {
  db: Database;
  keys: Keyring;
  config: Config;
}

/** Wrong tenant, user and password answer alike and take alike long; only who knows the password learns more. */
export function logIn(parts: AuthParts, address: string, { tenantId, username, password }: Login): Promise<Tokens> {
  const { db, config } = parts;
  const attempt: Attempt = { tenantId, userKey: keyOf(username), address };
  return inLane(attempt, async () => {
    const user = await readInTenant(db, tenantId, async (tx) => {
      await refuseGuessing(tx, attempt);
      return findLogin(tx, tenantId, { key: attempt.userKey });
    });
    const right = await isPassword(user?.passwordHash, password);
    if (!user || !right) {
      await rememberFailure(db, attempt);
      throw refuse('LOGIN_FAILED');
    }
    const secret = makeRefreshSecret();
    const userId = String(user.userId);
    const sessionId = await writeInTenant(db, tenantId, async (tx) => {
      const tenantStanding = await readStanding(tx, tenantId);
      // A deleted tenant is as if it had never been.
      if (tenantStanding === 'deleted') return undefined;
      refuseShutOut({ ...user, tenantStanding });
      await rememberSuccess(tx, attempt);
      await deleteExpiredSessions(tx, tenantId, userId);
      const refreshHash = hashSecret(secret);
      return insertSession(tx, { tenantId, userId, refreshHash, address, seconds: config.refreshTokenSeconds });
    });
    if (!sessionId) throw refuse('LOGIN_FAILED');
    return giveTokens(parts, { tenantId, userId, sessionId }, secret);
  });
}

/** Each refresh token is good once. An old one that comes again may be stolen, so its session ends. */
export async function refresh(parts: AuthParts, refreshToken: string): Promise<Tokens> {
  const { tenantId, sessionId, secret } = splitRefreshToken(refreshToken);
  const next = makeRefreshSecret();
  // The end of a session must be kept, so the refusal is thrown only after this has been committed.
  const userId = await writeInTenant(parts.db, tenantId, async (tx) => {
    const session = await lockSession(tx, tenantId, sessionId);
    if (!session) return undefined;
    if (session.expired || !timingSafeEqual(session.refreshHash, hashSecret(secret))) {
      await deleteSession(tx, tenantId, sessionId);
      return undefined;
    }
    const userId = String(session.userId);
    const user = await findLogin(tx, tenantId, { id: userId });
    if (!user) return undefined;
    refuseShutOut({ ...user, tenantStanding: await readStanding(tx, tenantId) });
    await rotateSession(tx, tenantId, sessionId, hashSecret(next), parts.config.refreshTokenSeconds);
    return userId;
  });
  if (!userId) throw refuse('REFRESH_REFUSED');
  return giveTokens(parts, { tenantId, userId, sessionId }, next);
}

async function giveTokens(
  { keys, config }: AuthParts,
  token: { tenantId: string; userId: string; sessionId: string },
  secret: string,
): Promise<Tokens> {
  return {
    access_token: await signAccessToken(keys, token, config.accessTokenSeconds),
    token_type: 'Bearer',
    expires_in: config.accessTokenSeconds,
    refresh_token: joinRefreshToken(token.tenantId, token.sessionId, secret),
  };
}

export const logOut = (tx: Tx, caller: Caller) => deleteSession(tx, caller.tenantId, caller.sessionId);

export async function readMe(tx: Tx, caller: Caller): Promise<Me> {
  const [user, tenant] = await Promise.all([readOwnUser(tx, caller), readOwnTenant(tx, caller)]);
  return { user, roles: user.roles, tenant };
}

/** Guarded like a login: a stolen token must not be enough to find the password. Gives the hash of the new one. */
export function checkPasswordChange(
  db: Database,
  { tenantId, userId, userName }: Caller,
  address: string,
  { oldPassword, newPassword }: PasswordChange,
): Promise<string> {
  const attempt: Attempt = { tenantId, userKey: keyOf(userName), address };
  return inLane(attempt, async () => {
    const user = await readInTenant(db, tenantId, async (tx) => {
      await refuseGuessing(tx, attempt);
      return findLogin(tx, tenantId, { id: userId });
    });
    if (!(await isPassword(user?.passwordHash, oldPassword))) {
      await rememberFailure(db, attempt);
      throw refuse('WRONG_PASSWORD');
    }
    return hashPassword(newPassword);
  });
}

export async function changePassword(tx: Tx, caller: Caller, passwordHash: string): Promise<void> {
  await setPassword(tx, caller, passwordHash);
  // Whoever may have known the old one is out; he who changed it stays.
  await endSessionsOf(tx, caller.tenantId, [caller.userId], caller.sessionId);
}
