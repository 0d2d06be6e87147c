import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { asTenant, type Client, shareService } from '../support/service.ts';

/** GET /system/dept-api/{id}/children reads the children of a department in pages. */

const service = await shareService();
const admin = await service.createTenant();
const neighbour = await service.createTenant();

const children = (id: string | number, query = '', client: Client = admin) =>
  client.get(`${DEPTS}/${id}/children${query && `?${query}`}`);

/** Reads all pages and returns the ids; `between` runs after each page. */
async function allPages(id: string, limit: number, between: (page: number) => Promise<unknown> = async () => {}) {
  const ids: number[] = [];
  let next: string | null = '';
  for (let page = 1; next !== null; page++) {
    const { data, text } = await children(id, `limit=${limit}&cursor=${next}`);
    assert.ok(data.rows.length <= limit, text);
    assert.ok(data.next === null || data.rows.length === limit, 'only the last page may be shorter than the limit');
    ids.push(...data.rows.map(({ deptId }: { deptId: number }) => deptId));
    next = data.next;
    await between(page);
  }
  return ids;
}

describe('Children of a department', () => {
  test('each child has the same fields as a single read, and hasChildren', async () => {
    const top = await admin.createDepartment();
    const middle = await admin.createDepartment({ parentId: top });
    const [leaf, parent] = [
      await admin.createDepartment({
        parentId: middle,
        deptName: '叶',
        leader: '张三',
        email: 'a@b.cn',
        phone: '1',
        orderNum: 2,
      }),
      await admin.createDepartment({ parentId: middle, orderNum: 1 }),
    ];
    await admin.createDepartment({ parentId: parent });
    expectOk(await children(middle), {
      rows: [
        { ...(await readDept(admin, parent)), hasChildren: true },
        { ...(await readDept(admin, leaf)), hasChildren: false },
      ],
      next: null,
    });
    assert.equal((await children(middle)).data.rows[0].ancestors, `0,${top},${middle}`);
  });

  test('a department without children returns an empty page', async () => {
    expectOk(await children(await admin.createDepartment()), { rows: [], next: null });
  });

  test('id 0 returns the top-level departments', async () => {
    const other = await service.createTenant();
    expectOk(await children(0, '', other), { rows: [], next: null });
    const [late, early] = [
      await other.createDepartment({ orderNum: 5 }),
      await other.createDepartment({ orderNum: -5 }),
    ];
    await other.createDepartment({ parentId: late });
    const { rows } = (await children('00', '', other)).data;
    assert.deepEqual(
      rows.map(({ deptId, ancestors, hasChildren }: never) => [deptId, ancestors, hasChildren]),
      [
        [Number(early), '0', false],
        [Number(late), '0', true],
      ],
    );
  });

  test('deleted children are not listed and do not count for hasChildren', async () => {
    const top = await admin.createDepartment();
    const [child, deleted] = [
      await admin.createDepartment({ parentId: top }),
      await admin.createDepartment({ parentId: top }),
    ];
    const below = await admin.createDepartment({ parentId: child });
    assert.equal((await children(top)).data.rows[0].hasChildren, true);
    for (const id of [below, deleted]) expectOk(await admin.delete(`${DEPTS}/${id}`));
    const { rows } = (await children(top)).data;
    assert.deepEqual(
      rows.map(({ deptId, hasChildren }: never) => [deptId, hasChildren]),
      [[Number(child), false]],
    );
  });

  test('any user of the tenant may list children', async () => {
    assert.equal((await children(0, '', await service.createMember(admin))).code, 200);
  });

  test('unknown and deleted departments and those of another tenant return the same 404', async () => {
    const [deleted, foreign] = [await admin.createDepartment(), await neighbour.createDepartment()];
    await admin.delete(`${DEPTS}/${deleted}`);
    const texts = [];
    for (const id of [
      deleted,
      foreign,
      '999999999',
      '9007199254740993',
      '9223372036854775807',
      '9999999999999999999',
    ]) {
      const response = await children(id);
      expectError(response, 404, 'DEPT_NOT_FOUND');
      texts.push(response.text);
    }
    assert.equal(new Set(texts).size, 1);
  });
});

