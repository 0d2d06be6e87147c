// Only with test:long: it inserts and indexes 200,000 departments; contract/search tests what searches find.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Sql } from '../../db/driver.ts';
import { connectAsService, measureCost } from '../support/cost.ts';
import { DEPTS } from '../support/expect.ts';
import { report } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { captureQueries, type Query } from '../support/statements.ts';

/**
 * The cost of a search in a tenant with many departments. The statements that the service sent are explained under its
 * own role with row-level security, and the rows and blocks that they read are counted.
 */

const queries: Query[] = [];
const service = await startService({}, { wrapDatabase: captureQueries(queries) });
const admin = await service.createTenant();
const COUNT = 200_000;
const FIRST = 10_000_000;
const SORTS = [
  'orderNum',
  '-orderNum',
  'deptName',
  '-deptName',
  'createTime',
  '-createTime',
  'updateTime',
  '-updateTime',
];

let connection: Sql;
before(async () => {
  // Half of the names contain 研发; every thousandth contains 榕树 and sorts last.
  await service.superuser.unsafe(`
    set session_replication_role = replica; -- records no changes
    insert into banyan.departments (tenant_id, dept_id, parent_id, dept_name, order_num, leader, create_by, create_time)
    select '${admin.tenantId}', ${FIRST} + n, case when n > 1 then ${FIRST} + (n + 6) / 8 end,
      case when n % 2 = 0 then '研发' else '市场' end || case when n % 1000 = 999 then '榕树' else '部' end || n,
      n % 1000, case when n % 5000 = 1 then '诸葛亮' else '张三' end, 'test', now() + n * interval '1 microsecond'
    from generate_series(1, ${COUNT}) n;
    reset session_replication_role`);
  await service.superuser.unsafe('vacuum analyze banyan.departments');
  connection = await connectAsService(service);
});

/** Runs a search and returns its result and its cost in rows and blocks read. */
async function searchCost(query: string) {
  queries.length = 0;
  const { data, code, text } = await admin.get(`${DEPTS}/list?${query}`);
  assert.equal(code, 200, text);
  const { statements, rows, blocks } = await measureCost(connection, admin.tenantId, [...queries]);
  assert.ok(statements > 0);
  return { found: data.rows.length, total: data.total, next: data.next, rows, blocks };
}

describe('A search does not read the whole tenant', () => {
  const encode = (text: string) => encodeURIComponent(text);
  // The limit leaves room for reading the ancestors of each row, and ten candidate rows for each row of the page.
  for (const [what, query, found] of [
    ['a rare word', `deptName=${encode('榕树')}`, 20],
    ['one rare character', `deptName=${encode('榕')}`, 20],
    ['an absent word', `deptName=${encode('无此')}`, 0],
    ['a common word', `deptName=${encode('研发')}`, 20],
    ['one common character', `deptName=${encode('研')}`, 20],
    ['a rare leader', `leader=${encode('葛亮')}`, COUNT / 5000],
    ['a rare word of a large subtree', `deptName=${encode('榕树')}&underId=${FIRST + 1}`, 20],
    ['a large subtree', `underId=${FIRST + 1}`, 20],
    ['a small subtree', `underId=${FIRST + Math.floor(COUNT / 10)}`, 8],
    ...SORTS.map((sort) => [`all departments by ${sort}`, `sort=${sort}`, 20] as const),
  ] as const) {
    test(`a search for ${what} reads few rows with a cursor`, async (t) => {
      const first = await searchCost(`${query}&cursor=`);
      report(t, first);
      assert.equal(first.found, Math.min(found, 20));
      assert.ok(first.rows < 3_000, `${first.rows} rows were read`);
      assert.ok(first.blocks < COUNT / 5, `${first.blocks} blocks were read`);
      if (!first.next) return;
      const second = await searchCost(`${query}&cursor=${first.next}`);
      assert.ok(second.rows < 3_000, `${second.rows} rows were read`);
    });
  }

  for (const [sort, key] of [
    ['orderNum', '500'],
    ['-orderNum', '500'],
    ['updateTime', '-infinity'],
    ['-updateTime', '-infinity'],
  ] as const) {
    test(`a page by ${sort} in the middle of the list reads few rows`, async (t) => {
      const position = [sort, key, String(FIRST + COUNT / 2)];
      const cursor = Buffer.from(JSON.stringify(position)).toString('base64url');
      const middle = await searchCost(`sort=${sort}&cursor=${cursor}`);
      report(t, middle);
      assert.equal(middle.found, 20);
      assert.ok(middle.rows < 3_000, `${middle.rows} rows were read`);
    });
  }

  for (const [what, query, total] of [
    ['a rare word', `deptName=${encode('榕树')}`, COUNT / 1000],
    ['a rare leader', `leader=${encode('诸')}`, COUNT / 5000],
    ['a small subtree', `underId=${FIRST + Math.floor(COUNT / 10)}`, 8],
  ] as const) {
    test(`a search for ${what} reads few rows with a total`, async (t) => {
      const counted = await searchCost(query);
      report(t, counted);
      assert.equal(counted.total, total);
      assert.ok(counted.rows < 3_000, `${counted.rows} rows were read`);
      assert.ok(counted.blocks < COUNT / 5, `${counted.blocks} blocks were read`);
    });
  }
});

describe('A search for common words finds every match', () => {
  const idsInDatabase = async (condition: string, order = 'order_num, dept_id') => {
    const rows = await service.superuser.unsafe<{ id: number }[]>(`
      with recursive subtree (id) as (
        select dept_id from banyan.departments where tenant_id = '${admin.tenantId}' and parent_id = ${FIRST + 2}
        union all
        select d.dept_id from subtree b join banyan.departments d on d.tenant_id = '${admin.tenantId}' and d.parent_id = b.id)
      select dept_id as id from banyan.departments d
      where tenant_id = '${admin.tenantId}' and ${condition} order by ${order}`);
    return rows.map(({ id }) => id);
  };
  const searches = [
    ['half of all departments', `deptName=${encodeURIComponent('研发')}`, "dept_name like '%研发%'"],
    ['almost all departments', `leader=${encodeURIComponent('张三')}`, "leader = '张三'"],
    ['a subtree', `underId=${FIRST + 2}`, 'dept_id in (select id from subtree)'],
    [
      'half of a subtree',
      `underId=${FIRST + 2}&deptName=${encodeURIComponent('研发')}`,
      "dept_name like '%研发%' and dept_id in (select id from subtree)",
    ],
  ] as const;
  for (const [what, query, condition] of searches) {
    test(`a search that matches ${what} counts them all, and lists them in order by page number and by cursor`, async () => {
      const expected = await idsInDatabase(condition);
      assert.ok(expected.length > 200, String(expected.length));
      const { data } = await admin.get(`${DEPTS}/list?${query}&pageSize=500&pageNum=2`);
      const ids = (rows: { deptId: number }[]) => rows.map(({ deptId }) => deptId);
      assert.deepEqual([data.total, ids(data.rows)], [expected.length, expected.slice(500, 1000)]);
      const found: number[] = [];
      for (let cursor: string | null = ''; cursor !== null && found.length < 2_000; ) {
        const page = await admin.get(`${DEPTS}/list?${query}&pageSize=400&cursor=${cursor}`);
        found.push(...ids(page.data.rows));
        cursor = page.data.next;
      }
      assert.deepEqual(found, expected.slice(0, found.length));
      const last = await admin.get(`${DEPTS}/list?${query}&sort=-orderNum&pageSize=7&cursor=`);
      assert.deepEqual(ids(last.data.rows), expected.slice(-7).reverse());
    });
  }
});
