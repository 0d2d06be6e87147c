import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/driver.ts';
import { DeadlineExceededError } from '../../db/errors.ts';
import { isDeadlineExceeded, type RequestOrigin, readInTenant, writeInTenant } from '../../db/tenant-scope.ts';
import type { App } from '../context.ts';
import { addressKey, isInNetworks } from '../http/address.ts';
import { deadlineOf } from '../http/deadline.ts';
import { ApiError, apiError } from '../http/errors.ts';
import {
  findOutcome,
  type KeyedRequest,
  keyedRequestOf,
  matchOutcome,
  needsSlowHash,
  type Outcome,
  runOnce,
} from '../idempotency/idempotency.ts';
import type {
  ApiKeyCredentials,
  ApiKeyIdentity,
  Credentials,
  SessionIdentity,
  TokenSubject,
  VerifiedToken,
} from './credentials.ts';
import { type FairnessKey, fairnessKeyOfTenant } from './fair-queue.ts';
import { isPermission, type Permission, permissionsOfKey, permissionsOfUser, type Requirement } from './permissions.ts';
import { type CallerRow, callerIds, type KeyRow, readCallers } from './queries.ts';
import type { TenantState } from './tenant-state.ts';

/** The user or API key that is calling, as the database knows them at this moment, or the operator of the service. */
export type Caller = CallerRights &
  (
    | SessionIdentity
    | Pick<ApiKeyCredentials, 'tenantId' | 'keyId' | 'userId' | 'sessionId'>
    | Record<'userId' | 'keyId' | 'sessionId', undefined>
  );

interface CallerRights {
  /** The tenant that the caller acts in: their own, or one below it (access/requested-tenant.ts). */
  tenantId: string;
  /** The tenant that the caller belongs to. */
  ownTenantId: string;
  /** The name in `createBy`, `updateBy` and the ledger: that of the user or operator, or the id and name of the key. */
  userName: string;
  permissions: ReadonlySet<Permission>;
  /** Whether the caller may act in the descendants of their tenant. */
  canActInDescendants: boolean;
}

export { type CallerRow, callerIds };

/**
 * The operator, who runs a command with access to the database, as an administrator of a tenant. `name` is what the ledger
 * records; with a space in it, it cannot be mistaken for a user name.
 */
export const operatorOf = (tenantId: string, name: `${string} ${string}`): Caller => ({
  ...{ tenantId, ownTenantId: tenantId, userName: name, canActInDescendants: true },
  ...{ userId: undefined, keyId: undefined, sessionId: undefined },
  permissions: permissionsOfUser({ administrator: true }),
});

export type Work<T> = (tx: Tx, caller: Caller) => Promise<T>;

/**
 * Runs a read in one transaction in the caller's tenant. The caller and their permissions are loaded inside it, so a user or
 * tenant that has just been disabled is rejected, and no rule runs without a caller.
 */
export const readAs = <T>(db: Database, request: FastifyRequest, work: Work<T>): Promise<T> =>
  readInTenant(db, request.token.tenantId, async (tx) => work(tx, await loadCaller(tx, request)));

/** The same for a write. With an Idempotency-Key it runs once, however often the request is repeated. */
export const writeAs = async <T>(
  db: Database,
  request: FastifyRequest,
  work: Work<T>,
  startedAt = performance.now(),
): Promise<T> => {
  // Check the session and the permission before any slow work.
  if (needsSlowHash(request)) await readAs(db, request, async () => {});
  return write(db, request, { startedAt, keyed: await readIdempotencyKey(request) }, work);
};

/**
 * The same with slow work before the transaction: hashing must not hold locks. `prepare` runs only for a caller with the
 * required permission, and not for a request whose outcome is stored already.
 */
export async function prepareAndWrite<P, T>(
  db: Database,
  request: FastifyRequest,
  prepare: (caller: Caller) => Promise<P>,
  work: (tx: Tx, caller: Caller, prepared: P) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const { caller, stored } = await readAs(db, request, async (tx, caller) => ({
    caller,
    stored: await findOutcome(tx, request.token, request),
  }));
  const keyed = await readIdempotencyKey(request);
  if (stored && keyed) return unwrap({ ...matchOutcome<T>(stored, keyed), replayed: true }, request);
  const prepared = await prepare(caller);
  const writeStartedAt = request.routeOptions.config.hasLongPreparation ? performance.now() : startedAt;
  return write(db, request, { startedAt: writeStartedAt, keyed }, (tx, caller) => work(tx, caller, prepared));
}

export const readIdempotencyKey = (request: FastifyRequest): Promise<KeyedRequest | undefined> =>
  keyedRequestOf(request, request.token, (text, salt) =>
    request.server.passwords.hashWithSalt(text, salt, fairnessKeyOf(request)),
  );

