import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept, storedState } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { type Client, startService } from '../support/service.ts';

/** POST /system/dept-api/bulk creates many departments in one request. */

const service = await startService();
const admin = await service.createTenant();
const neighbour = await service.createTenant();

const add = (departments: unknown[], more: Record<string, unknown> = {}, client: Client = admin) =>
  client.post(`${DEPTS}/bulk`, { departments, ...more });

async function expectNothingWritten(work: () => Promise<unknown>): Promise<void> {
  const before = await storedState(service);
  await work();
  assert.deepEqual(await storedState(service), before);
}

describe('Bulk creation rejects the whole request', () => {
  const faults: [what: string, departments: unknown[], field: string, reason?: string][] = [
    ['an unknown reference', [{ ref: 'a' }, { ref: 'b', parentRef: 'c' }], 'departments[1].parentRef'],
    ['a reference in a different case', [{ ref: 'A' }, { ref: 'b', parentRef: 'a' }], 'departments[1].parentRef'],
    ['a repeated reference', [{ ref: 'a' }, { ref: 'b' }, { ref: 'a' }], 'departments[2].ref'],
    ['a department that is its own parent', [{ ref: 'a' }, { ref: 'b', parentRef: 'b' }], 'departments[1].parentRef'],
    ['a missing reference', [{ ref: 'a' }, { deptName: 'b' }], 'departments[1].ref', 'FIELD_REQUIRED'],
    ['an empty reference', [{ ref: '' }], 'departments[0].ref'],
    [
      'an invalid e-mail',
      [...Array(17).keys()].map((n) => ({ ref: `${n}` })).concat({ ref: 'x', email: 'x' } as never),
      'departments[17].email',
    ],
    ['a name that is too long', [{ ref: 'a', deptName: 'x'.repeat(101) }], 'departments[0].deptName'],
    ['NUL in a name', [{ ref: 'a' }, { ref: 'b', deptName: 'a\0' }], 'departments[1].deptName'],
    ['a parentId in an item', [{ ref: 'a' }, { ref: 'b', parentId: 0 }], 'departments[1].parentId'],
    ['an empty list', [], 'departments'],
    ['an item that is not an object', [{ ref: 'a' }, 7], 'departments[1]'],
  ];
  for (const [what, departments, field, reason] of faults) {
    test(`${what} is rejected with the field ${field}`, () =>
      expectNothingWritten(async () => expectInvalid(await add(departments), field, reason)));
  }

  test('a cycle of references is rejected with the field of an item in the cycle', async () => {
    const ring = (size: number) =>
      Array.from({ length: size }, (_, n) => ({ ref: `${n}`, parentRef: `${(n + 1) % size}` }));
    await expectNothingWritten(async () => {
      for (const size of [2, 3, 10_000]) expectInvalid(await add(ring(size)), 'departments[0].parentRef');
      // An item below a cycle is not part of it, so the error must not name it.
      const response = await add([{ ref: 'x', parentRef: '1' }, { ref: 'y', parentRef: 'x' }, ...ring(2)]);
      assert.match(response.data.field, /^departments\[[23]\]\.parentRef$/);
    });
  });

  test('a parent that is disabled, deleted, unknown or of another tenant is rejected', async () => {
    const [off, deleted, foreign] = [
      await admin.createDepartment({ status: '1' }),
      await admin.createDepartment(),
      await neighbour.createDepartment(),
    ];
    await admin.delete(`${DEPTS}/${deleted}`);
    await expectNothingWritten(async () => {
      expectError(await add([{ ref: 'a' }], { parentId: off }), 409, 'PARENT_DISABLED');
      for (const parentId of [deleted, foreign, '999999999']) {
        expectError(await add([{ ref: 'a' }], { parentId }), 400, 'PARENT_NOT_FOUND', { parentId: Number(parentId) });
      }
      const disabled = [{ ref: 'a', status: '1' }, { ref: 'b' }, { ref: 'c', parentRef: 'a' }];
      expectError(await add(disabled), 409, 'PARENT_DISABLED', { field: 'departments[2].parentRef' });
    });
  });

  test('an item with the code of another tenant is rejected with 403', () =>
    expectNothingWritten(async () => {
      const departments = [{ ref: 'a' }, { ref: 'b', tenantId: neighbour.tenantId }];
      expectError(await add(departments), 403, 'OTHER_TENANT', { field: 'departments[1].tenantId' });
    }));

  test('a member cannot create departments in bulk', async () => {
    expectError(await add([{ ref: 'a' }], {}, await service.createMember(admin)), 403, 'NOT_ALLOWED');
  });
});

