import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, expectUnchanged, readDept } from '../support/expect.ts';
import { startService } from '../support/service.ts';

/** Departments: what create and update take, keep, reset and ignore. */

const service = await startService();
const boss = await service.createTenant();
const full = { deptName: '研发部', orderNum: 5, leader: '张三', phone: '1', email: 'a@b', status: '1' };
const empty = { deptName: '', orderNum: 0, leader: null, phone: null, email: null, status: '0' };

/** The fields of a department that a client sets. */
async function ownFields(id: string | number) {
  const { deptName, orderNum, leader, phone, email, status } = await readDept(boss, id);
  return { deptName, orderNum, leader, phone, email, status };
}

describe('Required', () => {
  test('nothing on create but a JSON object; every field has its documented default', async () => {
    const id = await boss.createDepartment({});
    assert.deepEqual(await ownFields(id), empty);
    const { parentId, ancestors, delFlag, tenantId } = await readDept(boss, id);
    assert.deepEqual(
      { parentId, ancestors, delFlag, tenantId },
      { parentId: 0, ancestors: '0', delFlag: '0', tenantId: boss.tenantId },
    );
  });

  for (const body of [[], [{}], 'text', 5, true, null]) {
    test(`not a JSON object: ${JSON.stringify(body)}`, async () => {
      for (const answer of [await boss.post(DEPTS, body), await boss.put(DEPTS, body)]) {
        assert.deepEqual([answer.status, answer.code], [400, 400], answer.text);
      }
    });
  }

  test('no body at all', async () => {
    expectError(await boss.post(DEPTS), 400, 'BODY_REQUIRED');
    expectError(await boss.put(DEPTS), 400, 'BODY_REQUIRED');
  });

  test('on update only deptId', async () => {
    expectOk(await boss.put(DEPTS, { deptId: await boss.createDepartment() }));
    expectInvalid(await boss.put(DEPTS, { ...full }), 'deptId', 'FIELD_REQUIRED');
  });

  test('deptId of no department: 404', async () => {
    const deleted = await boss.createDepartment();
    await boss.delete(`${DEPTS}/${deleted}`);
    for (const deptId of ['999999999', deleted, '0', '9007199254740993']) {
      for (const place of [{}, { parentId: 0 }, { parentId: await boss.createDepartment() }]) {
        expectError(await boss.put(DEPTS, { deptId, ...place }), 404, 'DEPT_NOT_FOUND');
      }
    }
  });
});

describe('Update: full replacement', () => {
  test('a field not sent takes its default', async () => {
    const deptId = await boss.createDepartment(full);
    expectOk(await boss.put(DEPTS, { deptId }));
    assert.deepEqual(await ownFields(deptId), empty);
  });

  for (const field of Object.keys(full) as (keyof typeof full)[]) {
    test(`${field} alone is sent: the others take their defaults`, async () => {
      const deptId = await boss.createDepartment(full);
      expectOk(await boss.put(DEPTS, { deptId, [field]: full[field] }));
      assert.deepEqual(await ownFields(deptId), { ...empty, [field]: full[field] });
    });
  }

  test('one exception: the place in the tree changes only when parentId is sent', async () => {
    const parentId = await boss.createDepartment();
    const deptId = await boss.createDepartment({ parentId });
    for (const body of [{}, { parentId: null }, { ancestors: '0' }]) {
      expectOk(await boss.put(DEPTS, { deptId, ...body }));
      const dept = await readDept(boss, deptId);
      assert.deepEqual([dept.parentId, dept.ancestors], [Number(parentId), `0,${parentId}`]);
    }
  });

  test('the same parent, disabled meanwhile, is no move', async () => {
    const parentId = await boss.createDepartment();
    const deptId = await boss.createDepartment({ parentId });
    expectOk(await boss.put(DEPTS, { deptId: parentId, status: '1' }));
    expectOk(await boss.put(DEPTS, { deptId, parentId, deptName: '仍在' }));
    expectOk(await boss.put(DEPTS, { deptId, parentId: Number(parentId), deptName: '仍在' }));
    const dept = await readDept(boss, deptId);
    assert.deepEqual([dept.parentId, dept.deptName], [Number(parentId), '仍在']);
  });

  test('the department alone is replaced: its parent, its child and its sibling stay as they are', async () => {
    const top = await boss.createDepartment(full);
    expectOk(await boss.put(DEPTS, { deptId: top, ...full, status: '0' }));
    const [deptId, sibling] = [
      await boss.createDepartment({ ...full, parentId: top, status: '0' }),
      await boss.createDepartment(full),
    ];
    const child = await boss.createDepartment({ ...full, parentId: deptId });
    const others = () => Promise.all([top, sibling, child].map((id) => readDept(boss, id)));
    const before = await others();
    expectOk(await boss.put(DEPTS, { deptId, deptName: '改' }));
    assert.deepEqual(await others(), before);
  });
});

