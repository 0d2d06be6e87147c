import { type AuditEntry, api, type Id } from '../api.ts';

export type Restorable = 'department' | 'user' | 'tenant';

type Restore = (id: Id, scope: { tenantId?: string }, position: { parentId?: number }) => Promise<unknown>;

const RESTORE: Record<Restorable, Restore> = {
  department: api.restoreDepartment,
  user: api.restoreUser,
  tenant: api.restoreTenant,
};

/** Whether a change is a deletion that `restoreRecord` can undo. */
export const isRestorable = ({ resource, action }: Pick<AuditEntry, 'resource' | 'action'>): boolean =>
  resource in RESTORE && action === 'deleted';

/**
 * Restores one deleted record. A revert would restore everything that the same request has deleted. `parentId` is the new
 * parent of a department.
 */
export const restoreRecord = (
  { resource, resourceId, tenantId }: Pick<AuditEntry, 'resource' | 'resourceId' | 'tenantId'>,
  ownTenantId: string,
  parentId?: number,
): Promise<unknown> =>
  RESTORE[resource as Restorable](
    resourceId,
    tenantId === ownTenantId ? {} : { tenantId },
    parentId === undefined ? {} : { parentId },
  );
