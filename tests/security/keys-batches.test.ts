import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../db/connect.ts';
import { DEPTS } from '../support/expect.ts';
import { Client, startService } from '../support/service.ts';
import { captureQueries, idsIn, type Query } from '../support/statements.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

const service = await startService();
const { superuser } = service;
const admin = await service.createTenant();

test('each batch of concurrent reads with one key loads the key once, also after a new connection', async () => {
  const queries: Query[] = [];
  let opened = 0;
  // The test decides when another connection counts as opened: when the pool opens one depends on background work.
  const wrapDatabase = (db: Database): Database => ({
    ...captureQueries(queries)(db),
    connectionsOpened: () => db.connectionsOpened() + opened,
  });
  const node = await startService({ DATABASE_URL: service.databaseUrl }, { wrapDatabase });
  const dept = await admin.createDepartment();
  const { key } = (await admin.post('/system/key-api', { keyName: 'key', permissions: ['dept:read'] })).data;
  const client = new Client(node.base, key, undefined, admin.tenantId);
  const read = () => client.get(`${DEPTS}/${dept}`);
  await read();
  const reads: ReturnType<typeof read>[] = [];
  await superuser.begin(async (tx) => {
    await tx`lock table banyan.departments in access exclusive mode`;
    // Two batches wait for the lock, so further reads wait for the next batch.
    for (const batches of [1, 2]) {
      reads.push(read());
      await waitFor('a batch waits', async () => (await countLockWaits(tx, 'relation')) === batches);
    }
    reads.push(...Array.from({ length: 10 }, read));
    // This request is served after the reads have arrived.
    await node.root.get('/system/user-api/list');
    queries.length = 0;
    opened++;
    reads.push(...Array.from({ length: 10 }, read));
    await waitFor('the key was looked up again', () => queries.some(({ string }) => string?.includes('find_api_key')));
  });
  for (const { status } of await Promise.all(reads)) assert.equal(status, 200);
  const batches = queries.filter(({ string }) => string?.includes('read_departments'));
  assert.ok(batches.length > 0);
  for (const { parameters } of batches) assert.equal(idsIn(parameters?.[3]).length, 1);
});