describe('Bulk creation', () => {
  test('items may reference parents in any order, and ids are returned in request order', async () => {
    const top = await admin.createDepartment();
    const response = await add(
      [
        { ref: 'leaf', parentRef: 'middle', deptName: '叶' },
        { ref: 'alone' },
        { ref: 'middle', parentRef: 'root' },
        { ref: 'root', parentRef: null },
      ],
      { parentId: top },
    );
    const [leaf, alone, middle, root] = response.data.deptIds;
    expectOk(response, { deptIds: [leaf, alone, middle, root] });
    assert.equal((await readDept(admin, leaf)).ancestors, `0,${top},${root},${middle}`);
    assert.equal((await readDept(admin, alone)).ancestors, `0,${top}`);
    assert.ok(leaf < alone && alone < middle && middle < root, 'ids ascend in request order');
  });

  test('bulk creation stores the same fields and defaults as creating a single department', async () => {
    const full = {
      deptName: '研发"部\\\n🌳',
      orderNum: -7,
      leader: '张三',
      phone: '13800000000',
      email: 'a@b.cn',
      status: '1',
      tenantId: admin.tenantId,
    };
    const nulls = Object.fromEntries(Object.keys(full).map((name) => [name, null]));
    const readOnly = { deptId: 1, ancestors: 'x', delFlag: '2', createBy: 'x', unknown: { a: 1 }, parentId: null };
    const { data } = await add([
      { ref: 'a', ...full, ...readOnly },
      { ref: 'b', ...nulls },
    ]);
    for (const [at, body] of [full, {}].entries()) {
      const { deptId, createTime, ...stored } = await readDept(admin, data.deptIds[at]);
      const { deptId: other, createTime: _, ...single } = await readDept(admin, await admin.createDepartment(body));
      assert.deepEqual(stored, single);
      assert.ok(other > deptId && createTime);
    }
  });

  test('departments hundreds of levels deep are created in one request, and 10,001 departments are rejected', async () => {
    const depth = scale(200, 1_000);
    // Indexing long names for the search takes most of the time, so in the everyday run only some names are long.
    const hasLongName = (n: number) => n % scale(20, 1) === 0;
    const count = scale(2_000, 10_000);
    const departments = Array.from({ length: count }, (_, n) => ({
      ref: `ref ${n}`,
      ...(n % depth ? { parentRef: `ref ${n - 1}` } : {}),
      deptName: hasLongName(n) ? '部'.repeat(100) : '部',
      leader: hasLongName(n) ? '张'.repeat(50) : null,
      email: 'someone@example.com',
    }));
    const response = await add(departments.reverse());
    assert.equal(response.code, 200, response.text.slice(0, 300));
    const { deptIds } = response.data;
    assert.equal(new Set(deptIds).size, count);
    assert.equal((await readDept(admin, deptIds[0])).ancestors.split(',').length, depth);
    const more = Array.from({ length: 10_001 - count }, (_, n) => ({ ref: `more ${n}` }));
    expectInvalid(await add([...departments, ...more]), 'departments');
  });

  test('with an Idempotency-Key the departments are created once and the response is replayed', async () => {
    const headers = { 'idempotency-key': 'many' };
    const body = { departments: [{ ref: 'a', deptName: 'once only' }] };
    const [first, second] = await Promise.all([1, 2].map(() => admin.post(`${DEPTS}/bulk`, body, { headers })));
    assert.deepEqual([first?.code, second?.data], [200, first?.data]);
    assert.equal((await admin.get(`${DEPTS}/list?deptName=once only`.replace(' ', '%20'))).data.total, 1);
    const other = { departments: [{ ref: 'b' }] };
    expectError(await admin.post(`${DEPTS}/bulk`, other, { headers }), 409, 'KEY_REUSED');
  });
});
