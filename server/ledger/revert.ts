import type { Tx } from '../../db/driver.ts';
import { forceIndexScans } from '../../db/planner.ts';
import { assumeTenant } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { type BatchRow, readBatch } from './queries.ts';
import type { Goal, LedgerResources } from './resources.ts';
import type { Resource } from './schema.ts';

/** Reverts all changes of the request that made the given change, or none of them. The revert is itself a change. */
export async function revertChange(
  tx: Tx,
  resources: LedgerResources,
  caller: Caller,
  changeId: string,
  tenantId: string | undefined,
): Promise<void> {
  const ledger = await assumeTenant(tx, caller, tenantId);
  await forceIndexScans(tx);
  const batch = await readBatch(tx, ledger, changeId);
  if (batch.length === 0) throw apiError('CHANGE_NOT_FOUND');
  if (batch.some(({ incomplete }) => incomplete)) throw apiError('CHANGE_TOO_OLD');
  if (batch.some((change) => isIrreversible(resources, change))) throw apiError('CHANGE_IRREVERSIBLE');
  const reverts = [...resources.values()].map(({ resource, revert, revertsWholeBatch = false }) => {
    const goals = goalsOf(batch, resource);
    const run = async (chosen: Goal[]) => void (chosen.length > 0 && (await revert?.(tx, caller, ledger, chosen)));
    return { goals, run, revertsWholeBatch };
  });
  const whole = reverts.find(({ revertsWholeBatch, goals }) => revertsWholeBatch && goals.length > 0);
  if (whole) return whole.run(whole.goals);
  // Users belong to departments: departments return before their users, and are removed after them.
  for (const { goals, run } of reverts) await run(goals.filter(({ to }) => to));
  for (const { goals, run } of reverts.reverse()) await run(goals.filter(({ to }) => !to));
}

/** A tenant that moved out of the subtree of this ledger's tenant, or into it, cannot be moved back from here. */
const isIrreversible = (resources: LedgerResources, { resource, action, before, after }: BatchRow): boolean =>
  !resources.get(resource)?.revert || action === 'password changed' || (action === 'moved' && !(before && after));

/** Returns one goal per record. A request may change a record repeatedly: the goal leads from its last state to its first. */
function goalsOf(rows: readonly BatchRow[], resource: Resource): Goal[] {
  const goals = new Map<string, Goal>();
  for (const { id, resourceId, before, after, batch, ...row } of rows) {
    if (row.resource !== resource) continue;
    const known = goals.get(resourceId) ?? { resource, id: resourceId, batch, to: before, first: id };
    goals.set(resourceId, { ...known, from: after, last: id });
  }
  return [...goals.values()].filter(({ from, to }) => from || to);
}