describe('Fields the service owns are ignored when sent', () => {
  test('a body that was read can be sent back', async () => {
    const deptId = await boss.createDepartment({ ...full, parentId: await boss.createDepartment() });
    const before = await readDept(boss, deptId);
    expectOk(await boss.put(DEPTS, before));
    const { updateBy, updateTime, ...after } = await readDept(boss, deptId);
    assert.deepEqual({ ...after, updateBy: '', updateTime: null }, before);
    // And once more, now that all its fields are filled.
    expectOk(await boss.put(DEPTS, { ...after, updateBy, updateTime }));
  });

  test('a body that was read can be created once more', async () => {
    const original = await readDept(boss, await boss.createDepartment(full));
    const copy = await readDept(boss, await boss.createDepartment(original));
    assert.notEqual(copy.deptId, original.deptId);
    assert.deepEqual({ ...copy, deptId: original.deptId, createTime: original.createTime }, original);
  });

  const owned = {
    ancestors: '0,1,2',
    delFlag: '2',
    createBy: 'somebody',
    createTime: '2001-01-01 00:00:00',
    updateBy: 'somebody',
    updateTime: '2001-01-01 00:00:00',
  };
  for (const [field, value] of Object.entries(owned)) {
    test(`${field}, on create and on update, of whatever type`, async () => {
      for (const sent of [value, 5, { a: [] }]) {
        const deptId = await boss.createDepartment({ [field]: sent });
        const made = await readDept(boss, deptId);
        assert.notDeepEqual(made[field], sent);
        expectOk(await boss.put(DEPTS, { deptId, [field]: sent }));
        const updated = await readDept(boss, deptId);
        assert.notDeepEqual(updated[field], sent);
        assert.deepEqual([updated.createTime, updated.createBy, updated.updateBy], [made.createTime, 'boss', 'boss']);
      }
    });
  }

  test('deptId on create, of whatever type', async () => {
    const there = await boss.createDepartment({ deptName: '原' });
    for (const deptId of [Number(there), there, 'abc', -1, {}]) {
      assert.notEqual(await boss.createDepartment({ deptId, deptName: '新' }), there);
    }
    assert.equal((await readDept(boss, there)).deptName, '原');
  });
});

describe('tenantId in a body', async () => {
  const neighbour = await service.createTenant();
  const child = await service.createTenant({}, boss);
  const codes: [whose: string, tenantId: string][] = [
    ['a neighbour’s', neighbour.tenantId],
    ['that of the tenant above', '000000'],
    ['that of a tenant below', child.tenantId],
    ['of no tenant', '999999999999'],
    ['empty', ''],
  ];
  for (const [whose, tenantId] of codes) {
    test(`${whose}: 403 OTHER_TENANT; never silently rewritten`, async () => {
      const deptId = await boss.createDepartment();
      await expectUnchanged(boss, deptId, async () => {
        const { total } = (await boss.get(`${DEPTS}/list`)).data;
        expectError(await boss.post(DEPTS, { tenantId }), 403, 'OTHER_TENANT');
        expectError(await boss.put(DEPTS, { deptId, deptName: '改', tenantId }), 403, 'OTHER_TENANT');
        assert.equal((await boss.get(`${DEPTS}/list`)).data.total, total);
      });
    });
  }

  test('absent, null, or the caller’s own', async () => {
    for (const body of [{}, { tenantId: null }, { tenantId: boss.tenantId }]) {
      const deptId = await boss.createDepartment(body);
      expectOk(await boss.put(DEPTS, { deptId, ...body }));
      assert.equal((await readDept(boss, deptId)).tenantId, boss.tenantId);
    }
  });
});

test('Names: siblings may share a name', async () => {
  const parentId = await boss.createDepartment();
  const [first, second] = [
    await boss.createDepartment({ parentId, deptName: '一' }),
    await boss.createDepartment({ parentId, deptName: '一' }),
  ];
  assert.notEqual(first, second);
  const third = await boss.createDepartment({ parentId, deptName: '二' });
  expectOk(await boss.put(DEPTS, { deptId: third, parentId, deptName: '一' }));
});

describe('status', () => {
  test('0 or 1, else 400', async () => {
    const deptId = await boss.createDepartment();
    for (const status of ['2', '', '00', ' 0', '０', 'normal', 0, 1, true]) {
      expectInvalid(await boss.post(DEPTS, { status }), 'status');
      expectInvalid(await boss.put(DEPTS, { deptId, status }), 'status');
    }
  });

  test('either may be set at any time; children keep theirs', async () => {
    const top = await boss.createDepartment();
    const [normal, disabled] = [
      await boss.createDepartment({ parentId: top }),
      await boss.createDepartment({ parentId: top, status: '1' }),
    ];
    await boss.createUser({ userName: 'sitter', deptId: top });
    for (const status of ['1', '1', '0', '0']) {
      expectOk(await boss.put(DEPTS, { deptId: top, status }));
      const shown = await Promise.all([top, normal, disabled].map(async (id) => (await readDept(boss, id)).status));
      assert.deepEqual(shown, [status, '0', '1']);
    }
  });
});
