import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../db/sql.ts';
import { asTenant, startService } from '../support/service.ts';
import { countWaiting, waitFor } from '../support/wait.ts';

const service = await startService();
const { superuser } = service;
const feed = '/system/change-api';
const dept = '/system/dept-api';

interface Page {
  rows: { after: { deptName: string } }[];
  next: string;
}
const namesIn = ({ rows }: Page) => rows.map(({ after }) => after.deptName);

const rename = (tx: Tx, tenantId: string, id: string, name: string) => tx`
  update banyan.departments set dept_name = ${name} where tenant_id = ${tenantId} and dept_id = ${id}`;

test('a write that is committed late is not told before, and not missed by who is further on', async () => {
  const boss = await service.createTenant();
  const [one, other] = [await boss.createDepartment(), await boss.createDepartment()];
  const { next } = (await boss.get(feed)).data;
  const meanwhile: Page = await asTenant(superuser, boss.tenantId, async (tx) => {
    await rename(tx, boss.tenantId, one, 'late');
    // Later by its id, and done sooner.
    assert.equal((await boss.put(dept, { deptId: other, deptName: 'early' })).code, 200);
    return (await boss.get(`${feed}?after=${next}`)).data;
  });
  assert.deepEqual(namesIn(meanwhile), ['early']);
  const then: Page = (await boss.get(`${feed}?after=${meanwhile.next}`)).data;
  assert.deepEqual(namesIn(then), ['late']);
  const all: Page = (await boss.get(`${feed}?after=${next}`)).data;
  assert.deepEqual(namesIn(all), ['early', 'late'], 'for everybody in the same order');
});

test('what gets its place while a follower reads is told to him once', async () => {
  const boss = await service.createTenant();
  const id = await boss.createDepartment({ deptName: 'first' });
  const { next, rows } = (await boss.get(`${feed}?limit=1`)).data;
  assert.equal(rows.length, 1);
  // Whoever seals in the background would stand there too.
  await waitFor('everything has its place', async () => (await superuser`select from banyan.unsealed`).count === 0);
  // Places are seen to be given, all of them, before it is looked what is at them.
  const reading = await asTenant(superuser, boss.tenantId, async (tx) => {
    await tx`lock table banyan.seals in access exclusive mode`;
    const asked = boss.get(`${feed}?after=${next}`);
    await waitFor('he stands before the places', async () => (await countWaiting(tx, 'relation')) > 0);
    await rename(tx, boss.tenantId, id, 'meanwhile');
    await tx`select banyan.seal_changes(${boss.tenantId}, 10)`;
    return { asked };
  });
  const page: Page = (await reading.asked).data;
  const following: Page = (await boss.get(`${feed}?after=${page.next}`)).data;
  const told = [...namesIn(page), ...namesIn(following)];
  assert.deepEqual(told.slice(told.indexOf('meanwhile')), ['meanwhile'], 'once, and last');
  assert.deepEqual((await boss.get(`${feed}?after=${following.next}`)).data, { rows: [], next: following.next });
});
