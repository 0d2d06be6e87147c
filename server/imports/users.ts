import type { Tx } from '../../db/driver.ts';
import { RetryTransactionError } from '../../db/errors.ts';
import { assumeTenantForWrite } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { generatePassword } from '../auth/generate-password.ts';
import { apiError } from '../http/errors.ts';
import { readLatestChangeId } from '../ledger/history.ts';
import { lockForChanges, writeUserChanges } from '../users/reconcile.ts';
import { countActions } from './plan.ts';
import { assertNoErrors } from './preview.ts';
import type { ImportResult } from './schema.ts';
import type { Table } from './table.ts';
import { planUsers } from './user-plan.ts';

/** The initial passwords of new users, by the index of their row. They are in memory only until they are returned. */
export type InitialPasswords = ReadonlyMap<number, { password: string; hash: string }>;

export async function createPasswords(
  rows: readonly number[],
  hash: (password: string) => Promise<string>,
  report: (done: number) => void,
): Promise<InitialPasswords> {
  const passwords = new Map<number, { password: string; hash: string }>();
  for (const n of rows) {
    const password = generatePassword();
    passwords.set(n, { password, hash: await hash(password) });
    report(passwords.size);
  }
  return passwords;
}

/** Writes what a file says about users: all of it or nothing. */
export async function importUsers(
  tx: Tx,
  caller: Caller,
  table: Table,
  {
    tenantId: requested,
    passwords,
    report,
    onPlan,
  }: {
    tenantId?: string;
    passwords: InitialPasswords;
    report: (done: number) => void;
    /** Called with the rows that create users. */
    onPlan: (createdRows: readonly number[]) => void;
  },
): Promise<ImportResult> {
  // Writes of users wait for the tenant's lock, so only the departments can change until they are locked.
  const { tenantId } = await assumeTenantForWrite(tx, caller, requested);
  const before = await planUsers(tx, caller, tenantId, table);
  assertNoErrors(before, table);
  await lockForChanges(tx, tenantId, before);
  const plan = await planUsers(tx, caller, tenantId, table);
  assertNoErrors(plan, table);
  const locked = new Set(before.deptIds);
  if (plan.deptIds.some((id) => !locked.has(id))) throw new RetryTransactionError();
  // A user was deleted while the passwords were hashed, so their row would now create a user without a password.
  if (plan.createdRows.some((n) => !passwords.has(n))) throw apiError('CHANGED_MEANWHILE');
  onPlan(plan.createdRows);
  const hashes = plan.createdRows.map((n) => passwords.get(n)?.hash as string);
  let written = 0;
  const [one] = await writeUserChanges(tx, { ...caller, tenantId }, plan.changes, hashes, (rows) => {
    written += rows;
    report(written);
  });
  const changeId = one === undefined ? null : await readLatestChangeId(tx, tenantId, 'user', one);
  return { rows: table.rows.length, ...countActions(plan), changeId };
}
