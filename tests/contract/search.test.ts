import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { firstSeed, report, sample, scale, seededRandom } from '../support/scale.ts';
import { asTenant, type Client, shareService } from '../support/service.ts';

/** GET /system/dept-api/list: search, underId, sort, cursor and withPath. */

const service = await shareService();
const admin = await service.createTenant();

interface Row {
  deptId: number;
  deptName: string;
  pathNames?: string[];
}
type Query = Record<string, string | number | boolean>;

async function list(query: Query, client: Client = admin): Promise<{ rows: Row[]; total?: number; next?: string }> {
  const params = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const response = await client.get(`${DEPTS}/list?${params.join('&')}`);
  assert.equal(response.code, 200, response.text);
  return response.data;
}
const namesOf = (rows: Row[]) => rows.map(({ deptName }) => deptName);
const idsOf = (rows: Row[]) => rows.map(({ deptId }) => deptId);

/** Reads all pages and expects that each but the last is full. */
async function readPages(query: Query, pageSize: number, client: Client = admin): Promise<Row[]> {
  const all: Row[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { rows, next, ...more } = await list({ ...query, pageSize, cursor }, client);
    assert.deepEqual(more, {}, 'a page by cursor has no total');
    assert.ok(next === null || rows.length === pageSize, 'only the last page may be shorter');
    all.push(...rows);
    assert.ok(all.length < 1000, 'the cursor does not end');
    cursor = next as string | null;
  }
  return all;
}

const parentId = await admin.createDepartment({ deptName: 'sorted' });
const ids: string[] = [];
for (const [orderNum, deptName] of [
  [2, 'b'],
  [1, '部'],
  [2, ''],
  [-5, 'B'],
  [1, 'b'],
  [0, '🌳'],
  [0, '上'],
] as const) {
  ids.push(await admin.createDepartment({ parentId, orderNum, deptName }));
}
// Update the first and the fourth, in this order.
for (const n of [0, 3]) {
  const { orderNum, deptName } = (await readDept(admin, Number(ids[n]))) as Record<string, unknown>;
  expectOk(await admin.put(DEPTS, { deptId: ids[n], orderNum, deptName }));
}

describe('sort', () => {
  const expected: Record<string, number[]> = {
    orderNum: [3, 5, 6, 1, 4, 0, 2],
    deptName: [2, 3, 0, 4, 6, 1, 5],
    createTime: [0, 1, 2, 3, 4, 5, 6],
    updateTime: [1, 2, 4, 5, 6, 0, 3],
  };
  for (const [offset, [sort, order]] of Object.entries(expected).entries()) {
    for (const [direction, at] of [
      [sort, order],
      [`-${sort}`, order.toReversed()],
    ] as const) {
      test(`sort=${direction} orders pages by number and by cursor`, async () => {
        const sorted = at.map((n) => Number(ids[n]));
        assert.deepEqual(idsOf((await list({ parentId, sort: direction })).rows), sorted);
        for (const size of sample([1, 2, 3, 6, 7, 500], 3, offset)) {
          assert.deepEqual(idsOf(await readPages({ parentId, sort: direction }, size)), sorted, `pages of ${size}`);
        }
      });
    }
  }

  test('an unknown sort is rejected', async () => {
    for (const sort of ['dept_name', 'id', '--orderNum', 'orderNum desc', 'orderNum;drop table departments', '1']) {
      expectInvalid(await admin.get(`${DEPTS}/list?sort=${encodeURIComponent(sort)}`), 'sort');
    }
  });
});

