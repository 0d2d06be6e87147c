import type { FastifyRequest } from 'fastify';
import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/sql.ts';
import { readInTenant, writeInTenant } from '../../db/tenancy.ts';
import { refuse } from '../http/refusals.ts';
import { type CallerRow, readCaller, type Standing } from './queries.ts';
import type { Token } from './tokens.ts';

/** Who is calling, as the database knows him at this moment. */
export interface Caller extends Token {
  userName: string;
  administrator: boolean;
}

export type Who = 'user' | 'administrator';

type Work<T> = (tx: Tx, caller: Caller) => Promise<T>;

/**
 * An operation: one transaction in the caller's tenant. Who he is and whether he may is read inside it, so a user or
 * tenant that was shut out a moment ago gets no further, and no rule runs without a caller.
 */
export const writeAs = <T>(db: Database, { token }: FastifyRequest, who: Who, work: Work<T>): Promise<T> =>
  writeInTenant(db, token.tenantId, async (tx) => work(tx, await nameCaller(tx, token, who)));

export const readAs = <T>(db: Database, { token }: FastifyRequest, who: Who, work: Work<T>): Promise<T> =>
  readInTenant(db, token.tenantId, async (tx) => work(tx, await nameCaller(tx, token, who)));

async function nameCaller(tx: Tx, token: Token, who: Who): Promise<Caller> {
  const [row] = await readCaller(tx, token);
  if (!row) throw refuse('SESSION_ENDED');
  refuseShutOut(row);
  if (!row.sessionLives) throw refuse('SESSION_ENDED');
  if (who === 'administrator' && !row.administrator) throw refuse('NOT_ALLOWED');
  return { ...token, userName: row.userName, administrator: row.administrator };
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
    token: Token;
  }
}
