import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept, storedState } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { type Client, startService } from '../support/service.ts';

/** Many departments at once. */

const service = await startService();
const boss = await service.createTenant();
const neighbour = await service.createTenant();

const add = (departments: unknown[], more: Record<string, unknown> = {}, client: Client = boss) =>
  client.post(`${DEPTS}/bulk`, { departments, ...more });

/** Does the work, and sees that it wrote nothing. */
async function refusedWhole(work: () => Promise<unknown>): Promise<void> {
  const before = await storedState(service);
  await work();
  assert.deepEqual(await storedState(service), before);
}

describe('Many departments at once: refused, all of them', () => {
  const faults: [what: string, departments: unknown[], field: string, reason?: string][] = [
    ['an unknown reference', [{ ref: 'a' }, { ref: 'b', parentRef: 'c' }], 'departments[1].parentRef'],
    ['a reference of other letters', [{ ref: 'A' }, { ref: 'b', parentRef: 'a' }], 'departments[1].parentRef'],
    ['a repeated reference', [{ ref: 'a' }, { ref: 'b' }, { ref: 'a' }], 'departments[2].ref'],
    ['its own parent', [{ ref: 'a' }, { ref: 'b', parentRef: 'b' }], 'departments[1].parentRef'],
    ['no reference', [{ ref: 'a' }, { deptName: 'b' }], 'departments[1].ref', 'FIELD_REQUIRED'],
    ['an empty reference', [{ ref: '' }], 'departments[0].ref'],
    [
      'a wrong e-mail',
      [...Array(17).keys()].map((n) => ({ ref: `${n}` })).concat({ ref: 'x', email: 'x' } as never),
      'departments[17].email',
    ],
    ['a name too long', [{ ref: 'a', deptName: 'x'.repeat(101) }], 'departments[0].deptName'],
    ['NUL in a name', [{ ref: 'a' }, { ref: 'b', deptName: 'a\0' }], 'departments[1].deptName'],
    ['a parent of its own', [{ ref: 'a' }, { ref: 'b', parentId: 0 }], 'departments[1].parentId'],
    ['no department', [], 'departments'],
    ['no object', [{ ref: 'a' }, 7], 'departments[1]'],
  ];
  for (const [what, departments, field, reason] of faults) {
    test(`${what}: 400 that names ${field}`, () =>
      refusedWhole(async () => expectInvalid(await add(departments), field, reason)));
  }

  test('a cycle of references: 400 that names an entry of it', async () => {
    const ring = (size: number) =>
      Array.from({ length: size }, (_, n) => ({ ref: `${n}`, parentRef: `${(n + 1) % size}` }));
    await refusedWhole(async () => {
      for (const size of [2, 3, 10_000]) expectInvalid(await add(ring(size)), 'departments[0].parentRef');
      // Who hangs on a cycle is not in it.
      const answer = await add([{ ref: 'x', parentRef: '1' }, { ref: 'y', parentRef: 'x' }, ...ring(2)]);
      assert.match(answer.data.field, /^departments\[[23]\]\.parentRef$/);
    });
  });

  test('a parent that is not valid', async () => {
    const [off, gone, foreign] = [
      await boss.createDepartment({ status: '1' }),
      await boss.createDepartment(),
      await neighbour.createDepartment(),
    ];
    await boss.delete(`${DEPTS}/${gone}`);
    await refusedWhole(async () => {
      expectError(await add([{ ref: 'a' }], { parentId: off }), 409, 'PARENT_DISABLED');
      for (const parentId of [gone, foreign, '999999999']) {
        expectError(await add([{ ref: 'a' }], { parentId }), 400, 'PARENT_NOT_FOUND', { parentId: Number(parentId) });
      }
      const disabled = [{ ref: 'a', status: '1' }, { ref: 'b' }, { ref: 'c', parentRef: 'a' }];
      expectError(await add(disabled), 409, 'PARENT_DISABLED', { field: 'departments[2].parentRef' });
    });
  });

  test('another tenant’s code in any entry: 403', () =>
    refusedWhole(async () => {
      const departments = [{ ref: 'a' }, { ref: 'b', tenantId: neighbour.tenantId }];
      expectError(await add(departments), 403, 'OTHER_TENANT', { field: 'departments[1].tenantId' });
    }));

  test('for administrators only', async () => {
    expectError(await add([{ ref: 'a' }], {}, await service.createMember(boss)), 403, 'NOT_ALLOWED');
  });
});

