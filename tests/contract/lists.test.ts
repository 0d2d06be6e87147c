import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { asTenant, type Client, shareService } from '../support/service.ts';

/** GET /system/dept-api/list. */

const service = await shareService();
const admin = await service.createTenant();

interface Row {
  deptId: number;
  deptName: string;
  orderNum: number;
}

type Query = Record<string, string | number>;

const queryOf = (query: Query) =>
  Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');

async function list(query: Query = {}, client: Client = admin): Promise<{ rows: Row[]; total: number }> {
  const response = await client.get(`${DEPTS}/list?${queryOf(query)}`);
  assert.equal(response.code, 200, response.text);
  return response.data;
}

const namesOf = async (query: Query) => {
  const { rows, total } = await list({ pageSize: 500, ...query });
  assert.equal(total, rows.length);
  return rows.map((row) => row.deptName);
};

/** Creates a parent with these children, given by name or by body. */
async function createFamily(...children: (string | Record<string, unknown>)[]): Promise<string> {
  const parentId = await admin.createDepartment();
  for (const child of children) {
    await admin.createDepartment({ parentId, ...(typeof child === 'string' ? { deptName: child } : child) });
  }
  return parentId;
}

describe('rows and total', () => {
  test('rows have the fields of a single read', async () => {
    const parentId = await createFamily(
      { deptName: '一', leader: '张三', status: '1' },
      { deptName: '二', email: 'a@b' },
    );
    const response = await admin.get(`${DEPTS}/list?parentId=${parentId}`);
    const ids = response.data.rows.map((row: Row) => row.deptId);
    expectOk(response, { rows: await Promise.all(ids.map((id: number) => readDept(admin, id))), total: 2 });
  });

  test('a list without matches has no rows and total 0', async () => {
    expectOk(await admin.get(`${DEPTS}/list?parentId=999999999`), { rows: [], total: 0 });
  });

  test('deleted departments and those of other tenants are not listed', async () => {
    const other = await service.createTenant();
    const [mine, deleted] = [
      await other.createDepartment({ deptName: '在' }),
      await other.createDepartment({ deptName: '去' }),
    ];
    expectOk(await other.delete(`${DEPTS}/${deleted}`));
    const { rows, total } = await list({}, other);
    assert.deepEqual([rows.map((row) => row.deptId), total], [[Number(mine)], 1]);
  });

  test('any user of the tenant may list departments, a caller without a token may not', async () => {
    const member = await service.createMember(admin);
    const parentId = await createFamily('一');
    assert.equal((await list({ parentId }, member)).total, 1);
    expectError(await service.anonymous.get(`${DEPTS}/list`), 401, 'NO_TOKEN');
  });
});

const many = await service.createTenant();
await asTenant(service.owner, many.tenantId, async (tx) => {
  await tx`
    insert into departments (tenant_id, dept_id, dept_name, create_by)
    select ${many.tenantId}, 1000 + n, 'n' || n, 'test' from generate_series(1, 501) n`;
});

describe('pageNum and pageSize', () => {
  const names = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `n${from + at}`);
  const pages: [query: Query, expected: string[]][] = [
    [{}, names(1, 20)],
    [{ pageNum: 2 }, names(21, 40)],
    [{ pageSize: 7 }, names(1, 7)],
    [{ pageNum: 3, pageSize: 7 }, names(15, 21)],
    [{ pageNum: 26 }, names(501, 501)],
    [{ pageNum: 27 }, []],
    [{ pageNum: 1_000_000_000, pageSize: 500 }, []],
    [{ pageSize: 500 }, names(1, 500)],
    [{ pageNum: 2, pageSize: 500 }, names(501, 501)],
    [{ pageNum: '', pageSize: '' }, names(1, 20)],
  ];
  for (const [query, expected] of pages) {
    test(`?${queryOf(query)} returns ${expected.length} of 501 rows`, async () => {
      const { rows, total } = await list(query, many);
      assert.deepEqual(
        rows.map((row) => row.deptName),
        expected,
      );
      assert.equal(total, 501);
    });
  }

  for (const [field, values] of Object.entries({
    pageSize: ['501', '100000', '0', '-1', '1.5', 'all', '1;', '99999999999999999999'],
    pageNum: ['0', '-1', '1.5', 'x', '99999999999999999999', "1' or '1'='1"],
  })) {
    test(`an invalid ${field} is rejected with its name`, async () => {
      for (const value of values) {
        expectInvalid(await many.get(`${DEPTS}/list?${field}=${encodeURIComponent(value)}`), field);
      }
    });
  }
});

