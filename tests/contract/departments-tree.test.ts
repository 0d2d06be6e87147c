import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectOk, expectUnchanged, readDept } from '../support/expect.ts';
import { asTenant, shareService } from '../support/service.ts';

/** The tree of departments: `ancestors`, valid parents, moves and cycles. */

const service = await shareService();
const admin = await service.createTenant();
const neighbour = await service.createTenant();

const ancestorsOf = async (id: string | number) => (await readDept(admin, id)).ancestors;

async function createChain(length: number, parentId: string | number = 0): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < length) ids.push(await admin.createDepartment({ parentId: ids.at(-1) ?? parentId }));
  return ids;
}

/** Inserts a chain with these ids directly into the database, so that a thousand levels take one statement. */
const insertChain = (ids: number[]) =>
  asTenant(service.owner, admin.tenantId, async (tx) => {
    const rows = ids.map((id, at) => ({
      tenant_id: admin.tenantId,
      dept_id: id,
      parent_id: ids[at - 1] ?? null,
      create_by: 'test',
    }));
    await tx`insert into departments ${tx(rows)}`;
  });

describe('ancestors', () => {
  test('a top-level department has the ancestors 0', async () =>
    assert.equal(await ancestorsOf(await admin.createDepartment()), '0'));

  test('a child of a top-level department has 0 and its parent as ancestors', async () => {
    const [top, child] = await createChain(2);
    assert.equal(await ancestorsOf(child as string), `0,${top}`);
  });

  test('ancestors lists every department from 0 down to the parent at each of 60 levels', async () => {
    const ids = Array.from({ length: 60 }, (_, at) => 5_010_000 + at);
    await insertChain(ids);
    for (const [at, id] of ids.entries()) {
      assert.equal(await ancestorsOf(id), ['0', ...ids.slice(0, at)].join(','));
    }
  });

  test('ancestors, creation and the cycle check work 1,000 levels deep', async () => {
    const ids = Array.from({ length: 999 }, (_, at) => 5_000_000 + at);
    await insertChain(ids);
    const deepest = ids.at(-1) as number;
    assert.equal(await ancestorsOf(deepest), ['0', ...ids.slice(0, -1)].join(','));
    assert.equal(await ancestorsOf(await admin.createDepartment({ parentId: deepest })), ['0', ...ids].join(','));
    expectError(await admin.put(DEPTS, { deptId: ids[0], parentId: deepest }), 409, 'DEPT_CYCLE');
  });
});

const deleted = await admin.createDepartment();
await admin.delete(`${DEPTS}/${deleted}`);
const disabled = await admin.createDepartment({ status: '1' });
const elsewhere = await neighbour.createDepartment();

describe('Validity of a parent', () => {
  const invalid: [kind: string, parentId: string, status: number, reason: string][] = [
    ['unknown', '999999999', 400, 'PARENT_NOT_FOUND'],
    ['deleted', deleted, 400, 'PARENT_NOT_FOUND'],
    ['of another tenant', elsewhere, 400, 'PARENT_NOT_FOUND'],
    ['disabled', disabled, 409, 'PARENT_DISABLED'],
  ];
  for (const [kind, parentId, status, reason] of invalid) {
    test(`creating a department below a parent that is ${kind} is rejected with ${reason}`, async () => {
      const { total } = (await admin.get(`${DEPTS}/list`)).data;
      expectError(await admin.post(DEPTS, { parentId }), status, reason);
      expectError(await admin.post(DEPTS, { parentId: Number(parentId) }), status, reason);
      assert.equal((await admin.get(`${DEPTS}/list`)).data.total, total);
    });

    test(`moving a department below a parent that is ${kind} is rejected with ${reason} and changes nothing`, async () => {
      const deptId = await admin.createDepartment({ parentId: await admin.createDepartment(), deptName: '前' });
      await expectUnchanged(admin, deptId, async () =>
        expectError(await admin.put(DEPTS, { deptId, parentId, deptName: '后', leader: '新' }), status, reason),
      );
    });
  }

  test('parents that are unknown, deleted or of another tenant return the same error', async () => {
    const texts = ['999999999', deleted, elsewhere].map(async (parentId) =>
      (await admin.post(DEPTS, { parentId })).text.replaceAll(parentId, 'ID'),
    );
    assert.equal(new Set(await Promise.all(texts)).size, 1);
  });

  test('parentId 0 is always valid', async () => {
    assert.equal((await readDept(admin, await admin.createDepartment({ parentId: '0' }))).parentId, 0);
    const [, child] = await createChain(2);
    expectOk(await admin.put(DEPTS, { deptId: child, parentId: 0 }));
    assert.equal((await readDept(admin, child as string)).parentId, 0);
  });

  test('only the status of the parent itself counts, not that of its ancestors', async () => {
    const [top, child] = await createChain(2);
    expectOk(await admin.put(DEPTS, { deptId: top, status: '1' }));
    assert.equal(await ancestorsOf(await admin.createDepartment({ parentId: child })), `0,${top},${child}`);
  });

  test('a disabled parent is valid again once it is enabled', async () => {
    const parentId = await admin.createDepartment({ status: '1' });
    expectError(await admin.post(DEPTS, { parentId }), 409, 'PARENT_DISABLED');
    expectOk(await admin.put(DEPTS, { deptId: parentId, status: '0' }));
    expectOk(await admin.post(DEPTS, { parentId }));
  });
});