describe('Many departments at once', () => {
  test('parents by reference, in any order; ids in the order sent', async () => {
    const top = await boss.createDepartment();
    const answer = await add(
      [
        { ref: 'leaf', parentRef: 'middle', deptName: '叶' },
        { ref: 'alone' },
        { ref: 'middle', parentRef: 'root' },
        { ref: 'root', parentRef: null },
      ],
      { parentId: top },
    );
    const [leaf, alone, middle, root] = answer.data.deptIds;
    expectOk(answer, { deptIds: [leaf, alone, middle, root] });
    assert.equal((await readDept(boss, leaf)).ancestors, `0,${top},${root},${middle}`);
    assert.equal((await readDept(boss, alone)).ancestors, `0,${top}`);
    assert.ok(leaf < alone && alone < middle && middle < root, 'shown in the order sent');
  });

  test('every field, with its default, as a single create would store it', async () => {
    const full = {
      deptName: '研发"部\\\n🌳',
      orderNum: -7,
      leader: '张三',
      phone: '13800000000',
      email: 'a@b.cn',
      status: '1',
      tenantId: boss.tenantId,
    };
    const nothing = Object.fromEntries(Object.keys(full).map((name) => [name, null]));
    const owned = { deptId: 1, ancestors: 'x', delFlag: '2', createBy: 'x', unknown: { a: 1 }, parentId: null };
    const { data } = await add([
      { ref: 'a', ...full, ...owned },
      { ref: 'b', ...nothing },
    ]);
    for (const [at, body] of [full, {}].entries()) {
      const { deptId, createTime, ...stored } = await readDept(boss, data.deptIds[at]);
      const { deptId: other, createTime: _, ...single } = await readDept(boss, await boss.createDepartment(body));
      assert.deepEqual(stored, single);
      assert.ok(other > deptId && createTime);
    }
  });

  test('10,000 with all their fields, hundreds of levels deep, and not one more', async () => {
    const depth = scale(200, 1_000);
    // Long names take most of the time, in the index for the search.
    const isLong = (n: number) => n % scale(20, 1) === 0;
    const departments = Array.from({ length: 10_000 }, (_, n) => ({
      ref: `ref ${n}`,
      ...(n % depth ? { parentRef: `ref ${n - 1}` } : {}),
      deptName: isLong(n) ? '部'.repeat(100) : '部',
      leader: isLong(n) ? '张'.repeat(50) : null,
      email: 'someone@example.com',
    }));
    const answer = await add(departments.reverse());
    assert.equal(answer.code, 200, answer.text.slice(0, 300));
    const { deptIds } = answer.data;
    assert.equal(new Set(deptIds).size, 10_000);
    assert.equal((await readDept(boss, deptIds[0])).ancestors.split(',').length, depth);
    expectInvalid(await add([...departments, { ref: 'more' }]), 'departments');
  });

  test('with an Idempotency-Key they are made once, and told again', async () => {
    const headers = { 'idempotency-key': 'many' };
    const body = { departments: [{ ref: 'a', deptName: 'once only' }] };
    const [first, second] = await Promise.all([1, 2].map(() => boss.post(`${DEPTS}/bulk`, body, { headers })));
    assert.deepEqual([first?.code, second?.data], [200, first?.data]);
    assert.equal((await boss.get(`${DEPTS}/list?deptName=once only`.replace(' ', '%20'))).data.total, 1);
    const other = { departments: [{ ref: 'b' }] };
    expectError(await boss.post(`${DEPTS}/bulk`, other, { headers }), 409, 'KEY_REUSED');
  });
});
