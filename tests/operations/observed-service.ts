import assert from 'node:assert/strict';
import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/driver.ts';
import { type Client, startService } from '../support/service.ts';

/** Starts a service and collects its connections. They are idle between requests, because background work is disabled. */
export async function startObserved() {
  const connections = new Set<Sql>();
  const wrapDatabase = (db: Database): Database => ({
    ...db,
    use: (work) =>
      db.use((sql) => {
        connections.add(sql);
        return work(sql);
      }),
  });
  const timing = { sealMs: 600_000, webhookPollMs: 600_000 };
  return { service: await startService({}, { wrapDatabase, timing }), connections };
}

const dept = '/system/dept-api';

/** Runs the most common operations: reads with and without a cached path, creates and updates. */
export async function runCommonOperations(admin: Client, rounds: number) {
  const [home, away] = [await admin.createDepartment(), await admin.createDepartment()];
  const subtree = await admin.createDepartment({ parentId: home });
  const leaf = await admin.createDepartment({ parentId: subtree });
  for (let round = 0; round < rounds; round++) {
    await admin.createDepartment({ parentId: subtree });
    assert.equal((await admin.put(dept, { deptId: subtree, parentId: round % 2 ? home : away })).code, 200);
    for (let again = 0; again < 2; again++) {
      const { data } = await admin.get(`${dept}/${leaf}`);
      assert.equal(data.ancestors, `0,${round % 2 ? home : away},${subtree}`);
    }
  }
}
