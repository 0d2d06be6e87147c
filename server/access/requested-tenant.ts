import type { FastifyRequest } from 'fastify';
import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/driver.ts';
import { type Caller, readAs, writeAs } from '../auth/caller.ts';
import { assumeTenant, assumeTenantForWrite } from './tenant-scope.ts';

/** A request whose query may name the tenant that the caller acts in. */
export type TenantRequest = FastifyRequest<{ Querystring: { tenantId?: string } }>;

/** Whether the request names a tenant other than the caller's own. Whether they have access to it is not known yet. */
export const namesOtherTenant = ({ query, token }: TenantRequest): boolean =>
  query.tenantId !== undefined && query.tenantId !== token.tenantId;

/** Runs a read in the tenant that `?tenantId=` names: the caller's own or a descendant of it. `caller.tenantId` is that tenant. */
export const readInRequestedTenant = <T>(
  db: Database,
  request: TenantRequest,
  work: (tx: Tx, caller: Caller) => Promise<T>,
): Promise<T> =>
  readAs(db, request, async (tx, caller) =>
    work(tx, { ...caller, tenantId: await assumeTenant(tx, caller, request.query.tenantId) }),
  );

/** The same for a write. A descendant is locked, so that it cannot leave the caller's scope before the commit. */
export const writeInRequestedTenant = <T>(
  db: Database,
  request: TenantRequest,
  work: (tx: Tx, caller: Caller) => Promise<T>,
  startedAt?: number,
): Promise<T> =>
  writeAs(
    db,
    request,
    async (tx, caller) => {
      if (!namesOtherTenant(request)) return work(tx, caller);
      const { tenantId } = await assumeTenantForWrite(tx, caller, request.query.tenantId);
      return work(tx, { ...caller, tenantId });
    },
    startedAt,
  );
