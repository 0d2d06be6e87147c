import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { Sql, Tx } from '../../db/sql.ts';

/**
 * Far longer than anything takes on the slowest machine. It only turns a test that would hang into one that fails; no
 * test passes or fails by how long something took.
 */
const HANG_MS = 300_000;

/** Polls until the condition holds, and returns the value that satisfied it. */
export async function waitFor<T>(what: string, condition: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const end = Date.now() + HANG_MS; ; await setTimeout(10)) {
    const value = await condition();
    if (value) return value;
    assert.ok(Date.now() < end, `Never happened: ${what}`);
  }
}

/** How many connections to this database wait for a lock that another holds; of one kind, if given. */
export async function countWaiting(sql: Sql | Tx, kind?: 'transactionid' | 'relation'): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(distinct pid) from pg_locks join pg_stat_activity using (pid)
    where datname = current_database() and not granted and locktype = coalesce(${kind ?? null}, locktype)`;
  return row.count;
}
