import { createBatcher, type PendingItem } from '../../db/batcher.ts';
import type { Tx } from '../../db/driver.ts';
import { readInTenant } from '../../db/tenant-scope.ts';
import { namesOtherTenant, readInRequestedTenant, type TenantRequest } from '../access/requested-tenant.ts';
import { type CallerRow, callerIds, loadCallers, toCaller } from '../auth/caller.ts';
import type { Credentials } from '../auth/credentials.ts';
import type { Dependencies } from '../context.ts';
import { ApiError } from '../http/errors.ts';
import { ancestorsOf, createPathCache, type PathCache, TOP } from './path-cache.ts';
import { isDeleted, readWithCallers, readWithTreeVersion, showFound } from './queries.ts';
import type { Dept } from './schema.ts';

interface DeptRequest {
  deptId: string;
  includeDeleted: boolean;
}

/** Reads one department for the caller of a request; undefined: it does not exist. */
type DeptReader = (request: TenantRequest, dept: DeptRequest) => Promise<Dept | undefined>;

type Item = PendingItem<DeptRequest & { token: Credentials }, Dept | undefined>;

/** How many departments one statement reads. While other tenants are active, they must not wait long for it. */
const BATCH_SIZES = { onlyActiveTenant: 500, otherTenantsActive: 16 };

/**
 * Reads single departments, which is the most frequent call. Concurrent requests of a tenant share a statement, which also
 * loads each of the callers and their rights.
 */
export function createDepartmentReader({ db, metrics }: Pick<Dependencies, 'db' | 'metrics'>): DeptReader {
  const paths = createPathCache(db.connectionsOpened);
  metrics?.watchPathCache(paths);

  async function run(tenantId: string, batch: Item[]): Promise<void> {
    db.activeTenants.add(tenantId);
    const tokens = [...new Set(batch.map(({ request }) => request.token))];
    const deptIds = batch.map(({ request }) => request.deptId);
    const { callers, treeVersion, departments } = await db.use((sql) =>
      readWithCallers<CallerRow>(sql, tenantId, callerIds(tokens), deptIds),
    );
    const callerOf = new Map(tokens.map((token, n) => [token, toCaller(callers[n], token, 'dept:read')]));
    const cached = paths.cached(tenantId, treeVersion);
    const found = new Map(departments.map((row) => [row[0], row]));
    const uncached: Item[] = [];
    for (const item of batch) {
      const { request, resolve, reject } = item;
      const caller = callerOf.get(request.token);
      const row = found.get(Number(request.deptId));
      const ancestors = row && ancestorsOf(cached, row[1], row[2]);
      if (caller instanceof ApiError) reject(caller);
      else if (!row || (isDeleted(row) && !request.includeDeleted)) resolve(undefined);
      else if (ancestors === undefined) uncached.push(item);
      else {
        if (row[1] !== 0) paths.lookups.hits++;
        resolve(showFound(tenantId, ancestors, row));
      }
    }
    if (uncached.length > 0) await runUncached(tenantId, uncached);
  }

  /** Reads departments with their paths and the callers again, in one snapshot: a caller may have lost access by now. */
  async function runUncached(tenantId: string, batch: Item[]): Promise<void> {
    const requests = batch.map(({ request }) => request);
    const tokens = [...new Set(requests.map(({ token }) => token))];
    const [callers, found] = await readInTenant(db, tenantId, (tx) =>
      Promise.all([loadCallers(tx, tenantId, tokens, 'dept:read'), readWithPaths(tx, paths, tenantId, requests)]),
    );
    for (const [n, { request, resolve, reject }] of batch.entries()) {
      const caller = callers[tokens.indexOf(request.token)];
      if (caller instanceof ApiError) reject(caller);
      else resolve(found[n]);
    }
  }

  // While one batch is serialized, the next is read. More in flight would only make the batches smaller.
  const readInBatch = createBatcher(run, {
    maxInFlight: 2,
    maxBatchSize: (tenantId) =>
      db.activeTenants.areOthersActive(tenantId) ? BATCH_SIZES.otherTenantsActive : BATCH_SIZES.onlyActiveTenant,
    onBatch: metrics?.batchObserver('department_read'),
  });
  return (request, dept) => {
    const { token } = request;
    if (!namesOtherTenant(request)) return readInBatch(token.tenantId, { token, ...dept });
    return readInRequestedTenant(
      db,
      request,
      async (tx, { tenantId }) => (await readWithPaths(tx, paths, tenantId, [dept]))[0],
    );
  };
}

async function readWithPaths(
  tx: Tx,
  paths: PathCache,
  tenantId: string,
  requests: readonly DeptRequest[],
): Promise<(Dept | undefined)[]> {
  const rows = await readWithTreeVersion(tx, tenantId, [...new Set(requests.map(({ deptId }) => deptId))]);
  const [first] = rows;
  if (!first) return requests.map(() => undefined);
  const parents = rows.map(({ parentId }) => parentId).filter((parentId) => parentId !== 0);
  const pathOf = await paths.load(tx, tenantId, first.treeVersion, parents);
  const found = new Map<string, Dept>();
  for (const { treeVersion: _, ...dept } of rows) {
    dept.ancestors = dept.parentId === 0 ? TOP : (pathOf.get(dept.parentId) as string);
    found.set(String(dept.deptId), dept);
  }
  return requests.map(({ deptId, includeDeleted }) => {
    const dept = found.get(deptId);
    return dept?.delFlag === '0' || includeDeleted ? dept : undefined;
  });
}
