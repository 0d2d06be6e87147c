import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { type Client, shareService } from '../support/service.ts';

/** PUT /system/dept-api/order sets the order of the children of a department. */

const service = await shareService();
const admin = await service.createTenant();
const neighbour = await service.createTenant();

const order = (parentId: string | number, deptIds: unknown[], client: Client = admin) =>
  client.put(`${DEPTS}/order`, { parentId, deptIds });
const readOrder = async (parentId: string | number, client: Client = admin): Promise<[number, number][]> =>
  (await client.get(`${DEPTS}/${parentId}/children?limit=500`)).data.rows.map(
    ({ deptId, orderNum }: { deptId: number; orderNum: number }) => [deptId, orderNum],
  );
async function createChildren(count: number, orderNum = (_n: number) => 0) {
  const parent = await admin.createDepartment();
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await admin.createDepartment({ parentId: parent, orderNum: orderNum(n) }));
  return { parent, ids: ids as [string, string, string, string] };
}
const numbered = (...ids: string[]) => ids.map((id, at) => [Number(id), at + 1]);

describe('Order of children', () => {
  test('listed children come first in the given order, the others follow in their former order', async () => {
    const { parent, ids } = await createChildren(6, (n) => [9, 3, 3, -4, 0, 3][n] as number);
    const [a, b, c, d, e, f] = ids as unknown as [string, string, string, string, string, string];
    expectOk(await order(parent, [f, Number(a)]));
    assert.deepEqual(await readOrder(parent), numbered(f, a, d, e, b, c));
    expectOk(await order(parent, [a, b, c, d, e, f]));
    assert.deepEqual(await readOrder(parent), numbered(a, b, c, d, e, f));
  });

  test('If-Match is rejected, because an ETag belongs to a single department, and nothing changes', async () => {
    const { parent, ids } = await createChildren(2);
    const { headers } = await admin.get(`${DEPTS}/${parent}`);
    for (const tag of [String(headers.etag), '"another"']) {
      const body = { parentId: parent, deptIds: [ids[1]] };
      expectInvalid(await admin.call('PUT', `${DEPTS}/order`, body, { headers: { 'if-match': tag } }), 'If-Match');
    }
    assert.deepEqual(
      await readOrder(parent),
      [...ids].map((id) => [Number(id), 0]),
    );
  });

  test('a child that keeps its orderNum is not updated', async () => {
    const { parent, ids } = await createChildren(4, (n) => n + 1);
    const [a, b, c, d] = ids;
    const before = await Promise.all([a, d].map((id) => readDept(admin, id)));
    expectOk(await order(parent, [a, c, b]));
    assert.deepEqual(await Promise.all([a, d].map((id) => readDept(admin, id))), before);
    const { updateBy, updateTime, orderNum } = await readDept(admin, c);
    assert.deepEqual([updateBy, orderNum], ['boss', 2]);
    assert.match(updateTime, /^\d{4}-/);
  });

  test('only orderNum of the children changes', async () => {
    const { parent, ids } = await createChildren(2);
    const deptId = await admin.createDepartment({
      parentId: parent,
      deptName: '名',
      leader: '张',
      phone: '1',
      email: 'a@b',
      status: '1',
    });
    const below = await admin.createDepartment({ parentId: ids[0], orderNum: 8 });
    const before = await readDept(admin, deptId);
    expectOk(await order(parent, [deptId]));
    const { updateBy, updateTime, ...after } = await readDept(admin, deptId);
    assert.deepEqual({ ...after, updateBy: '', updateTime: null }, { ...before, orderNum: 1 });
    assert.deepEqual([updateBy, typeof updateTime], ['boss', 'string']);
    assert.equal((await readDept(admin, below)).orderNum, 8);
  });

  test('top-level departments and children of a disabled department can be reordered', async () => {
    const client = await service.createTenant();
    const [a, b] = [await client.createDepartment(), await client.createDepartment()];
    expectOk(await order(0, [b], client));
    assert.deepEqual(await readOrder(0, client), numbered(b, a));
    const { parent, ids } = await createChildren(2);
    expectOk(await admin.put(DEPTS, { deptId: parent, status: '1' }));
    expectOk(await order(parent, [ids[1]]));
    assert.deepEqual(await readOrder(parent), numbered(ids[1], ids[0]));
  });

  test('many children are reordered in one request, and 10,001 ids are rejected', async () => {
    const count = scale(1_000, 10_000);
    const departments = Array.from({ length: count }, (_, n) => ({ ref: `${n}` }));
    const parent = await admin.createDepartment();
    const { deptIds } = (await admin.post(`${DEPTS}/bulk`, { parentId: parent, departments })).data;
    expectOk(await order(parent, [...deptIds].reverse()));
    assert.deepEqual((await readOrder(parent)).slice(0, 2), [
      [deptIds[count - 1], 1],
      [deptIds[count - 2], 2],
    ]);
    const others = Array.from({ length: 10_001 - count }, (_, n) => 1 + n);
    expectInvalid(await order(parent, [...deptIds, ...others]), 'deptIds');
  });

  test('a retry with the same Idempotency-Key is replayed and does not reorder again', async () => {
    const { parent, ids } = await createChildren(3);
    const headers = { 'idempotency-key': 'order' };
    const send = () => admin.put(`${DEPTS}/order`, { parentId: parent, deptIds: [ids[2]] }, { headers });
    expectOk(await send());
    expectOk(await order(parent, [ids[1]]));
    const again = await send();
    expectOk(again);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.deepEqual(await readOrder(parent), numbered(ids[1], ids[2], ids[0]));
  });
});