/** The fairness key of the slow work of a request. */
export const fairnessKeyOf = ({ token, ip }: FastifyRequest): FairnessKey =>
  fairnessKeyOfTenant({ tenantId: token.tenantId, address: addressKey(ip ?? '') });

async function write<T>(
  db: Database,
  request: FastifyRequest,
  { startedAt, keyed }: { startedAt: number; keyed: KeyedRequest | undefined },
  work: Work<T>,
): Promise<T> {
  const { token } = request;
  const inTenant = <R>(run: (tx: Tx) => Promise<R>) => {
    const withinDeadline = async (tx: Tx) => {
      const result = await run(tx);
      if (isDeadlineExceeded(startedAt, deadlineOf(request))) throw new DeadlineExceededError();
      return result;
    };
    return writeInTenant(db, token.tenantId, withinDeadline, { record: recordOf(request), origin: originOf(request) });
  };
  if (!keyed) return inTenant(async (tx) => work(tx, await loadCaller(tx, request)));
  // An error is stored as well, so it is thrown only after the transaction.
  const outcome = await inTenant(async (tx) => {
    const caller = await loadCaller(tx, request);
    return runOnce(tx, token, keyed, (inner) => work(inner, caller));
  });
  return unwrap(outcome, request);
}

export const originOf = ({ token, ip, id }: FastifyRequest): RequestOrigin => ({
  tenantId: token.tenantId,
  userId: token.userId ?? null,
  keyId: token.keyId ?? null,
  address: ip,
  requestId: id,
});

/** Identifies the record that a request changes, by the id in its path or in the body of an update. */
function recordOf({ method, routeOptions, params, body, token }: FastifyRequest): string | undefined {
  // Use the path of the route: the path of the request can be written in many ways.
  const path = (routeOptions.url ?? '').split('/', 3).join('/');
  if (method === 'POST') {
    const { externalId } = { ...(body as object) } as Record<string, unknown>;
    // A creation may wait for an import that has inserted the same external id. All creations of single records with external
    // ids count as one record, so that waiting ones do not take all write slots of the tenant.
    return externalId == null ? undefined : `${path} with external id`;
  }
  // The caller's own account. Without the user, all password changes of a tenant would count as one record.
  if (path.startsWith('/auth/')) return `/auth ${token.userId}`;
  const { userId, deptId, keyId, id } = { ...(body as object) } as Record<string, unknown>;
  // The id in the path comes first: the body of a patch may name a department of the user.
  const inPath = (params as { id?: string } | undefined)?.id;
  // Ids may be written with leading zeros.
  return `${path} ${String(inPath ?? userId ?? deptId ?? keyId ?? id).replace(/^0+(?=\d)/, '')}`;
}

/** Returns the result of an operation or throws its error, and marks a response that is replayed. */
export function unwrap<T>(outcome: Outcome<T> & { replayed: boolean }, request: FastifyRequest): T {
  request.replayed = outcome.replayed;
  if ('error' in outcome) throw outcome.error;
  return outcome.result;
}

async function loadCaller(tx: Tx, request: FastifyRequest): Promise<Caller> {
  const { token } = request;
  const [row] = await readCallers(tx, token.tenantId, [token]);
  return checkCaller(row, token, request.routeOptions.config);
}

/** What an operation requires of its caller. */
type Requirements = Pick<FastifyContextConfig, 'requires' | 'allowsSelf'>;

function checkCaller(row: CallerRow | undefined, token: Credentials, requirements: Requirements): Caller {
  const { requires, allowsSelf } = requirements;
  if (requires === undefined) throw new Error('The operation does not state what it requires.');
  if (token.keyId !== undefined) return checkKeyCaller(row, token, requires);
  if (!row || row.userName === null) throw apiError('SESSION_ENDED');
  assertActive(row);
  if (!row.sessionExists) throw apiError('SESSION_ENDED');
  if (requires !== 'session' && row.mustChangePassword) throw apiError('PASSWORD_CHANGE_REQUIRED');
  const permissions = permissionsOfUser(row);
  if (isPermission(requires) && !permissions.has(requires) && !allowsSelf) throw apiError('NOT_ALLOWED');
  return {
    ...token,
    ownTenantId: token.tenantId,
    userName: row.userName,
    permissions,
    canActInDescendants: row.administrator,
  };
}

function checkKeyCaller(row: CallerRow | undefined, token: ApiKeyCredentials, requires: Requirement): Caller {
  const caller = toKeyCaller(assertKeyUsable(row, token), token);
  if (!isPermission(requires)) throw apiError('USERS_ONLY');
  if (!caller.permissions.has(requires)) throw apiError('NOT_ALLOWED');
  return caller;
}

