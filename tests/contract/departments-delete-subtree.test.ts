import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { asTenant, shareService } from '../support/service.ts';
import { insertDepartments } from '../support/trees.ts';

/** DELETE /system/dept-api/{id}?subtree=true deletes a department with all its descendants. */

const service = await shareService();
const admin = await service.createTenant();
const neighbour = await service.createTenant();

const remove = (id: string | number, headers: Record<string, string> = {}) =>
  admin.delete(`${DEPTS}/${id}?subtree=true`, { headers });
const delFlags = (...ids: string[]) =>
  Promise.all(ids.map(async (id) => (await readDept(admin, id, '?includeDeleted=true')).delFlag));

async function createSubtree() {
  const root = await admin.createDepartment();
  const [a, b] = [
    await admin.createDepartment({ parentId: root }),
    await admin.createDepartment({ parentId: root, status: '1' }),
  ];
  const deep = await admin.createDepartment({ parentId: a });
  return { root, a, b, deep };
}

describe('DELETE ?subtree=true', () => {
  test('a subtree delete marks the whole subtree as deleted and nothing outside it', async () => {
    const { root, a, b, deep } = await createSubtree();
    const sibling = await createSubtree();
    expectOk(await remove(root));
    assert.deepEqual(await delFlags(root, a, b, deep), ['2', '2', '2', '2']);
    assert.deepEqual(await delFlags(sibling.root, sibling.a, sibling.b, sibling.deep), ['0', '0', '0', '0']);
    const { updateBy, ancestors } = await readDept(admin, deep, '?includeDeleted=true');
    assert.deepEqual([updateBy, ancestors], ['boss', `0,${root},${a}`]);
  });

  test('a subtree delete accepts an inner subtree and a leaf', async () => {
    const { root, a, b, deep } = await createSubtree();
    expectOk(await remove(a));
    assert.deepEqual(await delFlags(root, a, b, deep), ['0', '2', '0', '2']);
    expectOk(await remove(b));
    assert.deepEqual(await delFlags(root, b), ['0', '2']);
  });

  test('a department that was already deleted keeps its updateBy', async () => {
    const { root, b } = await createSubtree();
    expectOk(await admin.delete(`${DEPTS}/${b}`));
    await asTenant(
      service.owner,
      admin.tenantId,
      (tx) => tx`update departments set update_by = 'old' where dept_id = ${b}`,
    );
    expectOk(await remove(root));
    assert.equal((await readDept(admin, b, '?includeDeleted=true')).updateBy, 'old');
  });

  test('with subtree=false, or subtree without a value, a department with children is not deleted', async () => {
    const { root } = await createSubtree();
    for (const query of ['subtree=false', 'subtree=']) {
      expectError(await admin.delete(`${DEPTS}/${root}?${query}`), 409, 'DEPT_HAS_CHILDREN');
    }
  });

  test('a subtree 1,000 levels deep is deleted', async () => {
    const departments = Array.from({ length: 1_000 }, (_, n) => ({
      ref: `${n}`,
      ...(n ? { parentRef: `${n - 1}` } : {}),
    }));
    const { deptIds } = (await admin.post(`${DEPTS}/bulk`, { departments })).data;
    expectOk(await remove(deptIds[0]));
    assert.deepEqual(await delFlags(deptIds[0], deptIds[999]), ['2', '2']);
  });

  test('If-Match is compared with the ETag of the root', async () => {
    const { root, a } = await createSubtree();
    const { etag = '' } = (await admin.get(`${DEPTS}/${root}`)).headers;
    expectOk(await admin.put(DEPTS, { deptId: root, deptName: 'changed' }));
    expectError(await remove(root, { 'if-match': etag }), 412, 'CHANGED_MEANWHILE');
    assert.deepEqual(await delFlags(root, a), ['0', '0']);
    const { etag: fresh = '' } = (await admin.get(`${DEPTS}/${root}`)).headers;
    expectOk(await remove(root, { 'if-match': fresh }));
  });

  test('with an Idempotency-Key the response is replayed', async () => {
    const { root } = await createSubtree();
    const headers = { 'idempotency-key': 'branch' };
    expectOk(await remove(root, headers));
    const again = await remove(root, headers);
    expectOk(again);
    assert.equal(again.headers['idempotent-replayed'], 'true');
  });
});

describe('DELETE ?subtree=true: limits and errors', () => {
  test('a subtree with users is rejected with DEPT_HAS_USERS and the ids of their departments', async () => {
    const { root, a, b, deep } = await createSubtree();
    await admin.createUser({ userName: 'deep', deptId: deep, deptIds: [b] });
    await admin.createUser({ userName: 'also-deep', deptIds: [deep] });
    expectError(await remove(root), 409, 'DEPT_HAS_USERS', { deptIds: [b, deep].map(Number).sort((x, y) => x - y) });
    assert.deepEqual(await delFlags(root, a, b, deep), ['0', '0', '0', '0']);
    expectError(await remove(a), 409, 'DEPT_HAS_USERS', { deptIds: [Number(deep)] });
  });

  test('DEPT_HAS_USERS lists at most 100 departments', async () => {
    const root = await admin.createDepartment();
    const departments = Array.from({ length: 120 }, (_, n) => ({ ref: `${n}` }));
    const { deptIds } = (await admin.post(`${DEPTS}/bulk`, { parentId: root, departments })).data;
    await admin.createUser({ userName: 'everywhere', deptIds });
    expectError(await remove(root), 409, 'DEPT_HAS_USERS', { deptIds: deptIds.slice(0, 100) });
  });

  test('several ids are rejected with the field subtree', async () => {
    const { root, a } = await createSubtree();
    expectInvalid(await remove(`${root},${a}`), 'subtree');
    // Repeated ids count once.
    expectOk(await remove(`${a},${a}`));
  });

  test('unknown and deleted departments and those of another tenant return the same 404', async () => {
    const [deleted, foreign] = [await admin.createDepartment(), await neighbour.createDepartment()];
    await admin.delete(`${DEPTS}/${deleted}`);
    const texts = [];
    for (const id of [deleted, foreign, '999999999', '0']) {
      const response = await remove(id);
      expectError(response, 404, 'DEPT_NOT_FOUND', { deptIds: [Number(id)] });
      texts.push(response.text.replace(`[${id}]`, '#'));
    }
    assert.equal(new Set(texts).size, 1);
    assert.equal((await readDept(neighbour, foreign)).delFlag, '0');
  });

  // tests/contract/departments-order-many.long.test.ts covers the limit of 100,000 departments.
  test('a large subtree is deleted completely', async () => {
    const root = await admin.createDepartment();
    const first = 70_000_000;
    const count = scale(700, 99_999);
    await insertDepartments(service.superuser, admin.tenantId, {
      first,
      count,
      parentOf: `case when n <= 300 then ${root} - ${first} else n / 300 end`,
    });
    expectOk(await remove(root));
    const [{ remaining }] = await service.superuser<[{ remaining: number }]>`
      select count(*)::int as remaining from departments
      where tenant_id = ${admin.tenantId} and dept_id between ${first} and ${first + count} and del_flag = '0'`;
    assert.equal(remaining, 0);
  });

  test('a member cannot delete a subtree', async () => {
    const member = await service.createMember(admin);
    expectError(await member.delete(`${DEPTS}/${await admin.createDepartment()}?subtree=true`), 403, 'NOT_ALLOWED');
  });
});
