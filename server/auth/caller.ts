import type { FastifyRequest } from 'fastify';
import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/sql.ts';
import { isGivenUp, type Origin, readInTenant, TooLate, writeInTenant } from '../../db/tenancy.ts';
import { deadlineOf } from '../http/deadline.ts';
import { Refusal, refuse } from '../http/refusals.ts';
import { once, type Repeatable, recall, repeatableOf, type WorkDone } from './idempotency.ts';
import { type CallerRow, readCallers, type Standing } from './queries.ts';
import type { GivenToken, Token } from './tokens.ts';

/** Who is calling, as the database knows him at this moment. */
export interface Caller extends Token {
  userName: string;
  administrator: boolean;
}

export type { CallerRow };

export type Who = 'user' | 'administrator';

type Work<T> = (tx: Tx, caller: Caller) => Promise<T>;

/**
 * An operation: one transaction in the caller's tenant. Who he is and whether he may is read inside it, so a user or
 * tenant that was shut out a moment ago gets no further, and no rule runs without a caller.
 */
export const readAs = <T>(db: Database, { token }: FastifyRequest, who: Who, work: Work<T>): Promise<T> =>
  readInTenant(db, token.tenantId, async (tx) => work(tx, await nameCaller(tx, token, who)));

/** A read that has something to write down beside it; not repeated by a key. */
export const readInWrite = <T>(db: Database, { token }: FastifyRequest, who: Who, work: Work<T>): Promise<T> =>
  writeInTenant(db, token.tenantId, async (tx) => work(tx, await nameCaller(tx, token, who)));

/** The same for writing; done once, however often it is repeated with the same Idempotency-Key. */
export const writeAs = async <T>(
  db: Database,
  request: FastifyRequest,
  who: Who,
  work: Work<T>,
  asked = performance.now(),
): Promise<T> => write(db, request, who, { asked, repeatable: await repeatableOf(request) }, work);

/**
 * The same with slow work to do before: hashing, which must not hold a transaction and its locks meanwhile. It is done
 * only for who may, and not for a request that was answered already.
 */
export async function writeAfter<P, T>(
  db: Database,
  request: FastifyRequest,
  who: Who,
  prepare: (caller: Caller) => Promise<P>,
  work: (tx: Tx, caller: Caller, prepared: P) => Promise<T>,
): Promise<T> {
  const asked = performance.now();
  const repeatable = await repeatableOf(request);
  const { caller, kept } = await readAs(db, request, who, async (tx, caller) => ({
    caller,
    kept: repeatable && (await recall<T>(tx, caller, repeatable)),
  }));
  if (kept) return told({ ...kept, replayed: true }, request);
  const prepared = await prepare(caller);
  return write(db, request, who, { asked, repeatable }, (tx, caller) => work(tx, caller, prepared));
}

async function write<T>(
  db: Database,
  request: FastifyRequest,
  who: Who,
  { asked, repeatable }: { asked: number; repeatable: Repeatable | undefined },
  work: Work<T>,
): Promise<T> {
  const { token } = request;
  const inTenant = <R>(story: (tx: Tx) => Promise<R>) => {
    const inTime = async (tx: Tx) => {
      const result = await story(tx);
      if (isGivenUp(asked, deadlineOf(request))) throw new TooLate();
      return result;
    };
    return writeInTenant(db, token.tenantId, inTime, { record: recordOf(request), origin: originOf(request) });
  };
  if (!repeatable) return inTenant(async (tx) => work(tx, await nameCaller(tx, token, who)));
  // A refusal is kept as well, so it is thrown only after the transaction.
  const outcome = await inTenant(async (tx) => {
    const caller = await nameCaller(tx, token, who);
    return once(tx, token, repeatable, (inner) => work(inner, caller));
  });
  return told(outcome, request);
}

export const originOf = ({ token, ip, id }: FastifyRequest): Origin => ({
  tenantId: token.tenantId,
  userId: token.userId,
  address: ip,
  requestId: id,
});

/** The one thing that a request changes, if it names one: in its path, or in the body of an update. */
function recordOf({ method, url, params, body }: FastifyRequest): string | undefined {
  if (method === 'POST') return undefined;
  const { userId, deptId, id } = { ...(body as object), ...(params as object) } as Record<string, unknown>;
  const path = url.split('/', 3).join('/').split('?')[0];
  // However it is spelled.
  return `${path} ${String(userId ?? deptId ?? id).replace(/^0+(?=\d)/, '')}`;
}

function told<T>(outcome: WorkDone<T> & { replayed: boolean }, request: FastifyRequest): T {
  request.replayed = outcome.replayed;
  if ('refusal' in outcome) throw outcome.refusal;
  return outcome.result;
}

async function nameCaller(tx: Tx, token: Token, who: Who): Promise<Caller> {
  const [row] = await readCallers(tx, token.tenantId, [token]);
  return named(row, token, who);
}

function named(row: CallerRow | undefined, token: Token, who: Who): Caller {
  if (!row || row.userName === null) throw refuse('SESSION_ENDED');
  refuseShutOut(row);
  if (!row.sessionLives) throw refuse('SESSION_ENDED');
  if (who === 'administrator' && !row.administrator) throw refuse('NOT_ALLOWED');
  return { ...token, userName: row.userName, administrator: row.administrator };
}

/** The same for several of one tenant at once; the refusal in the place of who may not. */
export async function nameCallers(tx: Tx, tenantId: string, tokens: Token[], who: Who): Promise<(Caller | Refusal)[]> {
  const rows = await readCallers(tx, tenantId, tokens);
  return tokens.map((token, n) => callerOr(rows[n], token, who));
}

/** For who reads callers in a statement of his own. */
export function callerOr(row: CallerRow | undefined, token: Token, who: Who): Caller | Refusal {
  try {
    return named(row, token, who);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** For who holds the right token or password: says which of user and tenant is shut out. */
export function refuseShutOut(row: Pick<CallerRow, 'status' | 'delFlag' | 'tenantStanding'>): void {
  if (row.delFlag !== '0') throw refuse('USER_DELETED');
  if (row.status !== '0') throw refuse('USER_DISABLED');
  refuseTenantShutOut(row.tenantStanding);
}

function refuseTenantShutOut(standing: Standing): void {
  switch (standing) {
    case 'in service':
      return;
    case 'disabled':
      throw refuse('TENANT_DISABLED');
    case 'not started':
      throw refuse('TENANT_NOT_STARTED');
    case 'ended':
      throw refuse('TENANT_ENDED');
    default:
      throw refuse('TENANT_DELETED');
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a guarded operation: what the access token says. */
    token: GivenToken;
    /** Told again from what an earlier request with the same Idempotency-Key came to. */
    replayed: boolean;
  }
}
