import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, expectUnchanged, readDept } from '../support/expect.ts';
import { shareService } from '../support/service.ts';

/** Which fields of a department are required, replaced, set to a default or ignored by a create and by an update. */

const service = await shareService();
const admin = await service.createTenant();
const full = { deptName: '研发部', orderNum: 5, leader: '张三', phone: '1', email: 'a@b', status: '1' };
const empty = { deptName: '', orderNum: 0, leader: null, phone: null, email: null, status: '0' };

/** The fields of a department that a client sets. */
async function ownFields(id: string | number) {
  const { deptName, orderNum, leader, phone, email, status } = await readDept(admin, id);
  return { deptName, orderNum, leader, phone, email, status };
}

describe('Required fields', () => {
  test('creating a department from an empty object gives every field its documented default', async () => {
    const id = await admin.createDepartment({});
    assert.deepEqual(await ownFields(id), empty);
    const { parentId, ancestors, delFlag, tenantId } = await readDept(admin, id);
    assert.deepEqual(
      { parentId, ancestors, delFlag, tenantId },
      { parentId: 0, ancestors: '0', delFlag: '0', tenantId: admin.tenantId },
    );
  });

  for (const body of [[], [{}], 'text', 5, true, null]) {
    test(`the body ${JSON.stringify(body)} is rejected because it is not an object`, async () => {
      for (const response of [await admin.post(DEPTS, body), await admin.put(DEPTS, body)]) {
        expectError(response, 400, 'INVALID_FIELD', { field: 'body' });
      }
    });
  }

  test('a missing body is rejected', async () => {
    expectError(await admin.post(DEPTS), 400, 'BODY_REQUIRED');
    expectError(await admin.put(DEPTS), 400, 'BODY_REQUIRED');
  });

  test('an update requires only deptId', async () => {
    expectOk(await admin.put(DEPTS, { deptId: await admin.createDepartment() }));
    expectInvalid(await admin.put(DEPTS, { ...full }), 'deptId', 'FIELD_REQUIRED');
  });

  test('updating a department that does not exist returns 404', async () => {
    const deleted = await admin.createDepartment();
    await admin.delete(`${DEPTS}/${deleted}`);
    for (const deptId of ['999999999', deleted, '0', '9007199254740993']) {
      for (const move of [{}, { parentId: 0 }, { parentId: await admin.createDepartment() }]) {
        expectError(await admin.put(DEPTS, { deptId, ...move }), 404, 'DEPT_NOT_FOUND');
      }
    }
  });
});

describe('An update replaces all fields', () => {
  test('a field that is not sent gets its default', async () => {
    const deptId = await admin.createDepartment(full);
    expectOk(await admin.put(DEPTS, { deptId }));
    assert.deepEqual(await ownFields(deptId), empty);
  });

  for (const field of Object.keys(full) as (keyof typeof full)[]) {
    test(`an update with only ${field} resets the other fields to their defaults`, async () => {
      const deptId = await admin.createDepartment(full);
      expectOk(await admin.put(DEPTS, { deptId, [field]: full[field] }));
      assert.deepEqual(await ownFields(deptId), { ...empty, [field]: full[field] });
    });
  }

  test('a department moves only when parentId is sent', async () => {
    const parentId = await admin.createDepartment();
    const deptId = await admin.createDepartment({ parentId });
    for (const body of [{}, { parentId: null }, { ancestors: '0' }]) {
      expectOk(await admin.put(DEPTS, { deptId, ...body }));
      const dept = await readDept(admin, deptId);
      assert.deepEqual([dept.parentId, dept.ancestors], [Number(parentId), `0,${parentId}`]);
    }
  });

  test('sending the current parent is allowed even when it has been disabled', async () => {
    const parentId = await admin.createDepartment();
    const deptId = await admin.createDepartment({ parentId });
    expectOk(await admin.put(DEPTS, { deptId: parentId, status: '1' }));
    expectOk(await admin.put(DEPTS, { deptId, parentId, deptName: '仍在' }));
    expectOk(await admin.put(DEPTS, { deptId, parentId: Number(parentId), deptName: '仍在' }));
    const dept = await readDept(admin, deptId);
    assert.deepEqual([dept.parentId, dept.deptName], [Number(parentId), '仍在']);
  });

  test('an update leaves the parent, the child and a sibling unchanged', async () => {
    const top = await admin.createDepartment(full);
    expectOk(await admin.put(DEPTS, { deptId: top, ...full, status: '0' }));
    const [deptId, sibling] = [
      await admin.createDepartment({ ...full, parentId: top, status: '0' }),
      await admin.createDepartment({ ...full, parentId: top }),
    ];
    const child = await admin.createDepartment({ ...full, parentId: deptId });
    const others = () => Promise.all([top, sibling, child].map((id) => readDept(admin, id)));
    const before = await others();
    expectOk(await admin.put(DEPTS, { deptId, deptName: '改' }));
    assert.deepEqual(await others(), before);
  });
});