describe('Filters', () => {
  test('deptName matches a part of the name', async () => {
    const parentId = await createFamily('上海研发一部', '上海研发二部', '北京研发部', '上海市场部');
    assert.deepEqual(await namesOf({ parentId, deptName: '上海' }), ['上海研发一部', '上海研发二部', '上海市场部']);
    assert.deepEqual(await namesOf({ parentId, deptName: '研发' }), ['上海研发一部', '上海研发二部', '北京研发部']);
    assert.deepEqual(await namesOf({ parentId, deptName: '二部' }), ['上海研发二部']);
    assert.deepEqual(await namesOf({ parentId, deptName: '上海部' }), []);
  });

  test('status matches exactly, and other values are rejected', async () => {
    const parentId = await createFamily({ deptName: '开' }, { deptName: '停', status: '1' });
    assert.deepEqual(await namesOf({ parentId, status: '0' }), ['开']);
    assert.deepEqual(await namesOf({ parentId, status: '1' }), ['停']);
    for (const status of ['2', '01', 'x', '0,1']) {
      expectInvalid(await admin.get(`${DEPTS}/list?status=${status}`), 'status');
    }
  });

  test('parentId matches direct children, and 0 the top level', async () => {
    const top = await createFamily('子');
    const [child] = (await list({ parentId: top })).rows;
    await admin.createDepartment({ parentId: child?.deptId, deptName: '孙' });
    assert.deepEqual(await namesOf({ parentId: top }), ['子']);
    assert.deepEqual(await namesOf({ parentId: child?.deptId as number }), ['孙']);
    const tops = (await list({ parentId: 0, pageSize: 500 })).rows.map((row) => row.deptId);
    assert.ok(tops.includes(Number(top)));
    assert.ok(!tops.includes(child?.deptId as number));
    for (const parentId of ['x', '-1', '1.5', '1,2', "0' or 1=1"]) {
      expectInvalid(await admin.get(`${DEPTS}/list?parentId=${encodeURIComponent(parentId)}`), 'parentId');
    }
  });

  test('parentId 1 does not match 10', async () => {
    await asTenant(service.owner, admin.tenantId, async (tx) => {
      for (const [id, parent] of [
        [1, null],
        [10, null],
        [11, 10],
      ] as const) {
        await tx`insert into departments (tenant_id, dept_id, parent_id, create_by)
          values (${admin.tenantId}, ${id}, ${parent}, 'test')`;
      }
    });
    assert.equal((await list({ parentId: 1 })).total, 0);
    assert.equal((await list({ parentId: 10 })).total, 1);
  });

  test('a row must match all filters', async () => {
    const parentId = await createFamily('研发', { deptName: '研发', status: '1' }, { deptName: '市场', status: '1' });
    assert.equal((await list({ parentId, deptName: '研', status: '1' })).total, 1);
  });

  test('empty filters are ignored', async () => {
    const parentId = await createFamily('一', { deptName: '二', status: '1' });
    assert.deepEqual(await namesOf({ parentId, deptName: '', status: '' }), ['一', '二']);
    const all = await list();
    assert.deepEqual(await list({ deptName: '', status: '', parentId: '', pageNum: '', pageSize: '' }), all);
  });

  test('a repeated filter is rejected', async () => {
    for (const field of ['deptName', 'status', 'parentId', 'pageNum', 'pageSize']) {
      expectInvalid(await admin.get(`${DEPTS}/list?${field}=1&${field}=0`), field);
    }
  });
});

describe('Order of rows', () => {
  test('rows are sorted by orderNum, negative numbers first, then by id', async () => {
    const parentId = await createFamily(
      ...[3, 0, -5, 3, 10, 0].map((orderNum, at) => ({ orderNum, deptName: `${at}:${orderNum}` })),
    );
    assert.deepEqual(await namesOf({ parentId }), ['2:-5', '1:0', '5:0', '0:3', '3:3', '4:10']);
  });

  test('ids are sorted as numbers', async () => {
    const orderNum = 77;
    await asTenant(service.owner, admin.tenantId, async (tx) => {
      for (const id of [1_000_000, 999_999, 20_000_000]) {
        await tx`insert into departments (tenant_id, dept_id, order_num, dept_name, create_by)
          values (${admin.tenantId}, ${id}, ${orderNum}, 'sorted', 'test')`;
      }
    });
    const { rows } = await list({ deptName: 'sorted' });
    assert.deepEqual(
      rows.map((row) => row.deptId),
      [999_999, 1_000_000, 20_000_000],
    );
  });

  test('pages contain every row exactly once in list order', async () => {
    const parentId = await createFamily(...[2, 1, 2, 1, 2, 1, 1].map((orderNum) => ({ orderNum })));
    const whole = (await list({ parentId })).rows;
    const paged: Row[] = [];
    for (let pageNum = 1; pageNum <= 4; pageNum++) {
      const { rows, total } = await list({ parentId, pageNum, pageSize: 2 });
      assert.equal(total, 7);
      paged.push(...rows);
    }
    assert.deepEqual(paged, whole);
  });
});

describe('Filters are never interpreted as SQL', () => {
  const names = ['100%', '50_50', 'back\\slash', "O'Brien", 'a.b*c', '[x]', 'plain'];

  test('pattern characters such as % and _ match literally', async () => {
    const parentId = await createFamily(...names);
    for (const [deptName, expected] of [
      ['%', ['100%']],
      ['_', ['50_50']],
      ['\\', ['back\\slash']],
      ["'", ["O'Brien"]],
      ['*', ['a.b*c']],
      ['.', ['a.b*c']],
      ['[x]', ['[x]']],
      ['5__5', []],
      ['1%', []],
      ['%%', []],
    ] as const) {
      assert.deepEqual(await namesOf({ parentId, deptName }), expected, deptName);
    }
  });

  test('SQL in a filter matches literally and is not executed', async () => {
    const strings = [
      "' or '1'='1",
      "'; drop table departments; --",
      "' union select * from users --",
      "x') or 1=1 --",
      '$1',
      '$$; select 1; $$',
      "\\' or 1=1 --",
      'pg_sleep(10)',
    ];
    const parentId = await createFamily('plain', ...strings);
    for (const deptName of strings) assert.deepEqual(await namesOf({ parentId, deptName }), [deptName]);
    assert.equal((await list({ parentId })).total, strings.length + 1);
  });
});
