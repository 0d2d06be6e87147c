import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectOk, expectUnchanged, readDept } from '../support/expect.ts';
import { asTenant, startService } from '../support/service.ts';

/** Departments: `ancestors`, valid parents, moves and cycles. */

const service = await startService();
const boss = await service.createTenant();
const neighbour = await service.createTenant();

const ancestorsOf = async (id: string | number) => (await readDept(boss, id)).ancestors;

/** A chain of departments, each below the one before. */
async function chain(length: number, parentId: string | number = 0): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < length) ids.push(await boss.createDepartment({ parentId: ids.at(-1) ?? parentId }));
  return ids;
}

/** A chain with these ids, made around the service: a thousand levels in one statement. */
const insertChain = (ids: number[]) =>
  asTenant(service.owner, boss.tenantId, async (tx) => {
    const rows = ids.map((id, at) => ({
      tenant_id: boss.tenantId,
      dept_id: id,
      parent_id: ids[at - 1] ?? null,
      create_by: 'test',
    }));
    await tx`insert into departments ${tx(rows)}`;
  });

describe('ancestors', () => {
  test('top level: 0', async () => assert.equal(await ancestorsOf(await boss.createDepartment()), '0'));

  test('child of 100, itself top level: 0,100', async () => {
    const [top, child] = await chain(2);
    assert.equal(await ancestorsOf(child as string), `0,${top}`);
  });

  test('starts with 0, ends with the parent, does not hold the department itself, at each of 60 levels', async () => {
    const ids = await chain(60);
    for (const [at, id] of ids.entries()) {
      assert.equal(await ancestorsOf(id), ['0', ...ids.slice(0, at)].join(','));
    }
  });

  test('any depth: a thousand levels', async () => {
    const ids = Array.from({ length: 1_000 }, (_, at) => 5_000_000 + at);
    await insertChain(ids);
    const deepest = ids.at(-1) as number;
    assert.equal(await ancestorsOf(deepest), ['0', ...ids.slice(0, -1)].join(','));
    assert.equal(await ancestorsOf(await boss.createDepartment({ parentId: deepest })), ['0', ...ids].join(','));
    expectError(await boss.put(DEPTS, { deptId: ids[0], parentId: deepest }), 409, 'DEPT_CYCLE');
  });
});

describe('"Existing valid" parent', async () => {
  const deleted = await boss.createDepartment();
  await boss.delete(`${DEPTS}/${deleted}`);
  const disabled = await boss.createDepartment({ status: '1' });
  const elsewhere = await neighbour.createDepartment();
  const invalid: [kind: string, parentId: string, status: number, reason: string][] = [
    ['missing: 400 PARENT_NOT_FOUND', '999999999', 400, 'PARENT_NOT_FOUND'],
    ['deleted: 400 PARENT_NOT_FOUND', deleted, 400, 'PARENT_NOT_FOUND'],
    ["another tenant's: 400 PARENT_NOT_FOUND", elsewhere, 400, 'PARENT_NOT_FOUND'],
    ['disabled: 409 PARENT_DISABLED', disabled, 409, 'PARENT_DISABLED'],
  ];
  for (const [kind, parentId, status, reason] of invalid) {
    test(`${kind}, on create`, async () => {
      const { total } = (await boss.get(`${DEPTS}/list`)).data;
      expectError(await boss.post(DEPTS, { parentId }), status, reason);
      expectError(await boss.post(DEPTS, { parentId: Number(parentId) }), status, reason);
      assert.equal((await boss.get(`${DEPTS}/list`)).data.total, total);
    });

    test(`${kind}, on update when the parent changes; then nothing of the update is kept`, async () => {
      const deptId = await boss.createDepartment({ parentId: await boss.createDepartment(), deptName: '前' });
      await expectUnchanged(boss, deptId, async () =>
        expectError(await boss.put(DEPTS, { deptId, parentId, deptName: '后', leader: '新' }), status, reason),
      );
    });
  }

  test('a deleted department is not told apart from one that never was, nor from another tenant’s', async () => {
    const texts = ['999999999', deleted, elsewhere].map(async (parentId) =>
      (await boss.post(DEPTS, { parentId })).text.replaceAll(parentId, 'ID'),
    );
    assert.equal(new Set(await Promise.all(texts)).size, 1);
  });

  test('0 is always valid', async () => {
    assert.equal((await readDept(boss, await boss.createDepartment({ parentId: '0' }))).parentId, 0);
    const [, child] = await chain(2);
    expectOk(await boss.put(DEPTS, { deptId: child, parentId: 0 }));
    assert.equal((await readDept(boss, child as string)).parentId, 0);
  });

  test('its own status counts: below an enabled child of a disabled department', async () => {
    const [top, child] = await chain(2);
    expectOk(await boss.put(DEPTS, { deptId: top, status: '1' }));
    assert.equal(await ancestorsOf(await boss.createDepartment({ parentId: child })), `0,${top},${child}`);
  });

  test('valid again once it is enabled', async () => {
    const parentId = await boss.createDepartment({ status: '1' });
    expectError(await boss.post(DEPTS, { parentId }), 409, 'PARENT_DISABLED');
    expectOk(await boss.put(DEPTS, { deptId: parentId, status: '0' }));
    expectOk(await boss.post(DEPTS, { parentId }));
  });
});

