import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { type Client, startService } from '../support/service.ts';

/** The order of the children of a department. */

const service = await startService();
const boss = await service.createTenant();
const neighbour = await service.createTenant();

const order = (parentId: string | number, deptIds: unknown[], client: Client = boss) =>
  client.put(`${DEPTS}/order`, { parentId, deptIds });
const shown = async (parentId: string | number, client: Client = boss): Promise<[number, number][]> =>
  (await client.get(`${DEPTS}/${parentId}/children?limit=500`)).data.rows.map(
    ({ deptId, orderNum }: { deptId: number; orderNum: number }) => [deptId, orderNum],
  );
async function family(count: number, orderNum = (_n: number) => 0) {
  const parent = await boss.createDepartment();
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await boss.createDepartment({ parentId: parent, orderNum: orderNum(n) }));
  return { parent, ids: ids as [string, string, string, string] };
}
const numbered = (...ids: string[]) => ids.map((id, at) => [Number(id), at + 1]);

describe('Order', () => {
  test('the listed come first, as listed; the others follow in the order they had', async () => {
    const { parent, ids } = await family(6, (n) => [9, 3, 3, -4, 0, 3][n] as number);
    const [a, b, c, d, e, f] = ids as unknown as [string, string, string, string, string, string];
    expectOk(await order(parent, [f, Number(a)]));
    assert.deepEqual(await shown(parent), numbered(f, a, d, e, b, c));
    expectOk(await order(parent, [a, b, c, d, e, f]));
    assert.deepEqual(await shown(parent), numbered(a, b, c, d, e, f));
  });

  test('If-Match, which is of one record: 400, and nothing changes', async () => {
    const { parent, ids } = await family(2);
    const { headers } = await boss.get(`${DEPTS}/${parent}`);
    for (const tag of [String(headers.etag), '"another"']) {
      const body = { parentId: parent, deptIds: [ids[1]] };
      expectInvalid(await boss.call('PUT', `${DEPTS}/order`, body, { headers: { 'if-match': tag } }), 'If-Match');
    }
    assert.deepEqual(
      await shown(parent),
      [...ids].map((id) => [Number(id), 0]),
    );
  });

  test('rows whose number stays are not touched', async () => {
    const { parent, ids } = await family(4, (n) => n + 1);
    const [a, b, c, d] = ids;
    const before = await Promise.all([a, d].map((id) => readDept(boss, id)));
    expectOk(await order(parent, [a, c, b]));
    assert.deepEqual(await Promise.all([a, d].map((id) => readDept(boss, id))), before);
    const { updateBy, updateTime, orderNum } = await readDept(boss, c);
    assert.deepEqual([updateBy, orderNum], ['boss', 2]);
    assert.match(updateTime, /^\d{4}-/);
  });

  test('nothing else of them changes, nor of other departments', async () => {
    const { parent, ids } = await family(2);
    const deptId = await boss.createDepartment({
      parentId: parent,
      deptName: '名',
      leader: '张',
      phone: '1',
      email: 'a@b',
      status: '1',
    });
    const below = await boss.createDepartment({ parentId: ids[0], orderNum: 8 });
    const before = await readDept(boss, deptId);
    expectOk(await order(parent, [deptId]));
    const { updateBy, updateTime, ...after } = await readDept(boss, deptId);
    assert.deepEqual({ ...after, updateBy: '', updateTime: null }, { ...before, orderNum: 1 });
    assert.deepEqual([updateBy, typeof updateTime], ['boss', 'string']);
    assert.equal((await readDept(boss, below)).orderNum, 8);
  });

  test('of the top level, and below a disabled department', async () => {
    const client = await service.createTenant();
    const [a, b] = [await client.createDepartment(), await client.createDepartment()];
    expectOk(await order(0, [b], client));
    assert.deepEqual(await shown(0, client), numbered(b, a));
    const { parent, ids } = await family(2);
    expectOk(await boss.put(DEPTS, { deptId: parent, status: '1' }));
    expectOk(await order(parent, [ids[1]]));
    assert.deepEqual(await shown(parent), numbered(ids[1], ids[0]));
  });

  test('10,000 at once, in few statements', async () => {
    const departments = Array.from({ length: 10_000 }, (_, n) => ({ ref: `${n}` }));
    const parent = await boss.createDepartment();
    const { deptIds } = (await boss.post(`${DEPTS}/bulk`, { parentId: parent, departments })).data;
    expectOk(await order(parent, [...deptIds].reverse()));
    assert.deepEqual((await shown(parent)).slice(0, 2), [
      [deptIds[9_999], 1],
      [deptIds[9_998], 2],
    ]);
    expectInvalid(await order(parent, [...deptIds, 1]), 'deptIds');
  });

  test('a repetition with the same Idempotency-Key changes nothing again', async () => {
    const { parent, ids } = await family(3);
    const headers = { 'idempotency-key': 'order' };
    const send = () => boss.put(`${DEPTS}/order`, { parentId: parent, deptIds: [ids[2]] }, { headers });
    expectOk(await send());
    expectOk(await order(parent, [ids[1]]));
    const again = await send();
    expectOk(again);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.deepEqual(await shown(parent), numbered(ids[1], ids[2], ids[0]));
  });
});

