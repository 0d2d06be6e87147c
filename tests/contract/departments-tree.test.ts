import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectOk, expectUnchanged, readDept } from '../support/expect.ts';
import { asTenant, startService } from '../support/service.ts';

/** The tree of departments: `ancestors`, valid parents, moves and cycles. */

const service = await startService();
const boss = await service.createTenant();
const neighbour = await service.createTenant();

const ancestorsOf = async (id: string | number) => (await readDept(boss, id)).ancestors;

/** Creates a chain of departments, each below the one before. */
async function createChain(length: number, parentId: string | number = 0): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < length) ids.push(await boss.createDepartment({ parentId: ids.at(-1) ?? parentId }));
  return ids;
}

/** Inserts a chain with these ids directly into the database, so that a thousand levels take one statement. */
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
  test('a top-level department has the ancestors 0', async () =>
    assert.equal(await ancestorsOf(await boss.createDepartment()), '0'));

  test('a child of a top-level department has 0 and its parent as ancestors', async () => {
    const [top, child] = await createChain(2);
    assert.equal(await ancestorsOf(child as string), `0,${top}`);
  });

  test('ancestors lists every department from 0 down to the parent at each of 60 levels', async () => {
    const ids = await createChain(60);
    for (const [at, id] of ids.entries()) {
      assert.equal(await ancestorsOf(id), ['0', ...ids.slice(0, at)].join(','));
    }
  });

  test('ancestors, creation and the cycle check work 1,000 levels deep', async () => {
    const ids = Array.from({ length: 1_000 }, (_, at) => 5_000_000 + at);
    await insertChain(ids);
    const deepest = ids.at(-1) as number;
    assert.equal(await ancestorsOf(deepest), ['0', ...ids.slice(0, -1)].join(','));
    assert.equal(await ancestorsOf(await boss.createDepartment({ parentId: deepest })), ['0', ...ids].join(','));
    expectError(await boss.put(DEPTS, { deptId: ids[0], parentId: deepest }), 409, 'DEPT_CYCLE');
  });
});

describe('Validity of a parent', async () => {
  const deleted = await boss.createDepartment();
  await boss.delete(`${DEPTS}/${deleted}`);
  const disabled = await boss.createDepartment({ status: '1' });
  const elsewhere = await neighbour.createDepartment();
  const invalid: [kind: string, parentId: string, status: number, reason: string][] = [
    ['unknown', '999999999', 400, 'PARENT_NOT_FOUND'],
    ['deleted', deleted, 400, 'PARENT_NOT_FOUND'],
    ['foreign', elsewhere, 400, 'PARENT_NOT_FOUND'],
    ['disabled', disabled, 409, 'PARENT_DISABLED'],
  ];
  for (const [kind, parentId, status, reason] of invalid) {
    test(`creating a department below a parent that is ${kind} is rejected with ${reason}`, async () => {
      const { total } = (await boss.get(`${DEPTS}/list`)).data;
      expectError(await boss.post(DEPTS, { parentId }), status, reason);
      expectError(await boss.post(DEPTS, { parentId: Number(parentId) }), status, reason);
      assert.equal((await boss.get(`${DEPTS}/list`)).data.total, total);
    });

    test(`moving a department below a parent that is ${kind} is rejected with ${reason} and changes nothing`, async () => {
      const deptId = await boss.createDepartment({ parentId: await boss.createDepartment(), deptName: '前' });
      await expectUnchanged(boss, deptId, async () =>
        expectError(await boss.put(DEPTS, { deptId, parentId, deptName: '后', leader: '新' }), status, reason),
      );
    });
  }

  test('parents that are unknown, deleted or of another tenant return the same error', async () => {
    const texts = ['999999999', deleted, elsewhere].map(async (parentId) =>
      (await boss.post(DEPTS, { parentId })).text.replaceAll(parentId, 'ID'),
    );
    assert.equal(new Set(await Promise.all(texts)).size, 1);
  });

  test('parentId 0 is always valid', async () => {
    assert.equal((await readDept(boss, await boss.createDepartment({ parentId: '0' }))).parentId, 0);
    const [, child] = await createChain(2);
    expectOk(await boss.put(DEPTS, { deptId: child, parentId: 0 }));
    assert.equal((await readDept(boss, child as string)).parentId, 0);
  });

  test('only the status of the parent itself counts, not that of its ancestors', async () => {
    const [top, child] = await createChain(2);
    expectOk(await boss.put(DEPTS, { deptId: top, status: '1' }));
    assert.equal(await ancestorsOf(await boss.createDepartment({ parentId: child })), `0,${top},${child}`);
  });

  test('a disabled parent is valid again once it is enabled', async () => {
    const parentId = await boss.createDepartment({ status: '1' });
    expectError(await boss.post(DEPTS, { parentId }), 409, 'PARENT_DISABLED');
    expectOk(await boss.put(DEPTS, { deptId: parentId, status: '0' }));
    expectOk(await boss.post(DEPTS, { parentId }));
  });
});

