import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { CHANGES, DEPTS } from '../support/expect.ts';
import { report } from '../support/scale.ts';
import { type Client, type Service, startService } from '../support/service.ts';

/**
 * Bulk writes on a connection that has run only small writes before. PostgreSQL caches the plans of the small writes;
 * a cached plan that reads a whole table for each row would take minutes.
 */

export const startWithOneConnection = () => startService({}, { connections: 1 });

export interface Row {
  action: string;
  resource: string;
  resourceId: string;
  before: { ancestors: string } | null;
  after: { ancestors: string } | null;
}

export async function readChanges(client: Client, after = '0') {
  const rows: Row[] = [];
  for (;;) {
    const { data, text } = await client.get(`${CHANGES}?after=${after}&limit=500`);
    assert.ok(data?.rows, text.slice(0, 300));
    rows.push(...data.rows);
    if (data.rows.length === 0) return { rows, next: after };
    after = data.next;
  }
}

/** Creates a tenant whose departments are written and read one by one, often enough for plans to be cached. */
export async function createSmallTenant(service: Service) {
  const admin = await service.createTenant();
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) {
    ids.push(await admin.createDepartment({ parentId: ids.at(-1) ?? 0 }));
    await admin.put(DEPTS, { deptId: ids.at(-1), deptName: `d${n}` });
    await readChanges(admin);
  }
  return { admin, ids, ...(await readChanges(admin)) };
}

/** Expects that the service has read only a few rows for each row written, so no plan reads whole tables. */
export async function expectFewRowsRead(t: TestContext, { superuser }: Service, written: number): Promise<void> {
  // A connection may flush its statistics only when it ends.
  await superuser`
    select pg_terminate_backend(pid, 300000) from pg_stat_activity
    where datname = current_database() and usename like 'banyan\\_service%'`;
  const rows = await superuser<{ name: string; read: number }[]>`
    select t.relname as name, t.seq_tup_read + (
      select sum(i.idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid)::bigint as read
    from pg_stat_user_tables t where t.relname in ('departments', 'changes', 'unsealed_changes')`;
  assert.equal(rows.length, 3);
  for (const { name, read } of rows) {
    report(t, { name, read, written });
    assert.ok(read > 0 && read < 50 * written, `${read} rows of ${name} were read`);
  }
}
