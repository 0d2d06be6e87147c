import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { Sql, Tx } from '../../db/driver.ts';

/**
 * Far longer than anything takes on the slowest machine. It only ends a test that would hang: no result depends on how
 * long something took.
 */
const HANG_MS = 300_000;

/**
 * Polls until the condition returns a truthy value, and returns that value. The longer it waits, the less often it polls:
 * conditions often send requests, whose CPU time other tests need.
 */
export async function waitFor<T>(description: string, condition: () => T | Promise<T>): Promise<NonNullable<T>> {
  const start = performance.now();
  for (let waited = 0; ; await setTimeout(Math.min(100, Math.max(5, waited / 10)))) {
    const value = await condition();
    if (value) return value;
    waited = performance.now() - start;
    assert.ok(waited < HANG_MS, `Never happened: ${description}`);
  }
}

/**
 * Waits until no connection to this database is being established: such a connection is not in `pg_stat_activity` yet, and may
 * have read settings of the database that have been changed since. It holds a lock on the database.
 */
export const waitForEstablishedConnections = (sql: Sql) =>
  waitFor('no connection is being established', async () => {
    const locks = await sql`
      select from pg_locks where locktype = 'object' and classid = 'pg_database'::regclass
        and objid = (select oid from pg_database where datname = current_database())`;
    return locks.length === 0;
  });

/**
 * Counts the connections to this database that wait for a lock, optionally only for one type of lock. Connections that order
 * changes in the background do not count: they may wait for each other. This does not read `pg_stat_activity`: within a
 * transaction it keeps showing what it showed at first, without connections that were opened later.
 */
export async function countLockWaits(sql: Sql | Tx, kind?: 'transactionid' | 'relation'): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(distinct l.pid) from pg_locks l
    where not l.granted and l.locktype = coalesce(${kind ?? null}, l.locktype)
      and exists (select from pg_locks o join pg_database d on d.oid = o.database
        where o.pid = l.pid and d.datname = current_database())
      and not exists (select from pg_locks o
        where o.pid = l.pid and o.relation = to_regclass('banyan.change_order') and o.mode = 'RowShareLock')`;
  return row.count;
}
