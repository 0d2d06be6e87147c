import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { asTenant, type Client, startService } from '../support/service.ts';

/** Lists: GET /system/dept-api/list. */

const service = await startService();
const boss = await service.createTenant();

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

/** The list with these parameters. */
async function list(query: Query = {}, client: Client = boss): Promise<{ rows: Row[]; total: number }> {
  const answer = await client.get(`${DEPTS}/list?${queryOf(query)}`);
  assert.equal(answer.code, 200, answer.text);
  return answer.data;
}

const namesOf = async (query: Query) => {
  const { rows, total } = await list({ pageSize: 500, ...query });
  assert.equal(total, rows.length);
  return rows.map((row) => row.deptName);
};

/** A parent of its own for the departments of one test, by their names. */
async function family(...children: (string | Record<string, unknown>)[]): Promise<string> {
  const parentId = await boss.createDepartment();
  for (const child of children) {
    await boss.createDepartment({ parentId, ...(typeof child === 'string' ? { deptName: child } : child) });
  }
  return parentId;
}

describe('data: {rows, total}', () => {
  test('rows are what a read shows', async () => {
    const parentId = await family({ deptName: '一', leader: '张三', status: '1' }, { deptName: '二', email: 'a@b' });
    const answer = await boss.get(`${DEPTS}/list?parentId=${parentId}`);
    const ids = answer.data.rows.map((row: Row) => row.deptId);
    expectOk(answer, { rows: await Promise.all(ids.map((id: number) => readDept(boss, id))), total: 2 });
  });

  test('nothing found: no rows, total 0', async () => {
    expectOk(await boss.get(`${DEPTS}/list?parentId=999999999`), { rows: [], total: 0 });
  });

  test('neither deleted departments nor another tenant’s', async () => {
    const stranger = await service.createTenant();
    const [mine, gone] = [
      await stranger.createDepartment({ deptName: '在' }),
      await stranger.createDepartment({ deptName: '去' }),
    ];
    expectOk(await stranger.delete(`${DEPTS}/${gone}`));
    const { rows, total } = await list({}, stranger);
    assert.deepEqual([rows.map((row) => row.deptId), total], [[Number(mine)], 1]);
  });

  test('any user of the tenant; nobody without a token', async () => {
    const member = await service.createMember(boss);
    const parentId = await family('一');
    assert.equal((await list({ parentId }, member)).total, 1);
    expectError(await service.anonymous.get(`${DEPTS}/list`), 401, 'NO_TOKEN');
  });
});

