import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../harness.ts';
import { plant } from '../trees.ts';
import { assertOk, assertRefused, DEPTS } from './answers.ts';

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

test('more than 100,000 siblings are not put in order, and it is told what to do with them, not with a branch', async () => {
  const other = await service.tenant();
  const first = 5_000_000;
  await plant(superuser, other.tenantId, { first, count: 100_002, parentOf: 'case when n > 1 then 1 end' });
  const parentId = first + 1;
  for (const [language, text] of [
    ['zh', /^parentId 为 5000001 的部门超过 100000 个，无法排序，请先把一部分移到其他上级部门$/],
    ['en', /^More than 100000 departments have the parentId 5000001,.* Move some below another parent first\.$/],
  ] as const) {
    const order = { parentId, deptIds: [first + 3] };
    const answer = await other.put(`${DEPTS}/order`, order, { headers: { 'accept-language': language } });
    assertRefused(answer, 409, 'BRANCH_TOO_LARGE', { limit: 100_000, parentId });
    assert.match(answer.msg, text);
  }
});
