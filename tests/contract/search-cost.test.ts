import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Sql } from '../../db/sql.ts';
import { connectLikeService, costOf } from '../support/cost.ts';
import { DEPTS } from '../support/expect.ts';
import { report, scale } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { type Query, watched } from '../support/watched.ts';

/**
 * What a search looks at, in a tenant of many departments: the statements that the service sent are explained, as its
 * own role with row security, and the rows that they touched are counted.
 */

const queries: Query[] = [];
const service = await startService({}, { between: watched(queries) });
const boss = await service.createTenant();
const COUNT = scale(25_000, 200_000);
const FIRST = 10_000_000;

let connection: Sql;
before(async () => {
  // Half are 研发, every thousandth is 榕树, and those sort last.
  await service.superuser.unsafe(`
    set session_replication_role = replica; -- without the ledger
    insert into banyan.departments (tenant_id, dept_id, parent_id, dept_name, order_num, leader, create_by, create_time)
    select '${boss.tenantId}', ${FIRST} + n, case when n > 1 then ${FIRST} + (n + 6) / 8 end,
      case when n % 2 = 0 then '研发' else '市场' end || case when n % 1000 = 999 then '榕树' else '部' end || n,
      n % 1000, case when n % 5000 = 1 then '诸葛亮' else '张三' end, 'test', now() + n * interval '1 microsecond'
    from generate_series(1, ${COUNT}) n;
    reset session_replication_role`);
  await service.superuser.unsafe('vacuum analyze banyan.departments');
  connection = await connectLikeService(service);
});

/** Asks, and tells what the answer was and what it cost: rows looked at in plain sight, blocks in all. */
async function cost(query: string) {
  queries.length = 0;
  const { data, code, text } = await boss.get(`${DEPTS}/list?${query}`);
  assert.equal(code, 200, text);
  const { statements, rows, blocks } = await costOf(connection, boss.tenantId, [...queries]);
  assert.ok(statements > 0);
  return { found: data.rows.length, total: data.total, next: data.next, rows, blocks };
}

describe('a search does not go through the tenant', () => {
  const part = (text: string) => encodeURIComponent(text);
  // Each row that is shown costs a walk up of some levels; the first look is at ten rows for each one to be shown.
  for (const [what, query, found] of [
    ['a rare word', `deptName=${part('榕树')}`, 20],
    ['one rare character', `deptName=${part('榕')}`, 20],
    ['no such word', `deptName=${part('无此')}`, 0],
    ['a common word', `deptName=${part('研发')}`, 20],
    ['one common character', `deptName=${part('研')}`, 20],
    ['a rare leader', `leader=${part('葛亮')}`, COUNT / 5000],
    ['a rare word of a large branch', `deptName=${part('榕树')}&underId=${FIRST + 1}`, 20],
    ['a large branch', `underId=${FIRST + 1}`, 20],
    ['a small branch', `underId=${FIRST + Math.floor(COUNT / 10)}`, 8],
    ...['orderNum', '-orderNum', 'deptName', '-deptName', 'createTime', '-createTime', 'updateTime', '-updateTime'].map(
      (sort) => [`in the order ${sort}`, `sort=${sort}`, 20] as const,
    ),
  ] as const) {
    test(`${what}, with a cursor`, async (t) => {
      const first = await cost(`${query}&cursor=`);
      report(t, first);
      assert.equal(first.found, Math.min(found, 20));
      assert.ok(first.rows < 3_000, `${first.rows} rows were looked at`);
      assert.ok(first.blocks < COUNT / 5, `${first.blocks} blocks were looked at`);
      if (!first.next) return;
      const second = await cost(`${query}&cursor=${first.next}`);
      assert.ok(second.rows < 3_000, `${second.rows} rows were looked at`);
    });
  }

  for (const [what, query, total] of [
    ['a rare word', `deptName=${part('榕树')}`, COUNT / 1000],
    ['a rare leader', `leader=${part('诸')}`, COUNT / 5000],
    ['a small branch', `underId=${FIRST + Math.floor(COUNT / 10)}`, 8],
  ] as const) {
    test(`${what}, counted`, async (t) => {
      const counted = await cost(query);
      report(t, counted);
      assert.equal(counted.total, total);
      assert.ok(counted.rows < 3_000, `${counted.rows} rows were looked at`);
      assert.ok(counted.blocks < COUNT / 5, `${counted.blocks} blocks were looked at`);
    });
  }
});

describe('what is too common for the index, or sorts last', () => {
  const truth = async (condition: string, order = 'order_num, dept_id') => {
    const rows = await service.superuser.unsafe<{ id: number }[]>(`
      with recursive branch (id) as (
        select dept_id from banyan.departments where tenant_id = '${boss.tenantId}' and parent_id = ${FIRST + 2}
        union all
        select d.dept_id from branch b join banyan.departments d on d.tenant_id = '${boss.tenantId}' and d.parent_id = b.id)
      select dept_id as id from banyan.departments d
      where tenant_id = '${boss.tenantId}' and ${condition} order by ${order}`);
    return rows.map(({ id }) => id);
  };
  for (const [what, query, condition] of [
    ['half of all', `deptName=${encodeURIComponent('研发')}`, "dept_name like '%研发%'"],
    ['all', `leader=${encodeURIComponent('张三')}`, "leader = '张三'"],
    ['a branch', `underId=${FIRST + 2}`, 'dept_id in (select id from branch)'],
    [
      'half of a branch',
      `underId=${FIRST + 2}&deptName=${encodeURIComponent('研发')}`,
      "dept_name like '%研发%' and dept_id in (select id from branch)",
    ],
  ] as const) {
    test(`${what}: every one is found, by pages and by cursors`, async () => {
      const wanted = await truth(condition);
      assert.ok(wanted.length > 200, String(wanted.length));
      const { data } = await boss.get(`${DEPTS}/list?${query}&pageSize=500&pageNum=2`);
      const ids = (rows: { deptId: number }[]) => rows.map(({ deptId }) => deptId);
      assert.deepEqual([data.total, ids(data.rows)], [wanted.length, wanted.slice(500, 1000)]);
      const found: number[] = [];
      for (let cursor: string | null = ''; cursor !== null && found.length < 2_000; ) {
        const page = await boss.get(`${DEPTS}/list?${query}&pageSize=400&cursor=${cursor}`);
        found.push(...ids(page.data.rows));
        cursor = page.data.next;
      }
      assert.deepEqual(found, wanted.slice(0, found.length));
      const last = await boss.get(`${DEPTS}/list?${query}&sort=-orderNum&pageSize=7&cursor=`);
      assert.deepEqual(ids(last.data.rows), wanted.slice(-7).reverse());
    });
  }
});
