// Only with test:long: it inserts and indexes 50,000 users; contract/user-lists-sorted tests what the pages contain.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Sql } from '../../db/driver.ts';
import { connectAsService, measureCost } from '../support/cost.ts';
import { DEPTS, USERS } from '../support/expect.ts';
import { report } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { captureQueries, type Query } from '../support/statements.ts';

/**
 * The cost of a page in a tenant with many users, in rows. The statements that the service sent are explained under its
 * own role with row-level security.
 */

const queries: Query[] = [];
const service = await startService({}, { wrapDatabase: captureQueries(queries) });
const admin = await service.createTenant();
const dept = await admin.createDepartment();
const COUNT = 50_000;
const FIRST = 10_000_000;
/** The user in the middle of every sort order. */
const MIDDLE = COUNT / 2;

let connection: Sql;
before(async () => {
  await service.superuser.unsafe(`
    set session_replication_role = replica; -- records no changes
    insert into banyan.users (tenant_id, user_id, user_name, user_key, nick_name, password_hash, create_by, create_time)
    select '${admin.tenantId}', ${FIRST} + n, 'u' || lpad(n::text, 6, '0'), 'u' || lpad(n::text, 6, '0'),
      'n' || lpad((n / 10)::text, 6, '0'), '', 'test',
      '2020-01-01T00:00:00Z'::timestamptz + n / 10 * interval '1 second'
    from generate_series(1, ${COUNT}) n;
    insert into banyan.user_departments (tenant_id, user_id, dept_id, main)
    select '${admin.tenantId}', ${FIRST} + n, ${dept}, true from generate_series(1, ${COUNT}) n;
    reset session_replication_role`);
  await service.superuser.unsafe('vacuum analyze banyan.users, banyan.user_departments');
  connection = await connectAsService(service);
});

const padded = (n: number) => String(n).padStart(6, '0');
const encode = (...position: string[]) => Buffer.from(JSON.stringify(position)).toString('base64url');

/** Reads a page. Returns its number of rows, the `n` of its first user, and how many rows of the table were read. */
async function pageCost(path: string, table: 'users' | 'user_departments') {
  queries.length = 0;
  const { data, code, text } = await admin.get(path);
  assert.equal(code, 200, text);
  const { statements, rows } = await measureCost(connection, admin.tenantId, [...queries], table);
  assert.ok(statements > 0);
  return { found: data.rows.length, first: data.rows[0].userId - FIRST, rows };
}

const middleKeys = {
  userId: String(FIRST + MIDDLE),
  userName: `u${padded(MIDDLE)}`,
  nickName: `n${padded(MIDDLE / 10)}`,
  createTime: `${new Date(Date.UTC(2020, 0, 1) + (MIDDLE / 10) * 1000).toISOString().slice(0, 19)}.000000Z`,
};
for (const [sort, key] of Object.entries(middleKeys)) {
  for (const [direction, next] of [
    [sort, MIDDLE + 1],
    [`-${sort}`, MIDDLE - 1],
  ] as const) {
    test(`a page by ${direction} at the start or in the middle of the list reads few rows`, async (t) => {
      const cursor = encode(direction, key, String(FIRST + MIDDLE));
      const first = await pageCost(`${USERS}/list?sort=${direction}&cursor=`, 'users');
      const middle = await pageCost(`${USERS}/list?sort=${direction}&cursor=${cursor}`, 'users');
      report(t, { first: first.rows, middle: middle.rows });
      assert.deepEqual([middle.found, middle.first], [20, next]);
      for (const { rows } of [first, middle]) assert.ok(rows < 50, `${rows} rows were read`);
    });
  }
}

test('a page of the users of a large department reads few rows', async (t) => {
  const cursor = encode(`users of ${dept}`, '', String(FIRST + MIDDLE));
  const middle = await pageCost(`${DEPTS}/${dept}/users?cursor=${cursor}`, 'user_departments');
  report(t, { middle: middle.rows });
  assert.deepEqual([middle.found, middle.first], [20, MIDDLE + 1]);
  // For each user of the page, the table is read again to find all of their departments.
  assert.ok(middle.rows < 100, `${middle.rows} rows were read`);
});
