import type { FastifyRequest } from 'fastify';
import type { Tx } from '../../db/driver.ts';
import { assumeTenant } from '../access/tenant-scope.ts';
import { verifyAccessToken } from '../auth/access-tokens.ts';
import type { KeyReader } from '../auth/api-keys.ts';
import { type Caller, loadTokenSubject, readAs } from '../auth/caller.ts';
import type { TokenSubject } from '../auth/credentials.ts';
import { isKey } from '../auth/key-format.ts';
import type { AuthDependencies } from '../auth/login.ts';
import { findSessionOf } from '../auth/sessions.ts';
import { splitRefreshToken } from '../auth/tokens.ts';
import { ApiError, apiError } from '../http/errors.ts';
import type { Introspection } from './schema.ts';

/** A token to introspect, as far as it can be parsed without reading the data of its tenant. */
type IntrospectedToken =
  | { tenantId: string; subject: TokenSubject; claims: Introspection }
  | { tenantId: string; refreshToken: { tenantId: string; sessionId: string; secret: string } };

const INACTIVE: Introspection = { active: false };

/**
 * Tells a program whether a token is valid at this moment, and for whom (RFC 7662). Tokens of tenants outside the
 * caller's subtree are reported like unknown ones.
 */
export async function introspect(
  deps: AuthDependencies & { apiKeys: KeyReader },
  request: FastifyRequest,
  token: string,
): Promise<Introspection> {
  // Before the transaction: an unknown signing key makes this wait, and it must not hold a connection meanwhile.
  const introspected = await ifValid(identify(deps, token, request.ip));
  return readAs(deps.db, request, async (tx, caller) => {
    // People see their own sessions; only programs have to ask about the tokens of others.
    if (caller.keyId === undefined) throw apiError('NOT_ALLOWED');
    return (introspected && (await ifValid(describe(tx, caller, introspected)))) ?? INACTIVE;
  });
}

async function ifValid<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    // The service itself may fail too, and then nothing is known about the token.
    if (error instanceof ApiError && error.status < 500 && error.status !== 429) return undefined;
    throw error;
  }
}

async function identify(
  deps: AuthDependencies & { apiKeys: KeyReader },
  token: string,
  address: string,
): Promise<IntrospectedToken> {
  if (isKey(token)) {
    const { tenantId, keyId, secretId } = await deps.apiKeys.find(token, address);
    const claims = { active: true, token_type: 'Bearer' };
    return { tenantId, subject: { tenantId, keyId, secretId }, claims };
  }
  if (/^\d+\./.test(token)) {
    const refreshToken = splitRefreshToken(token);
    return { tenantId: refreshToken.tenantId, refreshToken };
  }
  const { subject, claims } = await verifyAccessToken(deps, token);
  const { iss, aud, exp, iat, jti } = claims as Required<typeof claims>;
  return {
    tenantId: subject.tenantId,
    subject,
    claims: { active: true, token_type: 'Bearer', exp, iat, iss, aud: String(aud), jti },
  };
}

/** Describes a token of the caller's tenant or of one below it. Throws if the token is of another tenant or no longer valid. */
async function describe(tx: Tx, caller: Caller, introspected: IntrospectedToken): Promise<Introspection> {
  await assumeTenant(tx, caller, introspected.tenantId);
  if (!('refreshToken' in introspected))
    return { ...introspected.claims, ...(await describeSubject(tx, introspected.subject)) };
  const { userId, expires } = await findSessionOf(tx, introspected.refreshToken);
  const { tenantId, sessionId } = introspected.refreshToken;
  return { active: true, exp: expires, ...(await describeSubject(tx, { tenantId, userId, sessionId })) };
}

async function describeSubject(tx: Tx, subject: TokenSubject) {
  const { permissions, userName } = await loadTokenSubject(tx, subject);
  const common = { tenant_id: subject.tenantId, scope: [...permissions].join(' ') };
  return subject.keyId === undefined
    ? { sub: subject.userId, username: userName, ...common }
    : { sub: subject.keyId, client_id: subject.keyId, ...common };
}
