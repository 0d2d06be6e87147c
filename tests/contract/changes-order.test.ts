import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../db/driver.ts';
import { CHANGES, DEPTS } from '../support/expect.ts';
import { asTenant, startService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

const service = await startService({}, { timing: { sealMs: 100 } });
const { superuser } = service;

interface Page {
  rows: { after: { deptName: string } }[];
  next: string;
}
const namesIn = ({ rows }: Page) => rows.map(({ after }) => after.deptName);

const rename = (tx: Tx, tenantId: string, id: string, name: string) => tx`
  update banyan.departments set dept_name = ${name} where tenant_id = ${tenantId} and dept_id = ${id}`;

test('a change committed late is listed after its commit and not missed by clients that read on', async () => {
  const admin = await service.createTenant();
  const [one, other] = [await admin.createDepartment(), await admin.createDepartment()];
  const { next } = (await admin.get(CHANGES)).data;
  const meanwhile: Page = await asTenant(superuser, admin.tenantId, async (tx) => {
    await rename(tx, admin.tenantId, one, 'late');
    // This change has a higher id but commits first.
    assert.equal((await admin.put(DEPTS, { deptId: other, deptName: 'early' })).code, 200);
    return (await admin.get(`${CHANGES}?after=${next}`)).data;
  });
  assert.deepEqual(namesIn(meanwhile), ['early']);
  const later: Page = (await admin.get(`${CHANGES}?after=${meanwhile.next}`)).data;
  assert.deepEqual(namesIn(later), ['late']);
  const all: Page = (await admin.get(`${CHANGES}?after=${next}`)).data;
  assert.deepEqual(namesIn(all), ['early', 'late'], 'all clients see the same order');
});

test('a change that gets its place in the feed while a client reads is returned to that client once', async () => {
  const admin = await service.createTenant();
  const id = await admin.createDepartment({ deptName: 'first' });
  const { next, rows } = (await admin.get(`${CHANGES}?limit=1`)).data;
  assert.equal(rows.length, 1);
  // Otherwise sealing in the background would wait for the lock below too, and be taken for the request.
  await waitFor(
    'all changes are sealed',
    async () => (await superuser`select from banyan.unsealed_changes`).count === 0,
  );
  // The request has checked that all changes are sealed before it waits to read their positions.
  const reading = await asTenant(superuser, admin.tenantId, async (tx) => {
    await tx`lock table banyan.seals in access exclusive mode`;
    const pending = admin.get(`${CHANGES}?after=${next}`);
    await waitFor('the request waits for the lock on seals', async () => (await countLockWaits(tx, 'relation')) > 0);
    await rename(tx, admin.tenantId, id, 'meanwhile');
    await tx`select banyan.seal_changes(${admin.tenantId}, 10)`;
    return { pending };
  });
  const page: Page = (await reading.pending).data;
  const following: Page = (await admin.get(`${CHANGES}?after=${page.next}`)).data;
  const names = [...namesIn(page), ...namesIn(following)];
  assert.deepEqual(names.slice(names.indexOf('meanwhile')), ['meanwhile'], 'returned once, as the last change');
  assert.deepEqual((await admin.get(`${CHANGES}?after=${following.next}`)).data, { rows: [], next: following.next });
});
