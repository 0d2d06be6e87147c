import { useQueries, useQuery } from '@tanstack/react-query';
import { api, type TenantNode } from '../api.ts';
import { isApiError } from '../http.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { createBatchLoader } from './batch-loader.ts';

/** Names of records that rows of lists refer to. Rows that are rendered together share one request for each tenant. */

const loadDepartment = createBatchLoader(
  async (ids, tenantId) => (await api.readDepartments(ids, undefined, { tenantId })).data.rows,
  ({ deptId }) => deptId,
);

const loadUser = createBatchLoader(
  async (ids, tenantId) => (await api.readUsers(ids, undefined, { tenantId })).data.rows,
  ({ userId }) => userId,
);

/** Names change rarely, and live updates invalidate them. */
const NAMES_STALE_MS = 60_000;

const unique = (ids: readonly number[]) => [...new Set(ids)].sort((a, b) => a - b);

/** Departments by their ids. Unknown ids are missing. Without `tenantId`, they belong to the current tenant. */
export function useDepartmentsById(ids: readonly number[], tenantId?: string) {
  return useQueries({
    queries: unique(ids).map((id) => ({
      queryKey: queryKeys.departments.named(id, tenantId),
      queryFn: () => loadDepartment(id, tenantId),
    })),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
}

export function useDepartmentNames(ids: readonly number[], tenantId?: string): Map<number, string> {
  const isReadable = useIsReadable(ids.length > 0 ? tenantId : undefined);
  const rows = useDepartmentsById(isReadable ? ids : [], tenantId);
  return new Map(rows.map(({ deptId, deptName }) => [deptId, deptName]));
}

/** The names of users by id, for display. Deleted users are missing. */
export function useUserNames(ids: readonly number[], tenantId?: string): Map<number, string> {
  const isReadable = useIsReadable(ids.length > 0 ? tenantId : undefined);
  const rows = useQueries({
    queries: unique(isReadable ? ids : []).map((id) => ({
      queryKey: queryKeys.users.detail(id, tenantId, 'named'),
      queryFn: () => loadUser(id, tenantId),
      staleTime: NAMES_STALE_MS,
    })),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
  return new Map(rows.map(({ userId, nickName, userName }) => [userId, nickName || userName]));
}

type NamedTenant = Pick<TenantNode, 'id' | 'tenantId' | 'tenantName'>;

/**
 * Returns tenants by code: the current one and those below it; others are missing. One request reads up to 10,000 tenants; if
 * there are more, each code is read on its own. Nothing is read unless one of the codes belongs to another tenant.
 */
export function useTenantsByCode(codes: readonly (string | null)[]): ReadonlyMap<string, NamedTenant> {
  const own = useMe().tenant;
  const otherCodes = [...new Set(codes)].flatMap((code) => (code && code !== own.tenantId ? [code] : []));
  const { data: tree } = useQuery({
    queryKey: queryKeys.tenants.byCode,
    queryFn: ({ signal }) => readTenants(signal),
    enabled: otherCodes.length > 0,
    staleTime: NAMES_STALE_MS,
    structuralSharing: false,
  });
  const rows = useQueries({
    queries: (tree === 'too large' ? otherCodes : []).map((tenantId) => ({
      queryKey: queryKeys.tenants.list({ tenantId }),
      queryFn: ({ signal }: { signal: AbortSignal }) => api.listTenants({ tenantId }, signal),
      staleTime: NAMES_STALE_MS,
    })),
    combine: (results) => results.flatMap(({ data }) => data?.data.rows ?? []),
  });
  if (tree === 'too large') return new Map([own, ...rows].map((tenant) => [tenant.tenantId, tenant]));
  return tree ?? NO_TENANTS;
}

async function readTenants(signal: AbortSignal): Promise<ReadonlyMap<string, NamedTenant> | 'too large'> {
  const tenants = new Map<string, NamedTenant>();
  const add = (node: TenantNode) => {
    tenants.set(node.tenantId, node);
    node.children.forEach(add);
  };
  try {
    add((await api.readTenantTree({}, signal)).data);
  } catch (error) {
    if (isApiError(error, 'TENANT_TREE_TOO_LARGE')) return 'too large';
    throw error;
  }
  return tenants;
}

/**
 * Whether records of the tenant can be read: those of tenants above the current one cannot. Undefined is the current one. All
 * rows wait for the list of tenants, so that each tenant gets one request.
 */
export function useIsReadable(tenantId: string | undefined): boolean {
  const ownTenantId = useMe().tenant.tenantId;
  const tenants = useTenantsByCode([tenantId ?? null]);
  return tenantId === undefined || tenantId === ownTenantId || tenants.has(tenantId);
}

const NO_TENANTS: ReadonlyMap<string, NamedTenant> = new Map();