describe('Pages of children', () => {
  test('pages of any size are ordered by orderNum, then id', async () => {
    const top = await admin.createDepartment();
    const created: [orderNum: number, id: number][] = [];
    for (const orderNum of [3, 0, -2147483648, 2147483647, 0, 3, 0, -1]) {
      created.push([orderNum, Number(await admin.createDepartment({ parentId: top, orderNum }))]);
    }
    const expected = created.sort(([a, x], [b, y]) => a - b || x - y).map(([, id]) => id);
    for (const limit of [1, 2, 3, 4, 7, 8, 9, 500]) assert.deepEqual(await allPages(top, limit), expected, `${limit}`);
  });

  test('a page has 50 rows by default, and limit accepts 1 to 500', async () => {
    const top = await admin.createDepartment();
    await asTenant(
      service.owner,
      admin.tenantId,
      (tx) => tx`
        insert into departments (tenant_id, dept_id, parent_id, create_by)
        select ${admin.tenantId}, 5000000 + n, ${top}, 'test' from generate_series(1, 501) n`,
    );
    assert.equal((await children(top)).data.rows.length, 50);
    const { data } = await children(top, 'limit=500');
    assert.equal(data.rows.length, 500);
    assert.equal((await children(top, `limit=500&cursor=${data.next}`)).data.rows.length, 1);
    for (const limit of ['0', '501', '-1', '1.5', 'x']) expectInvalid(await children(top, `limit=${limit}`), 'limit');
  });

  test('a child that stays is listed exactly once while others are created, deleted, moved and reordered', async () => {
    const top = await admin.createDepartment();
    const stay: number[] = [];
    const others: string[] = [];
    for (let n = 0; n < 40; n++) {
      const id = await admin.createDepartment({ parentId: top, orderNum: n % 7 });
      if (n % 2) stay.push(Number(id));
      else others.push(id);
    }
    const listed = await allPages(top, 3, async (page) => {
      await admin.createDepartment({ parentId: top, orderNum: page % 9 });
      const [first = '', second = '', third = ''] = others.splice(0, 3);
      if (first) expectOk(await admin.delete(`${DEPTS}/${first}`));
      if (second) expectOk(await admin.put(DEPTS, { deptId: second, parentId: 0 }));
      if (third) expectOk(await admin.put(DEPTS, { deptId: third, orderNum: 6 - (page % 7) }));
    });
    for (const id of stay) assert.equal(listed.filter((each) => each === id).length, 1, `${id} in ${listed}`);
  });

  test('a forged, damaged or foreign cursor is rejected', async () => {
    const [top, other] = [await admin.createDepartment(), await admin.createDepartment()];
    for (const parentId of [top, top, other, other]) await admin.createDepartment({ parentId });
    const { next } = (await children(top, 'limit=1')).data;
    const text = (plain: string) => Buffer.from(plain).toString('base64url');
    for (const cursor of [
      'x',
      '0',
      `${next}x`,
      `${next}=`,
      ` ${next}`,
      next.slice(0, -1),
      text('{"sort":1}'),
      ...[
        ['', '1'],
        ['0', ''],
        ['0', '-1'],
        ['2147483648', '1'],
        ['0.5', '1'],
        ['0', '9223372036854775808'],
        ['0', '1;drop table departments'],
      ].map(([key, id]) => text(JSON.stringify([`children of ${top}`, key, id]))),
      text(JSON.stringify([`children of ${other}`, '0', '1'])),
      text(JSON.stringify([`children of ${top}`, 0, 1])),
      'a'.repeat(101),
    ]) {
      expectInvalid(await children(top, `cursor=${encodeURIComponent(cursor)}`), 'cursor');
    }
    expectInvalid(await children(other, `cursor=${next}`), 'cursor');
    assert.equal((await children(top, `cursor=${next}`)).data.rows.length, 1);
  });
});
