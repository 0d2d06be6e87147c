import type { Tx } from '../../db/driver.ts';
import { assumeTenant } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { etagOf, type Tagged } from '../http/etag.ts';
import { idOf, jsonId } from '../http/fields.ts';
import { toQuotas } from '../quotas/rules.ts';
import { readEntitlementRow, type Step } from './queries.ts';
import type { EntitlementFilter, Entitlements, OutOfService } from './schema.ts';

/** The maximum number of steps of all paths together; each step has a name of up to 100 characters. */
const MAX_STEPS = 20_000;

/**
 * Reads what a tenant and a user may use. Users read their own without any permission. API keys, and users who read another
 * tenant or user, need `tenant:read`; reading another user also requires `user:read`.
 */
export async function readEntitlements(
  tx: Tx,
  caller: Caller,
  { tenantId: requested, userId }: EntitlementFilter,
): Promise<Tagged<Entitlements>> {
  const isOwnTenant = requested === undefined || requested === caller.tenantId;
  const self = isOwnTenant ? caller.userId : undefined;
  const subject = userId === undefined ? self : idOf(userId);
  const isSelf = self !== undefined && subject === self;
  if (!isSelf && !caller.permissions.has('tenant:read')) throw apiError('NOT_ALLOWED');
  if (!isSelf && userId !== undefined && !caller.permissions.has('user:read')) throw apiError('NOT_ALLOWED');
  const tenantId = await assumeTenant(tx, caller, requested);
  const row = await readEntitlementRow(tx, tenantId, subject ?? null, MAX_STEPS + 1);
  if (!row) throw apiError('OTHER_TENANT');
  if (userId !== undefined && !row.user) throw apiError('USER_NOT_FOUND');
  if (row.steps.length > MAX_STEPS) throw apiError('PATHS_TOO_LONG', { steps: MAX_STEPS });
  const { state, ownState, menuIds, user, steps, quotas, ...tenant } = row;
  const data: Entitlements = {
    ...tenant,
    inService: state === 'in service',
    outOfService: state === 'in service' ? null : (REASONS[ownState] ?? 'above'),
    menuIds: menuIds.map(jsonId),
    quotas: toQuotas(quotas),
    user: user && { userId: user.userId, userName: user.userName, status: user.status },
    roles: user ? [user.administrator ? 'admin' : 'member'] : [],
    departments: toDepartments(steps),
  };
  return { data, etag: etagOf(data) };
}

const REASONS: Partial<Record<string, OutOfService>> = {
  disabled: 'disabled',
  'not started': 'notStarted',
  ended: 'ended',
};

/** Combines the steps, which are sorted from the top down, into departments. */
function toDepartments(steps: Step[]): Entitlements['departments'] {
  const departments = new Map<number, Entitlements['departments'][number]>();
  for (const { start, main, status, deptId, deptName } of steps) {
    const department = departments.get(start) ?? { deptId: start, deptName, main, status, path: [] };
    department.path.push({ deptId, deptName });
    // The last step is the department itself.
    department.deptName = deptName;
    departments.set(start, department);
  }
  return [...departments.values()];
}
