import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { asTenant, type Client, startService } from '../support/service.ts';

/** Departments: delete, batch delete, and what is seen of them afterwards. */

const service = await startService();
const boss = await service.createTenant();
const neighbour = await service.createTenant();

const remove = (...ids: (string | number)[]) => boss.delete(`${DEPTS}/${ids.join(',')}`);
const isThere = async (id: string | number, client: Client = boss) =>
  (await client.get(`${DEPTS}/${id}`)).status === 200;

/** Many departments at once, made around the service. */
const insertMany = (ids: number[]) =>
  asTenant(service.owner, boss.tenantId, async (tx) => {
    await tx`
      insert into departments (tenant_id, dept_id, create_by)
      select ${boss.tenantId}, id, 'test' from unnest(${ids.map(String)}::bigint[]) as id`;
  });
const range = (from: number, length: number) => Array.from({ length }, (_, at) => from + at);

describe('States: delFlag 0 → 2, on DELETE, single or batch', () => {
  test('condition: no child departments and no associated users', async () => {
    const id = await boss.createDepartment();
    expectOk(await remove(id));
    assert.equal((await readDept(boss, id, '?includeDeleted=true')).delFlag, '2');
  });

  test('there is no way back: a deleted department is neither updated nor deleted again', async () => {
    const deptId = await boss.createDepartment({ deptName: '前' });
    expectOk(await remove(deptId));
    expectError(await boss.put(DEPTS, { deptId, deptName: '后', delFlag: '0' }), 404, 'DEPT_NOT_FOUND');
    expectError(await remove(deptId), 404, 'DEPT_NOT_FOUND', { deptIds: [Number(deptId)] });
    const { deptName, delFlag } = await readDept(boss, deptId, '?includeDeleted=true');
    assert.deepEqual([deptName, delFlag], ['前', '2']);
  });
});

describe('Read of a deleted department', () => {
  test('404; ?includeDeleted=true shows it with delFlag 2', async () => {
    const top = await boss.createDepartment();
    const below = await boss.createDepartment({ parentId: top, deptName: '旧部' });
    expectOk(await remove(below));
    expectOk(await remove(top));
    for (const query of ['', '?includeDeleted=false', '?includeDeleted=']) {
      expectError(await boss.get(`${DEPTS}/${below}${query}`), 404, 'DEPT_NOT_FOUND');
    }
    const shown = await readDept(boss, below, '?includeDeleted=true');
    assert.deepEqual([shown.delFlag, shown.deptName, shown.ancestors], ['2', '旧部', `0,${top}`]);
  });

  test('?includeDeleted=true shows one that exists with delFlag 0, and never another tenant’s', async () => {
    const id = await boss.createDepartment();
    assert.equal((await readDept(boss, id, '?includeDeleted=true')).delFlag, '0');
    expectOk(await remove(id));
    for (const stranger of [neighbour, service.root]) {
      expectError(await stranger.get(`${DEPTS}/${id}?includeDeleted=true`), 404, 'DEPT_NOT_FOUND');
    }
  });

  test('?includeDeleted with anything else: 400', async () => {
    expectInvalid(await boss.get(`${DEPTS}/1?includeDeleted=perhaps`), 'includeDeleted');
  });

  test('any user of the tenant may see it', async () => {
    const id = await boss.createDepartment();
    expectOk(await remove(id));
    const member = await service.createMember(boss);
    assert.equal((await readDept(member, id, '?includeDeleted=true')).delFlag, '2');
  });
});

describe('Delete: refused', () => {
  test('with children: 409 DEPT_HAS_CHILDREN', async () => {
    const id = await boss.createDepartment();
    const child = await boss.createDepartment({ parentId: id, status: '1' });
    expectError(await remove(id), 409, 'DEPT_HAS_CHILDREN', { deptIds: [Number(id)] });
    assert.ok(await isThere(id));
    assert.ok(await isThere(child));
  });

  for (const [how, body] of [
    ['as main department', (id: string) => ({ deptId: id })],
    ['as a further department', (id: string) => ({ deptIds: [id] })],
    ['who is disabled', (id: string) => ({ deptId: id, status: '1' })],
  ] as const) {
    test(`with users: 409 DEPT_HAS_USERS, one with it ${how}`, async () => {
      const id = await boss.createDepartment();
      await boss.createUser({ userName: `sitter ${id}`, ...body(id) });
      expectError(await remove(id), 409, 'DEPT_HAS_USERS', { deptIds: [Number(id)] });
      assert.ok(await isThere(id));
    });
  }

  test('deleted children don’t count, nor do children that moved away', async () => {
    const id = await boss.createDepartment();
    const [deleted, moved] = [
      await boss.createDepartment({ parentId: id }),
      await boss.createDepartment({ parentId: id }),
    ];
    expectOk(await remove(deleted));
    expectError(await remove(id), 409, 'DEPT_HAS_CHILDREN');
    expectOk(await boss.put(DEPTS, { deptId: moved, parentId: 0 }));
    expectOk(await remove(id));
  });

  test('deleted users don’t count, nor do users who left', async () => {
    const id = await boss.createDepartment();
    const deleted = await boss.createUser({ userName: 'deleted', deptId: id });
    const gone = await boss.createUser({ userName: 'gone', deptIds: [id] });
    expectOk(await boss.delete(`/system/user-api/${deleted}`));
    expectError(await remove(id), 409, 'DEPT_HAS_USERS');
    expectOk(await boss.put('/system/user-api', { userId: gone }));
    expectOk(await remove(id));
  });

  test('no such department, or another tenant’s: 404, told alike', async () => {
    const elsewhere = await neighbour.createDepartment();
    const texts = [];
    for (const id of ['999999999', elsewhere]) {
      const answer = await remove(id);
      expectError(answer, 404, 'DEPT_NOT_FOUND', { deptIds: [Number(id)] });
      texts.push(answer.text.replaceAll(id, 'ID'));
    }
    assert.equal(texts[0], texts[1]);
    assert.ok(await isThere(elsewhere, neighbour));
  });
});