/** Loads the key of a request that requires none of its permissions. */
export async function loadKey(tx: Tx, token: ApiKeyCredentials): Promise<Caller> {
  const [row] = await readCallers(tx, token.tenantId, [token]);
  return toKeyCaller(assertKeyUsable(row, token), token);
}

/**
 * Checks API keys that were refused before, in a transaction that uses the share of the client's address. So a flood of requests
 * with a refused key uses nothing of its tenant's share. If the key is accepted again, the request proceeds.
 */
export function checkRefusedKeys(app: App, db: Database): void {
  app.addHook('preHandler', (request, _reply, done) => {
    const { token, ip } = request;
    if (token.keyId === undefined || !token.refusalState.refused) return done();
    const check = (tx: Tx) => loadKey(tx, token);
    readInTenant(db, token.tenantId, check, { anonymousAddress: addressKey(ip ?? '') }).then(() => done(), done);
  });
}

/**
 * Loads the user or the API key that a token belongs to, for introspection by another caller. Throws unless they may use the
 * service. The address that the token is used from is not known here.
 */
export async function loadTokenSubject(tx: Tx, subject: TokenSubject): Promise<Caller> {
  const [row] = await readCallers(tx, subject.tenantId, [subject]);
  if (subject.keyId === undefined) return checkCaller(row, subject, { requires: 'self' });
  return toKeyCaller(assertKeyActive(row), subject);
}

function assertKeyActive(row: CallerRow | undefined): KeyRow {
  const key = row?.key;
  // The key has been deleted, or the grace period of this secret is over.
  if (!row || !key) throw apiError('INVALID_KEY');
  assertInService(row.tenantState);
  if (key.status !== '0') throw apiError('KEY_DISABLED');
  if (key.secondsLeft !== null && key.secondsLeft <= 0) throw apiError('KEY_EXPIRED');
  return key;
}

function assertKeyUsable(row: CallerRow | undefined, token: ApiKeyCredentials): KeyRow {
  const { known, refusalState } = token;
  known.accepted = false;
  refusalState.refused = true;
  const key = assertKeyActive(row);
  if (key.addresses && !isInNetworks(token.address, key.addresses)) throw apiError('KEY_ADDRESS_REFUSED');
  known.accepted = true;
  refusalState.refused = false;
  known.limit.requestsPerMinute = key.requestsPerMinute;
  known.expires = key.secondsLeft === null ? Number.POSITIVE_INFINITY : performance.now() + key.secondsLeft * 1000;
  return key;
}

function toKeyCaller(key: KeyRow, { tenantId, keyId, issued }: ApiKeyIdentity): Caller {
  const held = permissionsOfKey(key.permissions);
  const permissions = issued ? new Set([...held].filter((permission) => issued.scope.has(permission))) : held;
  // A user name has no spaces, so it cannot be mistaken for this.
  const userName = `key ${keyId}: ${key.keyName}`;
  return { tenantId, keyId, ownTenantId: tenantId, userName, permissions, canActInDescendants: key.below };
}

/** Returns the caller of an operation that only users may call. */
export function asUser(caller: Caller): Caller & SessionIdentity {
  if (caller.userId === undefined) throw apiError('USERS_ONLY');
  return caller;
}

/** Loads several callers of one tenant; an error takes the place of a caller who has no access. */
export async function loadCallers(
  tx: Tx,
  tenantId: string,
  tokens: Credentials[],
  requires: Requirement,
): Promise<(Caller | ApiError)[]> {
  const rows = await readCallers(tx, tenantId, tokens);
  return tokens.map((token, n) => toCaller(rows[n], token, requires));
}

/** The same for a row that another statement has read. */
export function toCaller(row: CallerRow | undefined, token: Credentials, requires: Requirement): Caller | ApiError {
  try {
    return checkCaller(row, token, { requires });
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/**
 * Throws unless the user is active and their tenant is in service. The errors reveal the state of an account, so this is
 * called only for callers with a valid token or password.
 */
export function assertActive(row: Pick<CallerRow, 'status' | 'delFlag' | 'tenantState'>): void {
  if (row.delFlag !== '0') throw apiError('USER_DELETED');
  if (row.status !== '0') throw apiError('USER_DISABLED');
  assertInService(row.tenantState);
}

function assertInService(state: TenantState): void {
  switch (state) {
    case 'in service':
      return;
    case 'disabled':
      throw apiError('TENANT_DISABLED');
    case 'not started':
      throw apiError('TENANT_NOT_STARTED');
    case 'ended':
      throw apiError('TENANT_ENDED');
    default:
      throw apiError('TENANT_DELETED');
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The content of the access token or the API key, in operations that require one. */
    token: VerifiedToken | ApiKeyCredentials;
    /** The response repeats the outcome of an earlier request with the same Idempotency-Key. */
    replayed: boolean;
  }
}
