import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectInvalid, expectOk, read, USERS } from '../support/expect.ts';
import { sample } from '../support/scale.ts';
import { type Client, shareService } from '../support/service.ts';

/** GET /system/user-api/list: sort and cursor. */

const service = await shareService();
const admin = await service.createTenant();

interface Row {
  userId: number;
  userName: string;
}
type Query = Record<string, string | number | boolean>;
type Page = { rows: Row[]; total?: number; next?: string | null };

const queryOf = (query: Query) => new URLSearchParams(query as Record<string, string>);
const list = (query: Query, client: Client = admin): Promise<Page> => read(client, `${USERS}/list?${queryOf(query)}`);
const idsOf = (rows: Row[]) => rows.map(({ userId }) => userId);
const namesOf = (rows: Row[]) => rows.map(({ userName }) => userName);

/** Reads all pages and expects that each but the last is full. */
async function readPages(pageSize: number, readPage: (cursor: string) => Promise<Page>): Promise<Row[]> {
  const all: Row[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { rows, next = null, ...more }: Page = await readPage(cursor);
    assert.deepEqual(more, {}, 'a page by cursor has no total');
    assert.ok(next === null || rows.length === pageSize, 'only the last page may be shorter');
    all.push(...rows);
    assert.ok(all.length < 1000, 'the cursor does not end');
    cursor = next;
  }
  return all;
}

const deptId = await admin.createDepartment({ deptName: 'sorted' });
const ids: string[] = [];
for (const [userName, nickName] of [
  ['delta', '王'],
  ['Bravo', null],
  ['alpha', '李'],
  ['charlie', '王'],
  ['echo', ''],
  ['中文', 'Anna'],
  ['foxtrot', '🌳'],
] as const) {
  ids.push(await admin.createUser({ userName, nickName, deptId }));
}
await setCreation([1, 4, 6], '2020-01-01T00:00:00.000002Z');
await setCreation([0, 5], '2020-01-01T00:00:00.000001Z');
await setCreation([2, 3], '2020-01-01T00:00:01Z');

async function setCreation(at: number[], time: string): Promise<void> {
  await service.superuser.begin(async (tx) => {
    // Triggers would record changes, which this test does not need.
    await tx`set local session_replication_role = replica`;
    await tx`
      update users set create_time = ${time}::text::timestamptz
      where tenant_id = ${admin.tenantId} and user_id = any(${at.map((n) => ids[n] as string)}::bigint[])`;
  });
}

describe('sort', () => {
  const expected: Record<string, number[]> = {
    userId: [0, 1, 2, 3, 4, 5, 6],
    // The order is not case-sensitive.
    userName: [2, 1, 3, 0, 4, 6, 5],
    // Users without a nickname come first. Ties are sorted by id.
    nickName: [1, 4, 5, 2, 0, 3, 6],
    createTime: [0, 5, 1, 4, 6, 2, 3],
  };
  for (const [offset, [sort, order]] of Object.entries(expected).entries()) {
    for (const [direction, at] of [
      [sort, order],
      [`-${sort}`, order.toReversed()],
    ] as const) {
      test(`sort=${direction} orders pages by number and by cursor`, async () => {
        const sorted = at.map((n) => Number(ids[n]));
        const whole = await list({ deptId, sort: direction });
        assert.deepEqual([idsOf(whole.rows), whole.total], [sorted, 7]);
        const second = await list({ deptId, sort: direction, pageNum: 2, pageSize: 3 });
        assert.deepEqual([idsOf(second.rows), second.total], [sorted.slice(3, 6), 7]);
        for (const pageSize of sample([1, 2, 3, 6, 7, 500], 3, offset)) {
          const rows = await readPages(pageSize, (cursor) => list({ deptId, sort: direction, pageSize, cursor }));
          assert.deepEqual(rows, whole.rows, `pages of ${pageSize}`);
        }
      });
    }
  }

  test('without sort, users are sorted by id', async () => {
    assert.deepEqual(await list({ deptId, sort: '' }), await list({ deptId, sort: 'userId' }));
    assert.deepEqual(await list({ deptId, cursor: '' }), await list({ deptId, cursor: '', sort: 'userId' }));
  });

  test('sort and cursor combine with the filters', async () => {
    for (const [query, expected] of [
      // The nickname of the first contains an A.
      [{ q: 'a', sort: '-userName' }, ['中文', 'delta', 'charlie', 'Bravo', 'alpha']],
      [{ userName: 'o', sort: 'nickName', deptId }, ['Bravo', 'echo', 'foxtrot']],
      [{ deptId, below: true, sort: 'userName', status: '0', q: '王' }, ['charlie', 'delta']],
    ] as [Query, string[]][]) {
      const { rows, total } = await list(query);
      assert.deepEqual([namesOf(rows), total], [expected, expected.length]);
      assert.deepEqual(await readPages(2, (cursor) => list({ ...query, pageSize: 2, cursor })), rows);
    }
  });

  test('an unknown sort is rejected, and the export accepts no sort', async () => {
    for (const sort of ['user_name', 'id', 'updateTime', '--userId', 'userName desc', 'userName;drop table users', '1'])
      expectInvalid(await admin.get(`${USERS}/list?sort=${encodeURIComponent(sort)}`), 'sort');
    expectError(await admin.get(`${USERS}/export?sort=userId`), 400, 'UNKNOWN_PARAMETER', { parameters: ['sort'] });
  });
});