describe('cursor', () => {
  test('a cursor continues after its row although earlier rows were created and deleted', async () => {
    const parentId = await admin.createDepartment();
    for (const orderNum of [1, 2, 3, 4]) await admin.createDepartment({ parentId, orderNum, deptName: `n${orderNum}` });
    const first = await list({ parentId, cursor: '', pageSize: 2 });
    assert.deepEqual(namesOf(first.rows), ['n1', 'n2']);
    assert.deepEqual(first.rows[0], await readDept(admin, first.rows[0]?.deptId as number));
    await admin.createDepartment({ parentId, orderNum: 0, deptName: 'n0' });
    expectOk(await admin.delete(`${DEPTS}/${first.rows[1]?.deptId}`));
    const second = await list({ parentId, cursor: first.next as string, pageSize: 2, pageNum: 7 });
    assert.deepEqual([namesOf(second.rows), second.next], [['n3', 'n4'], null]);
  });

  test('a page without matches has no rows and no next', async () => {
    expectOk(await admin.get(`${DEPTS}/list?parentId=999999999&cursor=`), { rows: [], next: null });
  });

  test('a cursor of another sort order or a forged cursor is rejected', async () => {
    const parentId = await admin.createDepartment();
    for (const n of [1, 2]) await admin.createDepartment({ parentId, deptName: `${n}` });
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { next } = await list({ parentId, cursor: '', pageSize: 1 });
    for (const [sort, cursor] of [
      ['deptName', next],
      ['-orderNum', next],
      ['orderNum', 'x'],
      ['orderNum', '%'],
      ['orderNum', `${'A'.repeat(2001)}`],
      ['orderNum', encode({})],
      ['orderNum', encode(['orderNum', '1'])],
      ['orderNum', encode(['orderNum', '1', '1', '1'])],
      ['orderNum', encode(['orderNum', 1, '1'])],
      ['orderNum', encode(['orderNum', '1', '-1'])],
      ['orderNum', encode(['orderNum', '1', "1' or '1'='1"])],
      ['orderNum', encode(['orderNum', '1', '9'.repeat(19)])],
      ['orderNum', encode(['orderNum', '2147483648', '1'])],
      ['orderNum', encode(['orderNum', '', '1'])],
      ['orderNum', encode(['orderNum', '1;', '1'])],
      ['deptName', encode(['deptName', '\0', '1'])],
      ['deptName', encode(['deptName', 'x'.repeat(201), '1'])],
      ['createTime', encode(['createTime', '-infinity', '1'])],
      ['createTime', encode(['createTime', '2026-02-30T00:00:00.000000Z', '1'])],
      ['createTime', encode(['createTime', '2026-02-20T24:00:00.000000Z', '1'])],
      ['updateTime', encode(['updateTime', 'now', '1'])],
    ] as const) {
      const response = await admin.get(`${DEPTS}/list?sort=${sort}&cursor=${encodeURIComponent(String(cursor))}`);
      expectInvalid(response, 'cursor');
    }
    // A well-formed cursor need not point to an existing row.
    const [updated] = (await list({ parentId })).rows;
    expectOk(await admin.put(DEPTS, { deptId: updated?.deptId, deptName: 'updated' }));
    const cursor = encode(['updateTime', '2001-02-20T23:59:59.999999Z', '5']);
    const page = await list({ parentId, sort: 'updateTime', cursor });
    assert.deepEqual([namesOf(page.rows), page.next], [['updated'], null]);
  });
});

const top = await admin.createDepartment({ deptName: '总部' });
const [east, west] = [
  await admin.createDepartment({ deptName: '华东', parentId: top }),
  await admin.createDepartment({ deptName: '华西', parentId: top }),
];
const team = await admin.createDepartment({ deptName: '华东研发', parentId: east, leader: '张三' });
await admin.createDepartment({ deptName: '华东研发一组', parentId: team, status: '1' });
await admin.createDepartment({ deptName: '西部研发', parentId: west });

describe('underId', () => {
  const search = async (query: Query) => {
    const numbered = namesOf((await list(query)).rows);
    assert.deepEqual(namesOf(await readPages(query, 2)), numbered);
    return numbered;
  };

  test('underId lists all descendants without the department itself', async () => {
    assert.deepEqual(await search({ underId: top }), ['华东', '华西', '华东研发', '华东研发一组', '西部研发']);
    assert.deepEqual(await search({ underId: east }), ['华东研发', '华东研发一组']);
    assert.equal((await list({ underId: top })).total, 5);
    assert.deepEqual(await search({ underId: west, sort: '-createTime' }), ['西部研发']);
  });

  test('underId combines with other filters', async () => {
    assert.deepEqual(await search({ underId: top, deptName: '研发' }), ['华东研发', '华东研发一组', '西部研发']);
    assert.deepEqual(await search({ underId: east, deptName: '研发', status: '1' }), ['华东研发一组']);
    assert.deepEqual(await search({ underId: top, parentId: west }), ['西部研发']);
    assert.deepEqual(await search({ underId: east, parentId: west }), []);
    assert.deepEqual(await search({ underId: east, parentId: east, deptName: '研' }), ['华东研发']);
    assert.deepEqual(await search({ underId: west, leader: '张' }), []);
    assert.deepEqual(await search({ underId: top, leader: '张', deptName: '华东' }), ['华东研发']);
  });

  test('underId 0 lists everything, and a deleted, unknown or foreign id lists nothing', async () => {
    const deleted = await admin.createDepartment();
    expectOk(await admin.delete(`${DEPTS}/${deleted}`));
    const other = await service.createTenant();
    const foreign = await other.createDepartment();
    await other.createDepartment({ parentId: foreign });
    for (const underId of [deleted, foreign, '999999999', '9007199254740993', '9223372036854775807']) {
      expectOk(await admin.get(`${DEPTS}/list?underId=${underId}`), { rows: [], total: 0 });
      expectOk(await admin.get(`${DEPTS}/list?underId=${underId}&cursor=&deptName=a`), { rows: [], next: null });
    }
    assert.equal((await list({ underId: 0 })).total, (await list({})).total);
    for (const underId of ['-1', 'x', '1.5', '9223372036854775808']) {
      expectInvalid(await admin.get(`${DEPTS}/list?underId=${underId}`), 'underId');
    }
  });

  test('underId and withPath follow a moved subtree', async () => {
    const [a, b] = [await admin.createDepartment({ deptName: '甲' }), await admin.createDepartment({ deptName: '乙' })];
    const child = await admin.createDepartment({ deptName: '丙', parentId: a });
    await admin.createDepartment({ deptName: '丁', parentId: child });
    const paths = async (underId: string) =>
      (await list({ underId, withPath: true })).rows.map(({ deptName, pathNames }) => [deptName, pathNames]);
    assert.deepEqual(await paths(a), [
      ['丙', ['甲']],
      ['丁', ['甲', '丙']],
    ]);
    expectOk(await admin.put(DEPTS, { deptId: child, deptName: '丙', parentId: b }));
    assert.deepEqual(await paths(a), []);
    assert.deepEqual(await paths(b), [
      ['丙', ['乙']],
      ['丁', ['乙', '丙']],
    ]);
    const top = await list({ parentId: 0, deptName: '甲', withPath: true, cursor: '' });
    assert.deepEqual(top.rows[0]?.pathNames, []);
    assert.equal((await list({ underId: b })).rows[0]?.pathNames, undefined, 'pathNames is absent without withPath');
  });
});