describe('Read-only fields are ignored', () => {
  test('a department that was read can be sent back as an update', async () => {
    const deptId = await admin.createDepartment({ ...full, parentId: await admin.createDepartment() });
    const before = await readDept(admin, deptId);
    expectOk(await admin.put(DEPTS, before));
    const { updateBy, updateTime, ...after } = await readDept(admin, deptId);
    assert.deepEqual({ ...after, updateBy: '', updateTime: null }, before);
    // Send it again, now that updateBy and updateTime are set.
    expectOk(await admin.put(DEPTS, { ...after, updateBy, updateTime }));
  });

  test('a department that was read can be sent as a new department', async () => {
    const original = await readDept(admin, await admin.createDepartment(full));
    const copy = await readDept(admin, await admin.createDepartment(original));
    assert.notEqual(copy.deptId, original.deptId);
    assert.deepEqual({ ...copy, deptId: original.deptId, createTime: original.createTime }, original);
  });

  const readOnly = {
    ancestors: '0,1,2',
    delFlag: '2',
    createBy: 'somebody',
    createTime: '2001-01-01 00:00:00',
    updateBy: 'somebody',
    updateTime: '2001-01-01 00:00:00',
  };
  for (const [field, value] of Object.entries(readOnly)) {
    test(`${field} of any type is ignored on create and on update`, async () => {
      for (const sent of [value, 5, { a: [] }]) {
        const deptId = await admin.createDepartment({ [field]: sent });
        const created = await readDept(admin, deptId);
        assert.notDeepEqual(created[field], sent);
        expectOk(await admin.put(DEPTS, { deptId, [field]: sent }));
        const updated = await readDept(admin, deptId);
        assert.notDeepEqual(updated[field], sent);
        assert.deepEqual(
          [updated.createTime, updated.createBy, updated.updateBy],
          [created.createTime, 'boss', 'boss'],
        );
      }
    });
  }

  test('deptId of any type is ignored on create', async () => {
    const existing = await admin.createDepartment({ deptName: '原' });
    for (const deptId of [Number(existing), existing, 'abc', -1, {}]) {
      assert.notEqual(await admin.createDepartment({ deptId, deptName: '新' }), existing);
    }
    assert.equal((await readDept(admin, existing)).deptName, '原');
  });
});

const neighbour = await service.createTenant();
const child = await service.createTenant({}, admin);

describe('tenantId in a body', () => {
  const codes: [owner: string, tenantId: string][] = [
    ['of a sibling tenant', neighbour.tenantId],
    ['of the parent tenant', '000000'],
    ['of a child tenant', child.tenantId],
    ['of an unknown tenant', '999999999999'],
    ['that is empty', ''],
  ];
  for (const [owner, tenantId] of codes) {
    test(`a code ${owner} is rejected with OTHER_TENANT`, async () => {
      const deptId = await admin.createDepartment();
      await expectUnchanged(admin, deptId, async () => {
        const { total } = (await admin.get(`${DEPTS}/list`)).data;
        expectError(await admin.post(DEPTS, { tenantId }), 403, 'OTHER_TENANT');
        expectError(await admin.put(DEPTS, { deptId, deptName: '改', tenantId }), 403, 'OTHER_TENANT');
        assert.equal((await admin.get(`${DEPTS}/list`)).data.total, total);
      });
    });
  }

  test('a tenantId that is absent, null or the code of the caller is accepted', async () => {
    for (const body of [{}, { tenantId: null }, { tenantId: admin.tenantId }]) {
      const deptId = await admin.createDepartment(body);
      expectOk(await admin.put(DEPTS, { deptId, ...body }));
      assert.equal((await readDept(admin, deptId)).tenantId, admin.tenantId);
    }
  });
});

test('sibling departments may have the same name', async () => {
  const parentId = await admin.createDepartment();
  const [first, second] = [
    await admin.createDepartment({ parentId, deptName: '一' }),
    await admin.createDepartment({ parentId, deptName: '一' }),
  ];
  assert.notEqual(first, second);
  const third = await admin.createDepartment({ parentId, deptName: '二' });
  expectOk(await admin.put(DEPTS, { deptId: third, parentId, deptName: '一' }));
});

describe('status', () => {
  test('a status other than the texts 0 and 1 is rejected', async () => {
    const deptId = await admin.createDepartment();
    for (const status of ['2', '', '00', ' 0', '０', 'normal', 0, 1, true]) {
      expectInvalid(await admin.post(DEPTS, { status }), 'status');
      expectInvalid(await admin.put(DEPTS, { deptId, status }), 'status');
    }
  });

  test('status can change at any time and does not affect the children', async () => {
    const top = await admin.createDepartment();
    const [normal, disabled] = [
      await admin.createDepartment({ parentId: top }),
      await admin.createDepartment({ parentId: top, status: '1' }),
    ];
    await admin.createUser({ userName: 'user', deptId: top });
    for (const status of ['1', '1', '0', '0']) {
      expectOk(await admin.put(DEPTS, { deptId: top, status }));
      const shown = await Promise.all([top, normal, disabled].map(async (id) => (await readDept(admin, id)).status));
      assert.deepEqual(shown, [status, '0', '1']);
    }
  });
});