describe('ancestors after a move', () => {
  test('a move updates ancestors of the department and of all its descendants', async () => {
    const [a, b, c, d] = (await createChain(4)) as [string, string, string, string];
    const sibling = await admin.createDepartment({ parentId: c });
    const target = (await createChain(3)).at(-1) as string;
    const path = await ancestorsOf(target);
    expectOk(await admin.put(DEPTS, { deptId: b, parentId: target }));
    assert.equal(await ancestorsOf(b), `${path},${target}`);
    assert.equal(await ancestorsOf(c), `${path},${target},${b}`);
    assert.equal(await ancestorsOf(d), `${path},${target},${b},${c}`);
    assert.equal(await ancestorsOf(sibling), `${path},${target},${b},${c}`);
    assert.equal(await ancestorsOf(a), '0');
    const { data } = await admin.get(`${DEPTS}/list?parentId=${c}`);
    assert.deepEqual(
      data.rows.map((row: { ancestors: string }) => row.ancestors),
      Array(2).fill(`${path},${target},${b},${c}`),
    );
  });

  test('a department can move to the top level', async () => {
    const [, b, c] = (await createChain(3)) as [string, string, string];
    expectOk(await admin.put(DEPTS, { deptId: b, parentId: 0 }));
    assert.equal(await ancestorsOf(b), '0');
    assert.equal(await ancestorsOf(c), `0,${b}`);
  });

  test('a department can move away from the top level', async () => {
    const [a, b] = (await createChain(2)) as [string, string];
    const target = await admin.createDepartment();
    expectOk(await admin.put(DEPTS, { deptId: a, parentId: target }));
    assert.equal(await ancestorsOf(b), `0,${target},${a}`);
  });

  test('a department can move away and back', async () => {
    const [a, b, c] = (await createChain(3)) as [string, string, string];
    for (const parentId of [0, a]) expectOk(await admin.put(DEPTS, { deptId: b, parentId }));
    assert.equal(await ancestorsOf(c), `0,${a},${b}`);
  });

  test('a move does not confuse ids that contain the digits of other ids', async () => {
    await insertChain([7, 70, 7_000_000, 77]);
    await insertChain([8]);
    expectOk(await admin.put(DEPTS, { deptId: 7, parentId: 8 }));
    assert.equal(await ancestorsOf(70), '0,8,7');
    assert.equal(await ancestorsOf(77), '0,8,7,70,7000000');
    expectOk(await admin.put(DEPTS, { deptId: 70, parentId: 0 }));
    assert.equal(await ancestorsOf(77), '0,70,7000000');
  });

  test('a subtree of 60 levels can move', async () => {
    const ids = Array.from({ length: 60 }, (_, at) => 5_020_000 + at);
    await insertChain(ids);
    const [top, second, ...rest] = ids;
    expectOk(await admin.put(DEPTS, { deptId: second, parentId: 0 }));
    assert.equal(await ancestorsOf(rest.at(-1) as number), ['0', second, ...rest.slice(0, -1)].join(','));
    expectOk(await admin.put(DEPTS, { deptId: top, parentId: rest.at(-1) as number }));
    assert.equal(await ancestorsOf(top as number), ['0', second, ...rest].join(','));
  });

  test('a disabled department can move', async () => {
    const [a, b] = (await createChain(2)) as [string, string];
    expectOk(await admin.put(DEPTS, { deptId: b, status: '1', parentId: 0 }));
    expectOk(await admin.put(DEPTS, { deptId: b, status: '1', parentId: a }));
    assert.equal(await ancestorsOf(b), `0,${a}`);
  });
});

const subtree = await createChain(12);

describe('cycles', () => {
  const [top, child] = subtree as [string, string];
  const targets: [name: string, parentId: string | number][] = [
    ['itself', top],
    ['itself, as a number', Number(top)],
    ['itself, with leading zeros', `000${top}`],
    ['its child', child],
    ['a descendant eleven levels below', subtree.at(-1) as string],
  ];
  for (const [name, parentId] of targets) {
    test(`moving a department below ${name} is rejected with DEPT_CYCLE`, async () => {
      await expectUnchanged(admin, subtree.at(-1) as string, () =>
        expectUnchanged(admin, top, async () =>
          expectError(await admin.put(DEPTS, { deptId: top, parentId, deptName: '环' }), 409, 'DEPT_CYCLE'),
        ),
      );
    });
  }

  test('two departments cannot be parents of each other', async () => {
    const [a, b] = [await admin.createDepartment(), await admin.createDepartment()];
    expectOk(await admin.put(DEPTS, { deptId: a, parentId: b }));
    expectError(await admin.put(DEPTS, { deptId: b, parentId: a }), 409, 'DEPT_CYCLE');
    expectOk(await admin.put(DEPTS, { deptId: a, parentId: 0 }));
    expectOk(await admin.put(DEPTS, { deptId: b, parentId: a }));
  });
});