describe('Search for a part of a name or leader', () => {
  test('a search matches any substring of a name or leader, ignoring case', async () => {
    const parentId = await admin.createDepartment();
    for (const [deptName, leader] of [
      ['上海研发一部', '欧阳修'],
      ['研究发展部', '修远'],
      ['Research 研发', null],
      ['ÉCOLE', 'O’Neil'],
    ]) {
      await admin.createDepartment({ parentId, deptName, leader });
    }
    for (const [query, expected] of [
      [{ deptName: '研' }, ['上海研发一部', '研究发展部', 'Research 研发']],
      [{ deptName: '研发' }, ['上海研发一部', 'Research 研发']],
      [{ deptName: '发研' }, []],
      [{ deptName: '上海研发一部' }, ['上海研发一部']],
      [{ deptName: 'rEsEaRcH' }, ['Research 研发']],
      [{ deptName: 'R' }, ['Research 研发']],
      [{ deptName: 'école' }, ['ÉCOLE']],
      [{ deptName: 'h 研' }, ['Research 研发']],
      [{ leader: '修' }, ['上海研发一部', '研究发展部']],
      [{ leader: '欧阳' }, ['上海研发一部']],
      [{ leader: 'o’n' }, ['ÉCOLE']],
      [{ leader: '研' }, []],
      [{ leader: '修', deptName: '究' }, ['研究发展部']],
    ] as [Query, string[]][]) {
      // parentId scans the children and underId uses the search index; the results must be the same.
      for (const where of [{ parentId }, { underId: parentId }]) {
        assert.deepEqual(namesOf((await list({ ...query, ...where })).rows), expected, JSON.stringify(query));
        assert.deepEqual(namesOf(await readPages({ ...query, ...where }, 2)), expected, JSON.stringify(query));
      }
    }
  });

  test('a renamed department is found by its new name only, and a deleted one not at all', async () => {
    const deptId = await admin.createDepartment({ deptName: '旧名字' });
    expectOk(await admin.put(DEPTS, { deptId, deptName: '新名称' }));
    assert.equal((await list({ deptName: '旧名字' })).total, 0);
    assert.deepEqual(idsOf((await list({ deptName: '新名称', cursor: '' })).rows), [Number(deptId)]);
    expectOk(await admin.delete(`${DEPTS}/${deptId}`));
    assert.equal((await list({ deptName: '新名称' })).total, 0);
  });

  test('a search with random names and substrings finds what a sequential scan finds', async (t) => {
    const crowd = await service.createTenant();
    const { below, pick } = seededRandom(firstSeed);
    const alphabet = [
      'a',
      'A',
      'é',
      'É',
      'e\u0301',
      'ß',
      'İ',
      'Σ',
      'ς',
      '研',
      '发',
      '部',
      '🌳',
      '%',
      '_',
      '\\',
      "'",
      ' ',
    ];
    const word = (most: number) => Array.from({ length: below(most) }, () => pick(alphabet)).join('');
    const names = Array.from({ length: 400 }, () => word(7));
    await asTenant(
      service.owner,
      crowd.tenantId,
      (tx) =>
        tx`insert into departments (tenant_id, dept_name, leader, create_by)
        select ${crowd.tenantId}, name, reverse(name), 'test' from unnest(${names}::text[]) name`,
    );
    let hits = 0;
    for (let n = 0; n < scale(10, 200); n++) {
      // The first search finds many departments, whatever the seed.
      const part = n === 0 ? 'a' : word(4) || 'a';
      for (const [field, column] of [
        ['deptName', 'dept_name'],
        ['leader', 'leader'],
      ] as const) {
        const truth = await service.superuser<{ id: number }[]>`
          select dept_id as id from departments
          where tenant_id = ${crowd.tenantId} and strpos(lower(${service.superuser(column)}), lower(${part})) > 0
          order by order_num, dept_id`;
        const expected = truth.map(({ id }) => id);
        assert.deepEqual(idsOf((await list({ [field]: part, pageSize: 500 }, crowd)).rows), expected, part);
        assert.deepEqual(idsOf(await readPages({ [field]: part }, 100, crowd)), expected, part);
        hits += expected.length;
      }
    }
    report(t, { seed: firstSeed, hits });
    assert.ok(hits > scale(50, 500));
  });
});