describe('Rule 2: when parentId changes, ancestors is updated by the service', () => {
  test('of the department and of everything below it', async () => {
    const [a, b, c, d] = (await chain(4)) as [string, string, string, string];
    const aside = await boss.createDepartment({ parentId: c });
    const goal = (await chain(3)).at(-1) as string;
    const path = await ancestorsOf(goal);
    expectOk(await boss.put(DEPTS, { deptId: b, parentId: goal }));
    assert.equal(await ancestorsOf(b), `${path},${goal}`);
    assert.equal(await ancestorsOf(c), `${path},${goal},${b}`);
    assert.equal(await ancestorsOf(d), `${path},${goal},${b},${c}`);
    assert.equal(await ancestorsOf(aside), `${path},${goal},${b},${c}`);
    assert.equal(await ancestorsOf(a), '0');
    const { data } = await boss.get(`${DEPTS}/list?parentId=${c}`);
    assert.deepEqual(
      data.rows.map((row: { ancestors: string }) => row.ancestors),
      Array(2).fill(`${path},${goal},${b},${c}`),
    );
  });

  test('to the top level', async () => {
    const [, b, c] = (await chain(3)) as [string, string, string];
    expectOk(await boss.put(DEPTS, { deptId: b, parentId: 0 }));
    assert.equal(await ancestorsOf(b), '0');
    assert.equal(await ancestorsOf(c), `0,${b}`);
  });

  test('from the top level', async () => {
    const [a, b] = (await chain(2)) as [string, string];
    const goal = await boss.createDepartment();
    expectOk(await boss.put(DEPTS, { deptId: a, parentId: goal }));
    assert.equal(await ancestorsOf(b), `0,${goal},${a}`);
  });

  test('there and back again', async () => {
    const [a, b, c] = (await chain(3)) as [string, string, string];
    for (const parentId of [0, a]) expectOk(await boss.put(DEPTS, { deptId: b, parentId }));
    assert.equal(await ancestorsOf(c), `0,${a},${b}`);
  });

  test('ids that hold one another’s digits are not confused', async () => {
    await insertChain([7, 70, 700, 77]);
    await insertChain([8]);
    expectOk(await boss.put(DEPTS, { deptId: 7, parentId: 8 }));
    assert.equal(await ancestorsOf(70), '0,8,7');
    assert.equal(await ancestorsOf(77), '0,8,7,70,700');
    expectOk(await boss.put(DEPTS, { deptId: 70, parentId: 0 }));
    assert.equal(await ancestorsOf(77), '0,70,700');
  });

  test('a whole branch of 60 levels', async () => {
    const [top, second, ...rest] = await chain(60);
    expectOk(await boss.put(DEPTS, { deptId: second, parentId: 0 }));
    assert.equal(await ancestorsOf(rest.at(-1) as string), ['0', second, ...rest.slice(0, -1)].join(','));
    expectOk(await boss.put(DEPTS, { deptId: top, parentId: rest.at(-1) as string }));
    assert.equal(await ancestorsOf(top as string), ['0', second, ...rest].join(','));
  });

  test('a disabled department moves like any other', async () => {
    const [a, b] = (await chain(2)) as [string, string];
    expectOk(await boss.put(DEPTS, { deptId: b, status: '1', parentId: 0 }));
    expectOk(await boss.put(DEPTS, { deptId: b, status: '1', parentId: a }));
    assert.equal(await ancestorsOf(b), `0,${a}`);
  });
});

describe('Rule 1: a department must not become its own ancestor', async () => {
  const branch = await chain(12);
  const [top, child] = branch as [string, string];
  const goals: [name: string, parentId: string | number][] = [
    ['itself', top],
    ['itself, as a number', Number(top)],
    ['itself, with leading zeros', `000${top}`],
    ['its child', child],
    ['a descendant eleven levels below', branch.at(-1) as string],
  ];
  for (const [name, parentId] of goals) {
    test(`refused: below ${name}`, async () => {
      await expectUnchanged(boss, branch.at(-1) as string, () =>
        expectUnchanged(boss, top, async () =>
          expectError(await boss.put(DEPTS, { deptId: top, parentId, deptName: '环' }), 409, 'DEPT_CYCLE'),
        ),
      );
    });
  }

  test('A under B under A', async () => {
    const [a, b] = [await boss.createDepartment(), await boss.createDepartment()];
    expectOk(await boss.put(DEPTS, { deptId: a, parentId: b }));
    expectError(await boss.put(DEPTS, { deptId: b, parentId: a }), 409, 'DEPT_CYCLE');
    expectOk(await boss.put(DEPTS, { deptId: a, parentId: 0 }));
    expectOk(await boss.put(DEPTS, { deptId: b, parentId: a }));
  });
});
