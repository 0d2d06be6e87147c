import type { Tx } from '../../db/driver.ts';
import { setTenant } from '../../db/tenant-scope.ts';
import { codeWithinScope, lockTenantTree } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import type { Config } from '../config.ts';
import { ApiError, apiError } from '../http/errors.ts';
import { assertNoConflicts } from '../ledger/conflicts.ts';
import { readStoredAt } from '../ledger/history.ts';
import type { PointInTime } from '../ledger/point-in-time.ts';
import type { LedgerResource, RecordRevert } from '../ledger/resources.ts';
import { type Visibility, visibilityOf } from '../ledger/visibility.ts';
import type { StoredRow } from '../records/record.ts';
import { readById } from './queries.ts';
import { fromStored, type TenantRow, tenant } from './record.ts';
import type { Tenant, TenantUpdate } from './schema.ts';
import { showTenant } from './show.ts';
import { removeTenant, restoreTenant, updateTenant } from './tenants.ts';

/** Access depends on the current tree: administrators of a current ancestor can read the tenant's whole past. */
export async function readTenantAt(tx: Tx, caller: Caller, id: string, time: PointInTime): Promise<Tenant> {
  const tenantId = await codeWithinScope(tx, caller, id);
  if (!tenantId) throw apiError('TENANT_NOT_FOUND');
  // Read the tenant's own ledger: it contains all of its changes, wherever the tenant was moved.
  await setTenant(tx, tenantId);
  const row = await readStoredAt(tx, tenantId, 'tenant', id, time);
  if (!row) throw apiError('TENANT_NOT_FOUND');
  const past = fromStored(row, id);
  const mentions = past.tenantParent === null ? [] : [{ ledger: tenantId, code: past.tenantParent }];
  const reader = { readerTenant: caller.tenantId, tenantId };
  return showPast(past, tenantId, await visibilityOf(tx, reader, mentions));
}

/**
 * Shows a tenant of the past. In the tenant's own ledger, a former parent is shown only to those who may see it now. In the
 * ledger of an ancestor every parent is shown: it was that ancestor or a tenant below it.
 */
function showPast(past: TenantRow, ledger: string, { isKnown }: Visibility): Tenant {
  const { tenantId, tenantParent } = past;
  const isHidden = tenantId === ledger && tenantParent !== null && !isKnown(ledger, tenantParent);
  return showTenant(isHidden ? { ...past, tenantParent: null } : past);
}

/** Returns the fields of a recorded row that a conflict check compares: without times, authors and the path. */
const storedContents = (row: StoredRow) => {
  const { tenantParent, menuIds, quotas, rules } = fromStored(row, '');
  return { tenantParent, ...tenant.storedFields(row), menuIds, quotas, rules, delFlag: row.del_flag };
};

/** Shows and reverts tenants for the ledger. Reverting a creation also covers the first administrator. */
export const tenantResource = ({ tenantLevels: maxLevels }: Config): LedgerResource => ({
  resource: 'tenant',
  show: (_tx, rows, visibility) =>
    rows.map(({ row, resourceId, tenantId }) => showPast(fromStored(row, resourceId), tenantId, visibility)),
  contents: storedContents,
  revert: (tx, caller, _ledger, reverts) => revertTenants(tx, caller, reverts, { maxLevels }),
  revertsWholeBatch: true,
});

async function revertTenants(
  tx: Tx,
  caller: Caller,
  reverts: RecordRevert[],
  { maxLevels }: { maxLevels: number },
): Promise<void> {
  await lockTenantTree(tx);
  for (const revert of reverts) {
    await setTenant(tx, caller.tenantId);
    const code = await codeWithinScope(tx, caller, revert.id);
    if (!code) throw apiError('TENANT_NOT_FOUND');
    // Check the tenant's own ledger: it contains all of its changes, including those made under another parent.
    await setTenant(tx, code);
    await assertNoConflicts(tx, code, { resource: 'tenant', contents: storedContents }, [revert]);
    await setTenant(tx, caller.tenantId);
    const { id, from, to } = revert;
    if (!to) await removeTenant(tx, caller, id, undefined);
    else if (!from) await restoreTenant(tx, caller, id, { maxLevels });
    else {
      const input = toUpdate(to, id, await readById(tx, caller.tenantId, id));
      // What has been used since then stays used.
      await updateTenant(tx, caller, input, { ifMatch: undefined, maxLevels, used: null }).catch((error) =>
        rethrowAsParentGone(error, input),
      );
    }
  }
}

/** Converts a recorded row to an update, with all ten quotas. */
function toUpdate(row: StoredRow, id: string, present: TenantRow | undefined): TenantUpdate {
  const { menuIds, quotas, rules, tenantId: _, ...fields } = fromStored(row, id, present);
  return { ...fields, packageBo: { menuIds: menuIds.join(',') }, quotaBo: quotas, ruleBo: rules };
}

/** The parent in a revert did exist, so the error has to say that it no longer does. */
function rethrowAsParentGone(error: unknown, { tenantParent }: TenantUpdate): never {
  if (error instanceof ApiError && error.code === 'TENANT_PARENT_NOT_FOUND') {
    throw apiError('TENANT_PARENT_GONE', { tenantParent: tenantParent ?? '' });
  }
  throw error;
}