describe('Batch delete: all or nothing', () => {
  test('departments with children; the refusal names the ids at fault', async () => {
    const [free, first, second] = [
      await boss.createDepartment(),
      await boss.createDepartment(),
      await boss.createDepartment(),
    ];
    for (const parentId of [first, second]) await boss.createDepartment({ parentId });
    const deptIds = [Number(first), Number(second)];
    expectError(await remove(free, first, second), 409, 'DEPT_HAS_CHILDREN', { deptIds });
    assert.ok(await isThere(free));
  });

  test('departments with users; the refusal names the ids at fault', async () => {
    const [free, used, also] = [
      await boss.createDepartment(),
      await boss.createDepartment(),
      await boss.createDepartment(),
    ];
    await boss.createUser({ userName: 'two places', deptId: also, deptIds: [used] });
    const deptIds = [Number(used), Number(also)];
    expectError(await remove(free, used, also), 409, 'DEPT_HAS_USERS', { deptIds });
    assert.ok(await isThere(free));
  });

  test('an unknown id refuses the batch (404); the refusal names the ids at fault', async () => {
    const [free, deleted, elsewhere] = [
      await boss.createDepartment(),
      await boss.createDepartment(),
      await neighbour.createDepartment(),
    ];
    expectOk(await remove(deleted));
    const deptIds = [999_999_999, Number(deleted), Number(elsewhere)];
    expectError(await remove(...deptIds, free), 404, 'DEPT_NOT_FOUND', { deptIds });
    assert.ok(await isThere(free));
    assert.ok(await isThere(elsewhere, neighbour));
  });

  test('a department with children is refused even when the children are in the same batch', async () => {
    const parent = await boss.createDepartment();
    const child = await boss.createDepartment({ parentId: parent });
    for (const order of [
      [parent, child],
      [child, parent],
    ]) {
      expectError(await remove(...order), 409, 'DEPT_HAS_CHILDREN', { deptIds: [Number(parent)] });
    }
    assert.ok(await isThere(child));
    expectOk(await remove(child));
    expectOk(await remove(parent));
  });

  test('repeated ids count once', async () => {
    const [one, two] = [await boss.createDepartment(), await boss.createDepartment()];
    expectOk(await remove(one, two, one, `00${two}`));
    assert.deepEqual([await isThere(one), await isThere(two)], [false, false]);
  });

  for (const ids of ['1,,2', ',1', '1,', ',', '1, 2', '1;2', '1,a', '1,-2', '1,2.0', '1,12345678901234567890']) {
    test(`${ids} is 400`, async () => {
      const id = await boss.createDepartment();
      expectInvalid(await boss.delete(`${DEPTS}/${encodeURIComponent(ids.replace('1', id))}`), 'ids');
      assert.ok(await isThere(id));
    });
  }

  test('up to 500 ids', async () => {
    const ids = range(7_000_000, 500);
    await insertMany(ids);
    expectOk(await remove(...ids, ...ids.slice(0, 7)));
    const [left] = await service.superuser`
      select count(*)::int as live from departments where dept_id = any(${ids.map(String)}::bigint[]) and del_flag = '0'`;
    assert.equal(left?.live, 0);
  });

  test('501 ids, and 10,000: a clear refusal', async () => {
    const ids = range(8_000_000, 501);
    await insertMany(ids);
    for (const many of [ids, [...ids, ...range(9_000_000, 9_499)]]) {
      const answer = await remove(...many);
      expectError(answer, 400, 'TOO_MANY_IDS', { limit: 500 });
      assert.match(answer.msg, /500/);
    }
    assert.ok(await isThere(8_000_000));
  });
});
