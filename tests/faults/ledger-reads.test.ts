import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES, DEPTS } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

const service = await startService();

test('the feed and the audit log can be read while all writers of the tenant wait for locks', async () => {
  const admin = await service.createTenant();
  const ids = await Promise.all(Array.from({ length: 6 }, () => admin.createDepartment()));
  let writes: Promise<unknown> | undefined;
  await service.superuser.begin(async (tx) => {
    await tx`select from departments where dept_id = any(${ids}::bigint[]) for update`;
    writes = Promise.all(ids.map((deptId) => admin.put(DEPTS, { deptId, deptName: 'new' })));
    // A tenant has at most four writes in flight. The other two wait for these.
    await waitFor('the writers of the tenant wait', async () => (await countLockWaits(service.owner)) === 4);
    const [feed, audit] = await Promise.all([admin.get(CHANGES), admin.get(`${CHANGES}/list?resource=department`)]);
    assert.equal(audit.data.rows.length, ids.length);
    assert.equal(feed.data.rows.filter(({ resource }: { resource: string }) => resource === 'department').length, 6);
  });
  await writes;
  const { data } = await admin.get(`${CHANGES}?limit=500`);
  const updated = data.rows.filter(({ action }: { action: string }) => action === 'updated');
  assert.equal(updated.length, ids.length, 'acknowledged writes are in the feed');
});
