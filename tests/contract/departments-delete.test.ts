import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { asTenant, type Client, shareService } from '../support/service.ts';

/** DELETE /system/dept-api/{ids}, and reading deleted departments. */

const service = await shareService();
const admin = await service.createTenant();
const neighbour = await service.createTenant();

const remove = (...ids: (string | number)[]) => admin.delete(`${DEPTS}/${ids.join(',')}`);
const exists = async (id: string | number, client: Client = admin) =>
  (await client.get(`${DEPTS}/${id}`)).status === 200;

const insertMany = (ids: number[]) =>
  asTenant(service.owner, admin.tenantId, async (tx) => {
    await tx`
      insert into departments (tenant_id, dept_id, create_by)
      select ${admin.tenantId}, id, 'test' from unnest(${ids.map(String)}::bigint[]) as id`;
  });
const range = (from: number, length: number) => Array.from({ length }, (_, at) => from + at);

describe('DELETE changes delFlag from 0 to 2', () => {
  test('a department without children or users is soft-deleted', async () => {
    const id = await admin.createDepartment();
    expectOk(await remove(id));
    assert.equal((await readDept(admin, id, '?includeDeleted=true')).delFlag, '2');
  });

  test('a deleted department can be neither updated nor deleted again', async () => {
    const deptId = await admin.createDepartment({ deptName: '前' });
    expectOk(await remove(deptId));
    expectError(await admin.put(DEPTS, { deptId, deptName: '后', delFlag: '0' }), 404, 'DEPT_NOT_FOUND');
    expectError(await remove(deptId), 404, 'DEPT_NOT_FOUND', { deptIds: [Number(deptId)] });
    const { deptName, delFlag } = await readDept(admin, deptId, '?includeDeleted=true');
    assert.deepEqual([deptName, delFlag], ['前', '2']);
  });
});

describe('Reading a deleted department', () => {
  test('a deleted department is not found unless includeDeleted=true, which shows it with delFlag 2', async () => {
    const top = await admin.createDepartment();
    const below = await admin.createDepartment({ parentId: top, deptName: '旧部' });
    expectOk(await remove(below));
    expectOk(await remove(top));
    for (const query of ['', '?includeDeleted=false', '?includeDeleted=']) {
      expectError(await admin.get(`${DEPTS}/${below}${query}`), 404, 'DEPT_NOT_FOUND');
    }
    const shown = await readDept(admin, below, '?includeDeleted=true');
    assert.deepEqual([shown.delFlag, shown.deptName, shown.ancestors], ['2', '旧部', `0,${top}`]);
  });

  test('includeDeleted=true shows an existing department with delFlag 0 and none of another tenant', async () => {
    const id = await admin.createDepartment();
    assert.equal((await readDept(admin, id, '?includeDeleted=true')).delFlag, '0');
    expectOk(await remove(id));
    for (const outsider of [neighbour, service.root]) {
      expectError(await outsider.get(`${DEPTS}/${id}?includeDeleted=true`), 404, 'DEPT_NOT_FOUND');
    }
  });

  test('an invalid includeDeleted is rejected', async () => {
    expectInvalid(await admin.get(`${DEPTS}/1?includeDeleted=perhaps`), 'includeDeleted');
  });

  test('any user of the tenant may read a deleted department', async () => {
    const id = await admin.createDepartment();
    expectOk(await remove(id));
    const member = await service.createMember(admin);
    assert.equal((await readDept(member, id, '?includeDeleted=true')).delFlag, '2');
  });
});

describe('DELETE: conditions', () => {
  test('a department with children is rejected with DEPT_HAS_CHILDREN', async () => {
    const id = await admin.createDepartment();
    const child = await admin.createDepartment({ parentId: id, status: '1' });
    expectError(await remove(id), 409, 'DEPT_HAS_CHILDREN', { deptIds: [Number(id)] });
    assert.ok(await exists(id));
    assert.ok(await exists(child));
  });

  for (const [what, body] of [
    ['the main department of a user', (id: string) => ({ deptId: id })],
    ['an additional department of a user', (id: string) => ({ deptIds: [id] })],
    ['the department of a disabled user', (id: string) => ({ deptId: id, status: '1' })],
  ] as const) {
    test(`a department that is ${what} is rejected with DEPT_HAS_USERS`, async () => {
      const id = await admin.createDepartment();
      await admin.createUser({ userName: `user${id}`, ...body(id) });
      expectError(await remove(id), 409, 'DEPT_HAS_USERS', { deptIds: [Number(id)] });
      assert.ok(await exists(id));
    });
  }

  test('children that were deleted or moved away do not prevent deletion', async () => {
    const id = await admin.createDepartment();
    const [deleted, moved] = [
      await admin.createDepartment({ parentId: id }),
      await admin.createDepartment({ parentId: id }),
    ];
    expectOk(await remove(deleted));
    expectError(await remove(id), 409, 'DEPT_HAS_CHILDREN');
    expectOk(await admin.put(DEPTS, { deptId: moved, parentId: 0 }));
    expectOk(await remove(id));
  });

  test('users who were deleted or left the department do not prevent deletion', async () => {
    const id = await admin.createDepartment();
    const deleted = await admin.createUser({ userName: 'deleted', deptId: id });
    const left = await admin.createUser({ userName: 'left', deptIds: [id] });
    expectOk(await admin.delete(`/system/user-api/${deleted}`));
    expectError(await remove(id), 409, 'DEPT_HAS_USERS');
    expectOk(await admin.put('/system/user-api', { userId: left }));
    expectOk(await remove(id));
  });

  test('an unknown department and one of another tenant return the same 404', async () => {
    const elsewhere = await neighbour.createDepartment();
    const texts = [];
    for (const id of ['999999999', elsewhere]) {
      const response = await remove(id);
      expectError(response, 404, 'DEPT_NOT_FOUND', { deptIds: [Number(id)] });
      texts.push(response.text.replaceAll(id, 'ID'));
    }
    assert.equal(texts[0], texts[1]);
    assert.ok(await exists(elsewhere, neighbour));
  });
});