describe('Order: refused', () => {
  test('ids that are no live children: 400 NOT_CHILDREN, which names them', async () => {
    const { parent, ids } = await family(4);
    const [a, gone, moved, grandparent] = ids;
    await boss.delete(`${DEPTS}/${gone}`);
    await boss.put(DEPTS, { deptId: moved, parentId: 0 });
    const grandchild = await boss.createDepartment({ parentId: grandparent });
    const foreign = await neighbour.createDepartment();
    const strangers = [gone, moved, grandchild, foreign, parent, '999999999'].map(Number);
    const before = await shown(parent);
    const answer = await order(parent, [...strangers, a]);
    expectError(answer, 400, 'NOT_CHILDREN', { deptIds: strangers });
    expectError(await order(parent, ['9007199254740993']), 400, 'NOT_CHILDREN', { deptIds: ['9007199254740993'] });
    expectError(await order(0, [a]), 400, 'NOT_CHILDREN', { deptIds: [Number(a)] });
    assert.deepEqual(await shown(parent), before);
  });

  test('of thousands of wrong ids a hundred are named', async () => {
    const { parent } = await family(1);
    const answer = await order(
      parent,
      Array.from({ length: 10_000 }, (_, n) => 900_000_000 + n),
    );
    expectError(answer, 400, 'NOT_CHILDREN');
    assert.equal(answer.data.deptIds.length, 100);
  });

  test('repeated ids: 400 that names the place', async () => {
    const { parent, ids } = await family(2);
    expectInvalid(await order(parent, [ids[0], ids[1], `00${ids[0]}`]), 'deptIds[2]');
  });

  test('a parent that is missing, deleted or another tenant’s: 400 PARENT_NOT_FOUND', async () => {
    const [gone, foreign] = [await boss.createDepartment(), await neighbour.createDepartment()];
    const child = await neighbour.createDepartment({ parentId: foreign });
    await boss.delete(`${DEPTS}/${gone}`);
    for (const id of [gone, foreign, '999999999']) {
      expectError(await order(id, [child]), 400, 'PARENT_NOT_FOUND', { parentId: Number(id) });
    }
    assert.equal((await readDept(neighbour, child)).orderNum, 0);
  });

  test('no ids, no parent: 400; for administrators only', async () => {
    expectInvalid(await order(0, []), 'deptIds');
    expectInvalid(await boss.put(`${DEPTS}/order`, { deptIds: [1] }), 'parentId', 'FIELD_REQUIRED');
    expectInvalid(await boss.put(`${DEPTS}/order`, { parentId: 0 }), 'deptIds', 'FIELD_REQUIRED');
    expectInvalid(await order(0, ['x']), 'deptIds[0]');
    expectError(await order(0, [1], await service.createMember(boss)), 403, 'NOT_ALLOWED');
  });
});
