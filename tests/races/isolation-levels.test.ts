import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../db/connect.ts';
import type { Sql, Tx } from '../../db/driver.ts';
import { begin, withMigrationLock } from '../../db/transaction.ts';
import { expectError, expectOk } from '../support/expect.ts';
import { isLong } from '../support/scale.ts';
import { type ApiResponse, asTenant, type Client, type Service, startService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

/** A database administrator may have changed the default isolation level. The service states the level of each transaction. */

const dept = '/system/dept-api';

const setDefault = (level: string) => (superuser: Sql) =>
  superuser.unsafe(`do $$ begin execute format('alter database %I set default_transaction_isolation = %L',
    current_database(), '${level}'); end $$`);

/** Gives each session of the service this default, so that only the levels that transactions state themselves are in effect. */
const withSessionDefault =
  (level: string) =>
  (db: Database): Database => ({
    ...db,
    use: (work) =>
      db.use(async (sql) => {
        await sql`select set_config('default_transaction_isolation', ${level}, false)`;
        return work(sql);
      }),
  });

/** Runs a write while another transaction holds the department for share and inserts a child below it. */
async function whileChildIsInserted(
  { owner }: Service,
  { tenantId }: Client,
  deptId: string,
  write: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  let writing: Promise<ApiResponse> | undefined;
  await asTenant(owner, tenantId, async (tx) => {
    await tx`select from departments where tenant_id = ${tenantId} and dept_id = ${deptId} for share`;
    writing = write();
    await waitFor('the write waits for the row', async () => (await countLockWaits(tx)) === 1);
    await tx`insert into departments (tenant_id, parent_id, dept_name, create_by)
      values (${tenantId}, ${deptId}, 'child', 'test')`;
  });
  return writing as Promise<ApiResponse>;
}

async function assertLevels(service: Service) {
  const admin = await service.createTenant();
  const parent = await admin.createDepartment({ deptName: 'parent' });
  const removed = await whileChildIsInserted(service, admin, parent, () => admin.delete(`${dept}/${parent}`));
  expectError(removed, 409, 'DEPT_HAS_CHILDREN');
  // All of these write the same row. In `read committed` each waits and continues; otherwise it would have to be retried.
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, n) => admin.put(dept, { deptId: parent, deptName: `v${n}` })),
  );
  for (const response of responses) expectOk(response);
}

// Both levels take a snapshot before the locks, so the everyday run tests only one of them.
for (const level of isLong ? ['repeatable read', 'serializable'] : ['serializable']) {
  test(`a parent whose child is being created is not deleted, if the database's default is ${level}`, async () => {
    await assertLevels(await startService({}, { prepareDatabase: setDefault(level) }));
  });

  test(`a parent whose child is being created is not deleted, if the default of the service's sessions is ${level}`, async () => {
    await assertLevels(await startService({}, { wrapDatabase: withSessionDefault(level) }));
  });
}

test('transactions of the owner and single statements run at read committed, unless they name another level', async () => {
  const levels: string[] = [];
  const observe = (db: Database): Database => ({
    ...db,
    use: (work) =>
      db.use(async (sql) => {
        const [{ level }] = await sql<[{ level: string }]>`select current_setting('transaction_isolation') as level`;
        levels.push(level);
        return work(sql);
      }),
  });
  const { owner } = await startService({}, { prepareDatabase: setDefault('serializable'), wrapDatabase: observe });
  assert.deepEqual([...new Set(levels)], ['read committed']);
  await owner`select set_config('default_transaction_isolation', 'serializable', false)`;
  const readMode = async (tx: Tx) => {
    const [row] = await tx<[{ level: string; readOnly: string }]>`
      select current_setting('transaction_isolation') as level, current_setting('transaction_read_only') as "readOnly"`;
    return [row.level, row.readOnly];
  };
  assert.deepEqual(await withMigrationLock(owner, readMode), ['read committed', 'off']);
  const mode = 'isolation level repeatable read read only';
  assert.deepEqual(await begin(owner, readMode, mode), ['repeatable read', 'on']);
});
