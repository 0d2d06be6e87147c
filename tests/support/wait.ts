import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { Sql, Tx } from '../../db/driver.ts';

/**
 * Far longer than anything takes on the slowest machine. It only makes a test fail that would hang: no result depends on how
 * long something took.
 */
const HANG_MS = 300_000;

/** Polls until the condition returns a truthy value, and returns that value. */
export async function waitFor<T>(description: string, condition: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const end = Date.now() + HANG_MS; ; await setTimeout(10)) {
    const value = await condition();
    if (value) return value;
    assert.ok(Date.now() < end, `Never happened: ${description}`);
  }
}

/** Counts the connections to this database that wait for a lock, optionally only of one kind. */
export async function countLockWaits(sql: Sql | Tx, kind?: 'transactionid' | 'relation'): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(distinct pid) from pg_locks join pg_stat_activity using (pid)
    where datname = current_database() and not granted and locktype = coalesce(${kind ?? null}, locktype)`;
  return row.count;
}