describe('Order of children: errors', () => {
  test('ids that are not existing children are rejected with NOT_CHILDREN and listed', async () => {
    const { parent, ids } = await createChildren(4);
    const [a, deleted, moved, child] = ids;
    await admin.delete(`${DEPTS}/${deleted}`);
    await admin.put(DEPTS, { deptId: moved, parentId: 0 });
    const grandchild = await admin.createDepartment({ parentId: child });
    const foreign = await neighbour.createDepartment();
    const notChildren = [deleted, moved, grandchild, foreign, parent, '999999999'].map(Number);
    const before = await readOrder(parent);
    const response = await order(parent, [...notChildren, a]);
    expectError(response, 400, 'NOT_CHILDREN', { deptIds: notChildren });
    expectError(await order(parent, ['9007199254740993']), 400, 'NOT_CHILDREN', { deptIds: ['9007199254740993'] });
    expectError(await order(0, [a]), 400, 'NOT_CHILDREN', { deptIds: [Number(a)] });
    assert.deepEqual(await readOrder(parent), before);
  });

  test('NOT_CHILDREN lists at most 100 ids', async () => {
    const { parent } = await createChildren(1);
    const response = await order(
      parent,
      Array.from({ length: 10_000 }, (_, n) => 900_000_000 + n),
    );
    expectError(response, 400, 'NOT_CHILDREN');
    assert.equal(response.data.deptIds.length, 100);
  });

  test('a repeated id is rejected with its index', async () => {
    const { parent, ids } = await createChildren(2);
    expectInvalid(await order(parent, [ids[0], ids[1], `00${ids[0]}`]), 'deptIds[2]');
  });

  test('a parent that is unknown, deleted or of another tenant is rejected with PARENT_NOT_FOUND', async () => {
    const [deleted, foreign] = [await admin.createDepartment(), await neighbour.createDepartment()];
    const child = await neighbour.createDepartment({ parentId: foreign });
    await admin.delete(`${DEPTS}/${deleted}`);
    for (const id of [deleted, foreign, '999999999']) {
      expectError(await order(id, [child]), 400, 'PARENT_NOT_FOUND', { parentId: Number(id) });
    }
    assert.equal((await readDept(neighbour, child)).orderNum, 0);
  });

  test('missing or invalid ids and a missing parent are rejected, and so is a member', async () => {
    expectInvalid(await order(0, []), 'deptIds');
    expectInvalid(await admin.put(`${DEPTS}/order`, { deptIds: [1] }), 'parentId', 'FIELD_REQUIRED');
    expectInvalid(await admin.put(`${DEPTS}/order`, { parentId: 0 }), 'deptIds', 'FIELD_REQUIRED');
    expectInvalid(await order(0, ['x']), 'deptIds[0]');
    expectError(await order(0, [1], await service.createMember(admin)), 403, 'NOT_ALLOWED');
  });
});
