import type { Tx } from '../../db/driver.ts';
import { RetryTransactionError } from '../../db/errors.ts';
import { assumeTenantForWrite } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { lockDepartments, writeChanges } from '../departments/reconcile.ts';
import { readLatestChangeId } from '../ledger/history.ts';
import { planDepartments } from './department-plan.ts';
import { countActions } from './plan.ts';
import { assertNoErrors } from './preview.ts';
import type { ImportResult } from './schema.ts';
import type { Table } from './table.ts';

/** Writes what a file says about departments: all of it or nothing. */
export async function importDepartments(
  tx: Tx,
  caller: Caller,
  table: Table,
  { tenantId: requested, maxLevels, report }: { tenantId?: string; maxLevels: number; report: (done: number) => void },
): Promise<ImportResult> {
  // Other imports and moves wait for the tenant's lock. Departments that the plan relies on are locked too, then compared again.
  const { tenantId } = await assumeTenantForWrite(tx, caller, requested);
  const before = await planDepartments(tx, tenantId, table, { maxLevels });
  assertNoErrors(before, table);
  const moves = before.changes.moved.length > 0;
  await lockDepartments(tx, tenantId, before.lockIds, { moves });
  const plan = await planDepartments(tx, tenantId, table, { maxLevels });
  assertNoErrors(plan, table);
  const locked = new Set(before.lockIds);
  const { updated, moved } = plan.changes;
  if (plan.lockIds.some((id) => !locked.has(id)) || (moved.length > 0 && !moves)) throw new RetryTransactionError();
  let written = 0;
  const ids = await writeChanges(tx, { ...caller, tenantId }, plan.changes, (rows) => {
    written += rows;
    report(written);
  });
  const one = ids[0] ?? updated[0]?.deptId ?? moved[0]?.deptId;
  const changeId = one === undefined ? null : await readLatestChangeId(tx, tenantId, 'department', one);
  return { rows: table.rows.length, ...countActions(plan), changeId };
}
