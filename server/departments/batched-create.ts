import type { FastifyRequest } from 'fastify';
import { createBatcher, type PendingItem } from '../../db/batcher.ts';
import { errorCode } from '../../db/errors.ts';
import { isDeadlineExceeded, type RequestOrigin, writeInTenant } from '../../db/tenant-scope.ts';
import { commitWith } from '../../db/transaction.ts';
import { namesOtherTenant, type TenantRequest, writeInRequestedTenant } from '../access/requested-tenant.ts';
import { loadCallers, originOf } from '../auth/caller.ts';
import type { Credentials } from '../auth/credentials.ts';
import type { Dependencies } from '../context.ts';
import { ApiError, apiError } from '../http/errors.ts';
import { lockParents } from './levels.ts';
import { createDepartment, createDepartments, toParentId } from './rules.ts';
import type { DeptInput } from './schema.ts';

type CreateRequest = TenantRequest & FastifyRequest<{ Body: DeptInput }>;

/** 'alone': the department has to be created in a transaction of its own. */
type Item = PendingItem<
  { token: Credentials; origin: RequestOrigin; input: DeptInput; requestedAt: number },
  number | 'alone'
>;

/** How many departments one transaction creates. While other tenants are active, they must not wait long for it. */
const BATCH_SIZES = { onlyActiveTenant: 100, otherTenantsActive: 5 };

/**
 * Creates departments. Concurrent requests of a tenant share a transaction, and so one disk flush. Each succeeds or
 * fails on its own, and gets its response after the commit. A request with an Idempotency-Key, one for a descendant tenant, one
 * with a `leaderId` or an external id, or one whose parent is locked by another transaction runs in a transaction of its own.
 */
export function createDepartmentCreator({
  db,
  config: { departmentLevels: maxLevels },
  timing: { responseMs },
  metrics,
}: Pick<Dependencies, 'db' | 'config' | 'timing' | 'metrics'>): (request: CreateRequest) => Promise<number> {
  async function run(tenantId: string, batch: Item[]): Promise<void> {
    const outcomes = await createInOneTransaction(tenantId, batch).catch((error) => {
      // The data of one item is invalid; the others must not fail with it.
      if (/^2[23]/.test(errorCode(error))) return batch.map(() => 'alone' as const);
      throw error;
    });
    for (const [n, { resolve, reject }] of batch.entries()) {
      const outcome = outcomes[n] as number | ApiError | 'alone';
      if (outcome instanceof ApiError) reject(outcome);
      else resolve(outcome);
    }
  }

  const createInOneTransaction = (tenantId: string, batch: Item[]) =>
    writeInTenant(db, tenantId, async (tx) => {
      const tokens = batch.map(({ request }) => request.token);
      const parentIds = batch.map(({ request }) => toParentId(request.input.parentId ?? 0));
      // Both are sent in one round trip, so even a caller who may not create departments briefly locks the parent.
      const [loaded, parents] = await Promise.all([
        loadCallers(tx, tenantId, tokens, 'dept:write'),
        lockParents(tx, tenantId, parentIds, { wait: false }),
      ]);
      const callers = loaded.map((caller, n) =>
        isDeadlineExceeded(batch[n]?.request.requestedAt ?? 0, responseMs) ? apiError('TOO_BUSY') : caller,
      );
      const allowed = batch.flatMap(({ request: { input, origin } }, n) => {
        const caller = callers[n];
        return caller && !(caller instanceof ApiError) ? [{ caller, input, origin }] : [];
      });
      const created = await createDepartments(tx, tenantId, allowed, {
        wait: false,
        parents,
        maxLevels,
        send: (insert) => commitWith(tx, insert),
      });
      return callers.map((caller) =>
        caller instanceof ApiError ? caller : (created.shift() as (typeof created)[number]),
      );
    });

  // A transaction mostly waits for the disk, so several run concurrently. One slot of the tenant is left for other writes.
  const maxInFlight = Math.max(1, db.writes.perTenant - 1);
  const maxBatchSize = (tenantId: string) =>
    db.activeTenants.areOthersActive(tenantId) ? BATCH_SIZES.otherTenantsActive : BATCH_SIZES.onlyActiveTenant;
  const createInBatch = createBatcher(run, {
    maxInFlight,
    maxBatchSize,
    onBatch: metrics?.batchObserver('department_create'),
  });
  return async (request) => {
    const requestedAt = performance.now();
    const { token, body: input, headers } = request;
    // A creation with an external id waits for a long import that has inserted the same one, and others must not wait with it.
    const runsAlone =
      headers['idempotency-key'] !== undefined ||
      namesOtherTenant(request) ||
      input.leaderId != null ||
      input.externalId != null;
    const created = runsAlone
      ? 'alone'
      : await createInBatch(token.tenantId, { token, input, origin: originOf(request), requestedAt });
    if (created !== 'alone') return created;
    return writeInRequestedTenant(
      db,
      request,
      (tx, caller) => createDepartment(tx, caller, input, { maxLevels }),
      requestedAt,
    );
  };
}
