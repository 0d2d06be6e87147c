import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../harness.ts';
import { plant } from '../trees.ts';
import { assertOk, DEPTS } from './answers.ts';

/** More siblings than one statement writes. */

const service = await startService();
const { superuser } = service;
const boss = await service.tenant();
const COUNT = 20_500;
const FIRST = 1_000_000;

test('each of 20,500 siblings gets its number, once, and a line in the ledger', async () => {
  const { tenantId } = boss;
  await plant(superuser, tenantId, { first: FIRST, count: COUNT, parentOf: 'case when n > 1 then 1 end' });
  const children = await superuser<{ id: number }[]>`
    select dept_id as id from departments where tenant_id = ${tenantId} and parent_id is not null
    order by order_num, dept_id`;
  const last = children.at(-1)?.id;
  assertOk(await boss.put(`${DEPTS}/order`, { parentId: FIRST + 1, deptIds: [last] }));
  const numbered = await superuser<{ id: number; number: number }[]>`
    select dept_id as id, order_num as number from departments where tenant_id = ${tenantId} and parent_id is not null
    order by order_num`;
  const expected = [last, ...children.slice(0, -1).map(({ id }) => id)];
  assert.deepEqual(
    numbered.map(({ id, number }) => [id, number]),
    expected.map((id, n) => [id, n + 1]),
  );
  const [{ noted, changed }] = await superuser<[{ noted: number; changed: number }]>`
    select count(*) as noted, count(distinct resource_id) as changed from changes
    where tenant_id = ${tenantId} and resource = 'department' and (after ->> 'orderNum')::int > 0`;
  // Those whose number stays as it was are not written; planted ones are not in the ledger.
  const [{ written }] = await superuser<[{ written: number }]>`
    select count(*) as written from departments where tenant_id = ${tenantId} and update_by = 'boss'`;
  assert.ok(written > 20_000, `only ${written} were written`);
  assert.deepEqual([noted, changed], [written, written]);
});
