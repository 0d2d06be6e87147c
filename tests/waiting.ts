import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { Sql, Tx } from '../db/sql.ts';
import type { Answer } from './harness.ts';

/** Polls until it is so; fails when that takes longer than anything here should, or than it is said to. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string, seconds = 20): Promise<void> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await setTimeout(20)) if (await isSo()) return;
  assert.fail(`It never came to this: ${what}`);
}

/** Sends it again while it is told to come again, as anybody may be on a busy machine; for a minute at most. */
export async function patiently(send: () => Promise<Answer>): Promise<Answer> {
  for (const end = Date.now() + 60_000; ; await setTimeout(50)) {
    const answer = await send();
    if (answer.status !== 503 || Date.now() > end) return answer;
  }
}

/** How many connections to this database stand before a lock that another holds; of one kind, if that is told. */
export async function countWaiting(sql: Sql | Tx, kind?: 'transactionid' | 'relation'): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(distinct pid) from pg_locks join pg_stat_activity using (pid)
    where datname = current_database() and not granted and locktype = coalesce(${kind ?? null}, locktype)`;
  return row.count;
}