describe('Rule 2: the service updates ancestors when parentId changes', () => {
  test('a move updates ancestors of the department and of all its descendants', async () => {
    const [a, b, c, d] = (await createChain(4)) as [string, string, string, string];
    const sibling = await boss.createDepartment({ parentId: c });
    const target = (await createChain(3)).at(-1) as string;
    const path = await ancestorsOf(target);
    expectOk(await boss.put(DEPTS, { deptId: b, parentId: target }));
    assert.equal(await ancestorsOf(b), `${path},${target}`);
    assert.equal(await ancestorsOf(c), `${path},${target},${b}`);
    assert.equal(await ancestorsOf(d), `${path},${target},${b},${c}`);
    assert.equal(await ancestorsOf(sibling), `${path},${target},${b},${c}`);
    assert.equal(await ancestorsOf(a), '0');
    const { data } = await boss.get(`${DEPTS}/list?parentId=${c}`);
    assert.deepEqual(
      data.rows.map((row: { ancestors: string }) => row.ancestors),
      Array(2).fill(`${path},${target},${b},${c}`),
    );
  });

  test('a department can move to the top level', async () => {
    const [, b, c] = (await createChain(3)) as [string, string, string];
    expectOk(await boss.put(DEPTS, { deptId: b, parentId: 0 }));
    assert.equal(await ancestorsOf(b), '0');
    assert.equal(await ancestorsOf(c), `0,${b}`);
  });

  test('a department can move away from the top level', async () => {
    const [a, b] = (await createChain(2)) as [string, string];
    const target = await boss.createDepartment();
    expectOk(await boss.put(DEPTS, { deptId: a, parentId: target }));
    assert.equal(await ancestorsOf(b), `0,${target},${a}`);
  });

  test('a department can move away and back', async () => {
    const [a, b, c] = (await createChain(3)) as [string, string, string];
    for (const parentId of [0, a]) expectOk(await boss.put(DEPTS, { deptId: b, parentId }));
    assert.equal(await ancestorsOf(c), `0,${a},${b}`);
  });

  test('a move does not confuse ids that contain the digits of other ids', async () => {
    await insertChain([7, 70, 700, 77]);
    await insertChain([8]);
    expectOk(await boss.put(DEPTS, { deptId: 7, parentId: 8 }));
    assert.equal(await ancestorsOf(70), '0,8,7');
    assert.equal(await ancestorsOf(77), '0,8,7,70,700');
    expectOk(await boss.put(DEPTS, { deptId: 70, parentId: 0 }));
    assert.equal(await ancestorsOf(77), '0,70,700');
  });

  test('a branch of 60 levels can move', async () => {
    const [top, second, ...rest] = await createChain(60);
    expectOk(await boss.put(DEPTS, { deptId: second, parentId: 0 }));
    assert.equal(await ancestorsOf(rest.at(-1) as string), ['0', second, ...rest.slice(0, -1)].join(','));
    expectOk(await boss.put(DEPTS, { deptId: top, parentId: rest.at(-1) as string }));
    assert.equal(await ancestorsOf(top as string), ['0', second, ...rest].join(','));
  });

  test('a disabled department can move', async () => {
    const [a, b] = (await createChain(2)) as [string, string];
    expectOk(await boss.put(DEPTS, { deptId: b, status: '1', parentId: 0 }));
    expectOk(await boss.put(DEPTS, { deptId: b, status: '1', parentId: a }));
    assert.equal(await ancestorsOf(b), `0,${a}`);
  });
});

describe('Rule 1: a department must not become its own ancestor', async () => {
  const branch = await createChain(12);
  const [top, child] = branch as [string, string];
  const targets: [name: string, parentId: string | number][] = [
    ['itself', top],
    ['itself, as a number', Number(top)],
    ['itself, with leading zeros', `000${top}`],
    ['its child', child],
    ['a descendant eleven levels below', branch.at(-1) as string],
  ];
  for (const [name, parentId] of targets) {
    test(`moving a department below ${name} is rejected with DEPT_CYCLE`, async () => {
      await expectUnchanged(boss, branch.at(-1) as string, () =>
        expectUnchanged(boss, top, async () =>
          expectError(await boss.put(DEPTS, { deptId: top, parentId, deptName: '环' }), 409, 'DEPT_CYCLE'),
        ),
      );
    });
  }

  test('two departments cannot be parents of each other', async () => {
    const [a, b] = [await boss.createDepartment(), await boss.createDepartment()];
    expectOk(await boss.put(DEPTS, { deptId: a, parentId: b }));
    expectError(await boss.put(DEPTS, { deptId: b, parentId: a }), 409, 'DEPT_CYCLE');
    expectOk(await boss.put(DEPTS, { deptId: a, parentId: 0 }));
    expectOk(await boss.put(DEPTS, { deptId: b, parentId: a }));
  });
});
