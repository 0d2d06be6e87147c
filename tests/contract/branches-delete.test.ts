import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { asTenant, startService } from '../support/service.ts';
import { plant } from '../support/trees.ts';

/** A department deleted with all that is below it. */

const service = await startService();
const boss = await service.createTenant();
const neighbour = await service.createTenant();

const remove = (id: string | number, headers: Record<string, string> = {}) =>
  boss.delete(`${DEPTS}/${id}?subtree=true`, { headers });
const flags = (...ids: string[]) =>
  Promise.all(ids.map(async (id) => (await readDept(boss, id, '?includeDeleted=true')).delFlag));

async function branch() {
  const root = await boss.createDepartment();
  const [a, b] = [
    await boss.createDepartment({ parentId: root }),
    await boss.createDepartment({ parentId: root, status: '1' }),
  ];
  const deep = await boss.createDepartment({ parentId: a });
  return { root, a, b, deep };
}

describe('DELETE ?subtree=true', () => {
  test('deletes the whole branch, logically, and nothing beside it', async () => {
    const { root, a, b, deep } = await branch();
    const beside = await branch();
    expectOk(await remove(root));
    assert.deepEqual(await flags(root, a, b, deep), ['2', '2', '2', '2']);
    assert.deepEqual(await flags(beside.root, beside.a, beside.b, beside.deep), ['0', '0', '0', '0']);
    const { updateBy, ancestors } = await readDept(boss, deep, '?includeDeleted=true');
    assert.deepEqual([updateBy, ancestors], ['boss', `0,${root},${a}`]);
  });

  test('a branch within a branch, and a leaf', async () => {
    const { root, a, b, deep } = await branch();
    expectOk(await remove(a));
    assert.deepEqual(await flags(root, a, b, deep), ['0', '2', '0', '2']);
    expectOk(await remove(b));
    assert.deepEqual(await flags(root, b), ['0', '2']);
  });

  test('what was deleted before keeps its stamps', async () => {
    const { root, b } = await branch();
    expectOk(await boss.delete(`${DEPTS}/${b}`));
    await asTenant(
      service.owner,
      boss.tenantId,
      (tx) => tx`update departments set update_by = 'old' where dept_id = ${b}`,
    );
    expectOk(await remove(root));
    assert.equal((await readDept(boss, b, '?includeDeleted=true')).updateBy, 'old');
  });

  test('subtree=false, or empty, is a delete like any other', async () => {
    const { root } = await branch();
    for (const query of ['subtree=false', 'subtree=']) {
      expectError(await boss.delete(`${DEPTS}/${root}?${query}`), 409, 'DEPT_HAS_CHILDREN');
    }
  });

  test('a branch 1,000 deep', async () => {
    const departments = Array.from({ length: 1_000 }, (_, n) => ({
      ref: `${n}`,
      ...(n ? { parentRef: `${n - 1}` } : {}),
    }));
    const { deptIds } = (await boss.post(`${DEPTS}/bulk`, { departments })).data;
    expectOk(await remove(deptIds[0]));
    assert.deepEqual(await flags(deptIds[0], deptIds[999]), ['2', '2']);
  });

  test('If-Match is that of the root', async () => {
    const { root, a } = await branch();
    const { etag = '' } = (await boss.get(`${DEPTS}/${root}`)).headers;
    expectOk(await boss.put(DEPTS, { deptId: root, deptName: 'changed' }));
    expectError(await remove(root, { 'if-match': etag }), 412, 'CHANGED_MEANWHILE');
    assert.deepEqual(await flags(root, a), ['0', '0']);
    const { etag: fresh = '' } = (await boss.get(`${DEPTS}/${root}`)).headers;
    expectOk(await remove(root, { 'if-match': fresh }));
  });

  test('with an Idempotency-Key it is told again', async () => {
    const { root } = await branch();
    const headers = { 'idempotency-key': 'branch' };
    expectOk(await remove(root, headers));
    const again = await remove(root, headers);
    expectOk(again);
    assert.equal(again.headers['idempotent-replayed'], 'true');
  });
});

describe('DELETE ?subtree=true: refused, and nothing is deleted', () => {
  test('users anywhere in it: 409 DEPT_HAS_USERS, which names the departments', async () => {
    const { root, a, b, deep } = await branch();
    await boss.createUser({ userName: 'deep', deptId: deep, deptIds: [b] });
    await boss.createUser({ userName: 'also deep', deptIds: [deep] });
    expectError(await remove(root), 409, 'DEPT_HAS_USERS', { deptIds: [b, deep].map(Number).sort((x, y) => x - y) });
    assert.deepEqual(await flags(root, a, b, deep), ['0', '0', '0', '0']);
    expectError(await remove(a), 409, 'DEPT_HAS_USERS', { deptIds: [Number(deep)] });
  });

  test('of many departments with users a hundred are named', async () => {
    const root = await boss.createDepartment();
    const departments = Array.from({ length: 120 }, (_, n) => ({ ref: `${n}` }));
    const { deptIds } = (await boss.post(`${DEPTS}/bulk`, { parentId: root, departments })).data;
    await boss.createUser({ userName: 'everywhere', deptIds });
    expectError(await remove(root), 409, 'DEPT_HAS_USERS', { deptIds: deptIds.slice(0, 100) });
  });

  test('several ids: 400 that names subtree', async () => {
    const { root, a } = await branch();
    expectInvalid(await remove(`${root},${a}`), 'subtree');
    // Repeated ids count once.
    expectOk(await remove(`${a},${a}`));
  });

  test('unknown, deleted, another tenant’s: 404, told alike', async () => {
    const [gone, foreign] = [await boss.createDepartment(), await neighbour.createDepartment()];
    await boss.delete(`${DEPTS}/${gone}`);
    const texts = [];
    for (const id of [gone, foreign, '999999999', '0']) {
      const answer = await remove(id);
      expectError(answer, 404, 'DEPT_NOT_FOUND', { deptIds: [Number(id)] });
      texts.push(answer.text.replace(`[${id}]`, '#'));
    }
    assert.equal(new Set(texts).size, 1);
    assert.equal((await readDept(neighbour, foreign)).delFlag, '0');
  });

  // One with more than 100,000 is refused: tests/contract/branches-order-many.test.ts.
  test('a large branch goes as a whole', async () => {
    const root = await boss.createDepartment();
    const first = 70_000_000;
    await plant(service.superuser, boss.tenantId, {
      first,
      count: scale(2_000, 99_999),
      parentOf: `case when n <= 300 then ${root} - ${first} else n / 300 end`,
    });
    expectOk(await remove(root));
    const [{ left }] = await service.superuser<[{ left: number }]>`
      select count(*)::int as left from departments where dept_id > ${first} and del_flag = '0'`;
    assert.equal(left, 0);
  });

  test('for administrators only', async () => {
    const member = await service.createMember(boss);
    expectError(await member.delete(`${DEPTS}/${await boss.createDepartment()}?subtree=true`), 403, 'NOT_ALLOWED');
  });
});