describe('pageNum=1&pageSize=20', async () => {
  const many = await service.createTenant();
  await asTenant(service.owner, many.tenantId, async (tx) => {
    await tx`
      insert into departments (tenant_id, dept_id, dept_name, create_by)
      select ${many.tenantId}, 1000 + n, 'n' || n, 'test' from generate_series(1, 501) n`;
  });
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
    test(`?${queryOf(query)}: ${expected.length} rows, total 501`, async () => {
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
    test(`${field}: 400 that names it, never silently another`, async () => {
      for (const value of values) {
        expectInvalid(await many.get(`${DEPTS}/list?${field}=${encodeURIComponent(value)}`), field);
      }
    });
  }
});

describe('filters', () => {
  test('deptName (contains)', async () => {
    const parentId = await family('上海研发一部', '上海研发二部', '北京研发部', '上海市场部');
    assert.deepEqual(await namesOf({ parentId, deptName: '上海' }), ['上海研发一部', '上海研发二部', '上海市场部']);
    assert.deepEqual(await namesOf({ parentId, deptName: '研发' }), ['上海研发一部', '上海研发二部', '北京研发部']);
    assert.deepEqual(await namesOf({ parentId, deptName: '二部' }), ['上海研发二部']);
    assert.deepEqual(await namesOf({ parentId, deptName: '上海部' }), []);
  });

  test('status', async () => {
    const parentId = await family({ deptName: '开' }, { deptName: '停', status: '1' });
    assert.deepEqual(await namesOf({ parentId, status: '0' }), ['开']);
    assert.deepEqual(await namesOf({ parentId, status: '1' }), ['停']);
    for (const status of ['2', '01', 'x', '0,1']) {
      expectInvalid(await boss.get(`${DEPTS}/list?status=${status}`), 'status');
    }
  });

  test('parentId: the direct children, and 0 the top level', async () => {
    const top = await family('子');
    const [child] = (await list({ parentId: top })).rows;
    await boss.createDepartment({ parentId: child?.deptId, deptName: '孙' });
    assert.deepEqual(await namesOf({ parentId: top }), ['子']);
    assert.deepEqual(await namesOf({ parentId: child?.deptId as number }), ['孙']);
    const tops = (await list({ parentId: 0, pageSize: 500 })).rows.map((row) => row.deptId);
    assert.ok(tops.includes(Number(top)));
    assert.ok(!tops.includes(child?.deptId as number));
    for (const parentId of ['x', '-1', '1.5', '1,2', "0' or 1=1"]) {
      expectInvalid(await boss.get(`${DEPTS}/list?parentId=${encodeURIComponent(parentId)}`), 'parentId');
    }
  });

  test('parentId is a number, not a pattern: 1 does not match 10', async () => {
    await asTenant(service.owner, boss.tenantId, async (tx) => {
      for (const [id, parent] of [
        [1, null],
        [10, null],
        [11, 10],
      ] as const) {
        await tx`insert into departments (tenant_id, dept_id, parent_id, create_by)
          values (${boss.tenantId}, ${id}, ${parent}, 'test')`;
      }
    });
    assert.equal((await list({ parentId: 1 })).total, 0);
    assert.equal((await list({ parentId: 10 })).total, 1);
  });

  test('all at once: every one must hold', async () => {
    const parentId = await family('研发', { deptName: '研发', status: '1' }, { deptName: '市场', status: '1' });
    assert.equal((await list({ parentId, deptName: '研', status: '1' })).total, 1);
  });

  test('empty values (?status=) are as good as absent', async () => {
    const parentId = await family('一', { deptName: '二', status: '1' });
    assert.deepEqual(await namesOf({ parentId, deptName: '', status: '' }), ['一', '二']);
    const all = await list();
    assert.deepEqual(await list({ deptName: '', status: '', parentId: '', pageNum: '', pageSize: '' }), all);
  });

  test('the same filter twice: 400', async () => {
    for (const field of ['deptName', 'status', 'parentId', 'pageNum', 'pageSize']) {
      expectInvalid(await boss.get(`${DEPTS}/list?${field}=1&${field}=0`), field);
    }
  });

  test('unknown parameters are ignored, also those that elsewhere reach SQL', async () => {
    const parentId = await family('一', '二');
    const strange = { orderByColumn: 'dept_name;drop table departments', isAsc: 'desc', 'params[dataScope]': 'or 1=1' };
    assert.deepEqual(await namesOf({ parentId, ...strange, tenantId: '000000' }), ['一', '二']);
  });
});

describe('sorted by orderNum, then id', () => {
  test('negative first, equal ones by age', async () => {
    const parentId = await family(
      ...[3, 0, -5, 3, 10, 0].map((orderNum, at) => ({ orderNum, deptName: `${at}:${orderNum}` })),
    );
    assert.deepEqual(await namesOf({ parentId }), ['2:-5', '1:0', '5:0', '0:3', '3:3', '4:10']);
  });

  test('ids as numbers: 99 before 100', async () => {
    const orderNum = 77;
    await asTenant(service.owner, boss.tenantId, async (tx) => {
      for (const id of [1_000_000, 999_999, 20_000_000]) {
        await tx`insert into departments (tenant_id, dept_id, order_num, dept_name, create_by)
          values (${boss.tenantId}, ${id}, ${orderNum}, 'sorted', 'test')`;
      }
    });
    const { rows } = await list({ deptName: 'sorted' });
    assert.deepEqual(
      rows.map((row) => row.deptId),
      [999_999, 1_000_000, 20_000_000],
    );
  });

  test('across pages, none twice and none left out', async () => {
    const parentId = await family(...[2, 1, 2, 1, 2, 1, 1].map((orderNum) => ({ orderNum })));
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

describe('Filters are data, never SQL', () => {
  const names = ['100%', '50_50', 'back\\slash', "O'Brien", 'a.b*c', '[x]', 'plain'];

  test('% and _ are plain characters, and so are others', async () => {
    const parentId = await family(...names);
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

  test('what looks like SQL finds its own text and does nothing', async () => {
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
    const parentId = await family('plain', ...strings);
    for (const deptName of strings) assert.deepEqual(await namesOf({ parentId, deptName }), [deptName]);
    assert.equal((await list({ parentId })).total, strings.length + 1);
  });
});
