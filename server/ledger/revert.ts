import type { Tx } from '../../db/driver.ts';
import { forceIndexScans } from '../../db/planner.ts';
import { assumeTenant } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { createSlices } from '../http/slices.ts';
import { type BatchRow, readBatch } from './queries.ts';
import type { LedgerResources, RecordRevert } from './resources.ts';
import type { Resource } from './schema.ts';

/**
 * Reverts all changes of the request that made the given change, or none of them. The revert is itself a change. `changeId` has
 * no leading zeros.
 */
export async function revertChange(
  tx: Tx,
  resources: LedgerResources,
  caller: Caller,
  changeId: string,
  tenantId: string | undefined,
): Promise<void> {
  const ledgerTenantId = await assumeTenant(tx, caller, tenantId);
  await forceIndexScans(tx);
  const rows = await readBatch(tx, ledgerTenantId, changeId);
  // A request that reached a limit also caused notices. They stay: what was announced cannot be taken back.
  const batch = rows.filter(({ id, resource }) => resource !== 'notice' || String(id) === changeId);
  if (batch.length === 0) throw apiError('CHANGE_NOT_FOUND');
  if (batch.some(({ incomplete }) => incomplete)) throw apiError('CHANGE_TOO_OLD');
  if (batch.some((change) => isIrreversible(resources, change))) throw apiError('CHANGE_IRREVERSIBLE');
  const revertsByResource = await groupReverts(batch);
  const resourceReverts = [...resources.values()].map(({ resource, revert, revertsWholeBatch = false }) => {
    const reverts = revertsByResource.get(resource) ?? [];
    const run = async (chosen: RecordRevert[]) =>
      void (chosen.length > 0 && (await revert?.(tx, caller, ledgerTenantId, chosen)));
    return { reverts, run, revertsWholeBatch };
  });
  const whole = resourceReverts.find(({ revertsWholeBatch, reverts }) => revertsWholeBatch && reverts.length > 0);
  if (whole) return whole.run(whole.reverts);
  // Users belong to departments: departments are restored before their users, and removed after them.
  for (const { reverts, run } of resourceReverts) await run(reverts.filter(({ to }) => to));
  for (const { reverts, run } of resourceReverts.reverse()) await run(reverts.filter(({ to }) => !to));
}

/** A tenant that moved out of the subtree of this ledger's tenant, or into it, cannot be moved back from here. */
const isIrreversible = (resources: LedgerResources, { resource, action, before, after }: BatchRow): boolean =>
  !resources.get(resource)?.revert || action === 'password changed' || (action === 'moved' && !(before && after));

/**
 * Returns how each record is reverted, by kind. A request may change a record repeatedly: the revert leads from its last state to
 * its first.
 */
async function groupReverts(rows: readonly BatchRow[]): Promise<Map<Resource, RecordRevert[]>> {
  const pause = createSlices();
  const known = new Map<Resource, Map<string, RecordRevert>>();
  for (const { id, resource, resourceId, before, after, batch } of rows) {
    const reverts = known.get(resource) ?? new Map<string, RecordRevert>();
    known.set(resource, reverts);
    const revert = reverts.get(resourceId);
    if (revert) Object.assign(revert, { from: after, last: id });
    else reverts.set(resourceId, { resource, id: resourceId, batch, from: after, to: before, first: id, last: id });
    await pause();
  }
  return new Map(
    Array.from(known, ([resource, reverts]) => [resource, [...reverts.values()].filter(({ from, to }) => from || to)]),
  );
}