describe('Batch delete is all or nothing', () => {
  test('a batch with departments that have children is rejected, and the error lists them', async () => {
    const [free, first, second] = [
      await admin.createDepartment(),
      await admin.createDepartment(),
      await admin.createDepartment(),
    ];
    for (const parentId of [first, second]) await admin.createDepartment({ parentId });
    const deptIds = [Number(first), Number(second)];
    expectError(await remove(free, first, second), 409, 'DEPT_HAS_CHILDREN', { deptIds });
    assert.ok(await exists(free));
  });

  test('a batch with departments that have users is rejected, and the error lists them', async () => {
    const [free, used, also] = [
      await admin.createDepartment(),
      await admin.createDepartment(),
      await admin.createDepartment(),
    ];
    await admin.createUser({ userName: 'two-places', deptId: also, deptIds: [used] });
    const deptIds = [Number(used), Number(also)];
    expectError(await remove(free, used, also), 409, 'DEPT_HAS_USERS', { deptIds });
    assert.ok(await exists(free));
  });

  test('a batch with departments that do not exist is rejected, and the error lists them', async () => {
    const [free, deleted, elsewhere] = [
      await admin.createDepartment(),
      await admin.createDepartment(),
      await neighbour.createDepartment(),
    ];
    expectOk(await remove(deleted));
    const deptIds = [999_999_999, Number(deleted), Number(elsewhere)];
    expectError(await remove(...deptIds, free), 404, 'DEPT_NOT_FOUND', { deptIds });
    assert.ok(await exists(free));
    assert.ok(await exists(elsewhere, neighbour));
  });

  test('a department with children is rejected even when the children are in the same batch', async () => {
    const parent = await admin.createDepartment();
    const child = await admin.createDepartment({ parentId: parent });
    for (const order of [
      [parent, child],
      [child, parent],
    ]) {
      expectError(await remove(...order), 409, 'DEPT_HAS_CHILDREN', { deptIds: [Number(parent)] });
    }
    assert.ok(await exists(child));
    expectOk(await remove(child));
    expectOk(await remove(parent));
  });

  test('repeated ids count once', async () => {
    const [one, two] = [await admin.createDepartment(), await admin.createDepartment()];
    expectOk(await remove(one, two, one, `00${two}`));
    assert.deepEqual([await exists(one), await exists(two)], [false, false]);
  });

  for (const ids of ['1,,2', ',1', '1,', ',', '1, 2', '1;2', '1,a', '1,-2', '1,2.0', '1,12345678901234567890']) {
    test(`the list of ids ${ids} is rejected`, async () => {
      const id = await admin.createDepartment();
      expectInvalid(await admin.delete(`${DEPTS}/${encodeURIComponent(ids.replace('1', id))}`), 'ids');
      assert.ok(await exists(id));
    });
  }

  test('500 distinct ids are deleted', async () => {
    const ids = range(7_000_000, 500);
    await insertMany(ids);
    expectOk(await remove(...ids, ...ids.slice(0, 7)));
    const [remaining] = await service.superuser`
      select count(*)::int as live from departments
      where tenant_id = ${admin.tenantId} and dept_id = any(${ids.map(String)}::bigint[]) and del_flag = '0'`;
    assert.equal(remaining?.live, 0);
  });

  test('501 and 10,000 ids are rejected with TOO_MANY_IDS', async () => {
    const ids = range(8_000_000, 501);
    await insertMany(ids);
    for (const many of [ids, [...ids, ...range(9_000_000, 9_499)]]) {
      const response = await remove(...many);
      expectError(response, 400, 'TOO_MANY_IDS', { limit: 500 });
      assert.match(response.msg, /500/);
    }
    assert.ok(await exists(8_000_000));
  });
});
