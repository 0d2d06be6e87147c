import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES, DEPTS, expectError, expectOk, outcomeOf } from '../support/expect.ts';
import { type Client, shareService } from '../support/service.ts';

/** An administrator reverts changes of departments of a tenant below. */

const service = await shareService();

async function createSubtree() {
  const top = await service.createTenant();
  const low = await service.createTenant({}, top);
  return { top, low, inLow: `?tenantId=${low.tenantId}` };
}

const lastChange = async (client: Client): Promise<number> =>
  (await client.get(`${CHANGES}/list?below=false&limit=1&resource=department`)).data.rows[0].id;

const treeOf = async (client: Client) => JSON.stringify((await client.get(`${DEPTS}/tree`)).data);

test('creations, updates, moves and deletions in a tenant below can be reverted from above, also those made from above', async () => {
  const { top, low, inLow } = await createSubtree();
  const [a, b] = [await low.createDepartment({ deptName: 'a' }), await low.createDepartment({ deptName: 'b' })];
  const child = await low.createDepartment({ deptName: 'child', parentId: a });
  const writes: [string, () => Promise<unknown>][] = [
    ['a creation', () => low.createDepartment({ parentId: child })],
    ['an update', async () => expectOk(await low.put(DEPTS, { deptId: b, deptName: 'changed' }))],
    ['a move', async () => expectOk(await low.put(DEPTS, { deptId: child, deptName: 'child', parentId: b }))],
    ['a deletion', async () => expectOk(await low.delete(`${DEPTS}/${a}?subtree=true`))],
    ['a write from above', async () => expectOk(await top.post(`${DEPTS}${inLow}`, { deptName: 'from above' }))],
  ];
  for (const [name, write] of writes) {
    const before = await treeOf(low);
    await write();
    const change = await lastChange(low);
    assert.notEqual(await treeOf(low), before, name);
    expectOk(await top.post(`${CHANGES}/${change}/revert${inLow}`));
    assert.equal(await treeOf(low), before, name);
    // The audit log of the changed tenant names the caller and the caller's tenant.
    const { data } = await low.get(`${CHANGES}/list?below=false&limit=1`);
    assert.deepEqual([data.rows[0].by, data.rows[0].byTenantId], ['boss', top.tenantId], name);
  }
});

test('a change in a descendant tenant can be reverted only with its tenantId, and only by administrators of ancestors', async () => {
  const { top, low, inLow } = await createSubtree();
  const below = await service.createTenant({}, low);
  await low.createDepartment();
  const change = await lastChange(low);
  expectError(await top.post(`${CHANGES}/${change}/revert`), 404, 'CHANGE_NOT_FOUND');
  for (const client of [below, await service.createTenant()]) {
    expectError(await client.post(`${CHANGES}/${change}/revert${inLow}`), 403, 'OTHER_TENANT');
  }
  assert.equal(
    outcomeOf(await (await service.createMember(top)).post(`${CHANGES}/${change}/revert${inLow}`)),
    '403 NOT_ALLOWED',
  );
  assert.equal((await low.get(`${DEPTS}/list`)).data.total, 1);
});