describe('cursor', () => {
  test('a cursor continues after its row although rows before it were created and deleted', async () => {
    const tenant = await service.createTenant();
    const users = ['m1', 'm2', 'm3', 'm4'];
    for (const userName of users) await tenant.createUser({ userName, nickName: userName });
    for (const sort of ['userName', 'nickName']) {
      const first = await list({ sort, q: 'm', pageSize: 2, cursor: '' }, tenant);
      assert.deepEqual(namesOf(first.rows), ['m1', 'm2']);
      const earlier = await tenant.createUser({ userName: `m0${sort}`, nickName: 'm0' });
      expectOk(await tenant.delete(`${USERS}/${first.rows[1]?.userId}`));
      const second = await list({ sort, q: 'm', pageSize: 2, pageNum: 7, cursor: String(first.next) }, tenant);
      assert.deepEqual([namesOf(second.rows), second.next], [['m3', 'm4'], null]);
      expectOk(await tenant.delete(`${USERS}/${earlier}`));
      expectOk(await tenant.post(`${USERS}/${first.rows[1]?.userId}/restore`, {}));
    }
  });

  test('users that exist throughout are listed exactly once while others are created and deleted', async () => {
    const tenant = await service.createTenant();
    const kept: string[] = [];
    for (let n = 0; n < 6; n++)
      kept.push(await tenant.createUser({ userName: `kept${n}`, nickName: n % 2 ? '王' : '李' }));
    const isKept = ({ userId }: Row) => kept.includes(String(userId));
    let created = 0;
    for (const sort of ['userId', '-userName', 'nickName', '-createTime']) {
      const expected = (await list({ sort, pageSize: 500 }, tenant)).rows.filter(isKept);
      let former: string[] = [];
      const rows = await readPages(3, async (cursor) => {
        const [page, before, after] = await Promise.all([
          list({ sort, pageSize: 3, cursor }, tenant),
          tenant.createUser({ userName: `a${created}`, nickName: '一' }),
          tenant.createUser({ userName: `z${created}`, nickName: '龙' }),
          ...former.map(async (id) => expectOk(await tenant.delete(`${USERS}/${id}`))),
        ]);
        created++;
        former = [before, after];
        return page;
      });
      assert.deepEqual(idsOf(rows.filter(isKept)), idsOf(expected), sort);
      assert.equal(new Set(idsOf(rows)).size, rows.length, `${sort}: a row is repeated`);
    }
  });

  test('a page without matches has no rows and no next', async () => {
    expectOk(await admin.get(`${USERS}/list?userName=nobody&cursor=`), { rows: [], next: null });
  });

  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

  test('a cursor of another sort order or a forged cursor is rejected', async () => {
    const { next } = await list({ cursor: '', pageSize: 1 });
    const { next: byName } = await list({ sort: 'userName', cursor: '', pageSize: 1 });
    for (const [sort, cursor] of [
      ['userName', next],
      ['-userId', next],
      ['nickName', byName],
      ['-userName', byName],
      ['userId', 'x'],
      ['userId', 'A'.repeat(2001)],
      ['userId', encode({})],
      ['userId', encode(['userId', '1'])],
      ['userId', encode(['userId', '1', '1', '1'])],
      ['userId', encode(['userId', '', '1'])],
      ['userId', encode(['userId', '-1', '1'])],
      ['userId', encode(['userId', '9'.repeat(19), '1'])],
      ['userId', encode(['userId', "1' or '1'='1", '1'])],
      ['userName', encode(['userName', '\0', '1'])],
      ['userName', encode(['userName', 1, '1'])],
      ['nickName', encode(['nickName', 'x'.repeat(201), '1'])],
      ['nickName', encode(['nickName', 'x', '9'.repeat(19)])],
      ['createTime', encode(['createTime', 'now', '1'])],
      ['createTime', encode(['createTime', '-infinity', '1'])],
      ['createTime', encode(['createTime', '2026-02-30T00:00:00.000000Z', '1'])],
      ['userId', encode([`users of ${deptId}`, '', '1'])],
    ] as const) {
      expectInvalid(await admin.get(`${USERS}/list?${queryOf({ sort, cursor: String(cursor) })}`), 'cursor');
    }
    // A well-formed cursor need not point to an existing row, and may have ids that a number would round.
    const cursor = encode(['createTime', '2020-01-01T00:00:00.999999Z', '9007199254740993']);
    assert.deepEqual(namesOf((await list({ deptId, sort: 'createTime', cursor })).rows), ['alpha', 'charlie']);
    const last = encode(['userId', '9223372036854775807', '9223372036854775807']);
    expectOk(await admin.get(`${USERS}/list?cursor=${last}`), { rows: [], next: null });
  });

  test('a cursor of another tenant shows only users of the tenant that is listed', async () => {
    const child = await service.createTenant({}, admin);
    for (const userName of ['bernd', 'zora']) await child.createUser({ userName, nickName: userName });
    for (const [sort, expected] of [
      ['userId', ['boss', 'bernd', 'zora']],
      ['-userId', []],
      ['userName', ['bernd', 'boss', 'zora']],
      ['nickName', ['boss', 'bernd', 'zora']],
      ['createTime', ['boss', 'bernd', 'zora']],
    ] as [string, string[]][]) {
      // The cursor points after the user with the highest id, or after the first user of the department.
      const filter = sort === '-userId' ? {} : { deptId };
      const cursor = String((await list({ ...filter, sort, pageSize: 1, cursor: '' })).next);
      const page = await list({ sort, cursor }, child);
      assert.deepEqual([namesOf(page.rows), page.next], [expected, null], sort);
      assert.deepEqual(await list({ sort, cursor, tenantId: child.tenantId }), page, sort);
    }
  });
});
