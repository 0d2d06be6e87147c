import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../db/driver.ts';
import { CHANGES, read } from '../support/expect.ts';
import { type Client, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Two nodes put the same changes into the feed at the same moment. The other node is a transaction of the test. */

// Disable background work: it would take the same locks.
const service = await startService({}, { timing: { sealMs: 600_000, webhookPollMs: 600_000, feedPollMs: 600_000 } });
const { superuser } = service;

interface Page {
  rows: { id: number; resource: string; after: { deptName: string } }[];
  next: string;
}

/** Reads the names of the departments in all pages after a cursor. Each page must have new changes. */
async function readNames(client: Client, query: string, after: string): Promise<string[]> {
  const rows: Page['rows'] = [];
  for (let next = after; ; ) {
    const page: Page = await read(client, `${CHANGES}?${query}&limit=1&after=${next}`);
    if (page.rows.length === 0) break;
    rows.push(...page.rows);
    next = page.next;
  }
  assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length, 'no change is returned twice');
  return rows.filter(({ resource }) => resource === 'department').map(({ after }) => after.deptName);
}

/** Reads the feed while another node publishes earlier changes and has not committed yet. Returns the response. */
async function readDuring(
  publish: (tx: Tx) => Promise<unknown>,
  write: () => Promise<unknown>,
  read: () => Promise<Page>,
) {
  const { reading } = await superuser.begin(async (tx) => {
    await publish(tx);
    await write();
    const reading = read();
    await waitFor('the reader waits for the other node', async () => {
      // A transaction would keep its first snapshot of pg_stat_activity.
      const waits = await service.owner`
        select from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`;
      return waits.length === 1;
    });
    return { reading };
  });
  return reading;
}

test('two nodes that seal the changes of a tenant at the same moment seal each once', async () => {
  const admin = await service.createTenant();
  const { next }: Page = await read(admin, `${CHANGES}?limit=1000`);
  await admin.createDepartment({ deptName: 'first' });
  const page = await readDuring(
    (tx) => tx`select banyan.seal_changes(${admin.tenantId}, 1000)`,
    () => admin.createDepartment({ deptName: 'second' }),
    () => read(admin, `${CHANGES}?limit=1000&after=${next}`),
  );
  assert.deepEqual(
    page.rows.map(({ after }) => after.deptName),
    ['first', 'second'],
  );
  assert.deepEqual(await readNames(admin, '', next), ['first', 'second']);
});

test('two nodes that order the changes of all tenants at the same moment give each its own position', async () => {
  const top = await service.createTenant();
  const below = await service.createTenant({}, top);
  const { next }: Page = await read(top, `${CHANGES}?below=true&limit=1000`);
  for (const deptName of ['first', 'second', 'third']) await top.createDepartment({ deptName });
  const page = await readDuring(
    (tx) => tx`select banyan.order_changes(1000)`,
    () => below.createDepartment({ deptName: 'fourth' }),
    () => read(top, `${CHANGES}?below=true&limit=1000&after=${next}`),
  );
  const all = ['first', 'second', 'third', 'fourth'];
  assert.deepEqual(
    page.rows.map(({ after }) => after.deptName),
    all,
  );
  assert.deepEqual(await readNames(top, 'below=true', next), all);
});
