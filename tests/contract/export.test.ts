import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFormula } from '../../server/spreadsheets/formula.ts';
import { decodePath, splitPaths } from '../../server/spreadsheets/path.ts';
import { writeSheet } from '../../server/spreadsheets/writing.ts';
import { DEPTS, expectError, expectInvalid, TENANTS, USERS } from '../support/expect.ts';
import { isLong, scale } from '../support/scale.ts';
import { type Client, shareService } from '../support/service.ts';
import { csvRowsOf, download, exportedRows, sheetsOf } from '../support/sheets.ts';
import { insertDepartments } from '../support/trees.ts';

const service = await shareService();
const admin = await service.createTenant({ tenantName: 'A/B' });
const head = await admin.createDepartment({
  ...{ deptName: '总部', orderNum: 2, leader: '张三', phone: '+86 138-0000-0000', email: 'hq@example.com' },
  ...{ source: 'hr', externalId: '9007199254740993' },
});
const research = await admin.createDepartment({
  ...{ parentId: head, deptName: '研发/测试\\中心', phone: '013800000000' },
  ...{ source: 'hr', externalId: '7' },
});
const other = await admin.createDepartment({ parentId: research, deptName: '前端组', source: 'crm', externalId: '7' });
await admin.patch(`${DEPTS}/${research}`, { status: '1' });
await admin.createUser({
  ...{
    userName: 'anna',
    nickName: '安娜',
    position: '研发经理',
    deptId: research,
    deptIds: [other, head],
    phone: '+86 139',
    roles: ['admin'],
  },
  ...{ source: 'hr', externalId: 'u-1' },
});
await admin.createUser({ userName: 'ben', status: '1' });
await admin.createUser({ userName: 'gone' }).then((id) => admin.delete(`${USERS}/${id}`));

const EN = { 'accept-language': 'en' };
const DEPT_HEADER = [
  ...['部门编号', '部门路径', '部门名称', '显示顺序', '负责人', '联系电话', '邮箱', '状态', '来源系统', '外部编号'],
  ...['上级外部编号', '创建时间', '更新时间'],
];
const USER_TEMPLATE_HEADER = [
  ...['用户名', '姓名', '职务', '部门', '兼任部门', '手机号', '邮箱', '角色', '状态', '来源系统', '外部编号'],
];

test('an xlsx export of departments has ids and phone numbers as text, paths, and the status as a word', async () => {
  const { status, headers, bytes } = await download(admin, `${DEPTS}/export`);
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
  assert.equal(
    headers.get('content-disposition'),
    `attachment; filename="departments.xlsx"; filename*=UTF-8''${encodeURIComponent('部门.xlsx')}`,
  );
  assert.equal(headers.get('content-language'), 'zh-CN');
  const [sheet, ...rest] = await sheetsOf(bytes);
  assert.deepEqual([sheet?.name, rest.length], ['部门', 0]);
  const [header, ...rows] = sheet?.rows ?? [];
  assert.deepEqual(header, DEPT_HEADER);
  const empty = (cell: unknown) => cell ?? null;
  assert.deepEqual(
    rows.map((row) => row.slice(0, 11).map(empty)),
    [
      [head, '总部', '总部', 2, '张三', '+86 138-0000-0000', 'hq@example.com', '正常', 'hr', '9007199254740993', null],
      [
        ...[research, '总部/研发\\/测试\\\\中心', '研发/测试\\中心', 0, null, '013800000000', null, '停用', 'hr', '7'],
        '9007199254740993',
      ],
      // The parent comes from another system.
      [other, '总部/研发\\/测试\\\\中心/前端组', '前端组', 0, null, null, null, '正常', 'crm', '7', null],
    ],
  );
  assert.match(String(rows[0]?.[11]), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
});

test('a csv export has the same cells, a byte order mark and CRLF', async () => {
  const { headers, bytes } = await download(admin, `${DEPTS}/export?format=csv`);
  assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8');
  assert.match(String(headers.get('content-disposition')), /filename="departments\.csv"; filename\*=UTF-8''%E9/);
  assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
  const text = bytes.toString('utf8');
  assert.equal(text.split('\r\n').length, 4);
  assert.doesNotMatch(text, /[^\r]\n/);
  const [sheet] = await sheetsOf((await download(admin, `${DEPTS}/export`)).bytes);
  assert.deepEqual(
    csvRowsOf(bytes),
    sheet?.rows.map((row) => DEPT_HEADER.map((_, n) => String(row[n] ?? ''))),
  );
});

test('column headers, statuses and roles are in the language of the caller', async () => {
  const rows = await exportedRows(admin, `${DEPTS}/export?format=csv`, EN);
  assert.deepEqual(
    rows.map((row) => [row['Department ID'], row.Status]),
    [
      [head, 'Normal'],
      [research, 'Disabled'],
      [other, 'Normal'],
    ],
  );
  const { headers, bytes } = await download(admin, `${USERS}/export`, EN);
  assert.equal(headers.get('content-disposition'), `attachment; filename="users.xlsx"; filename*=UTF-8''Users.xlsx`);
  const [sheet] = await sheetsOf(bytes);
  assert.equal(sheet?.name, 'Users');
  assert.deepEqual(
    sheet?.rows.map((row) => row[8]),
    ['Role', 'Administrator', 'Administrator', 'Member'],
  );
});

test('an export takes the filters of the list, and only these', async () => {
  const ids = async (query: string) =>
    (await exportedRows(admin, `${DEPTS}/export?format=csv&${query}`)).map((row) => row.部门编号);
  assert.deepEqual(await ids('status=1'), [research]);
  assert.deepEqual(await ids(`parentId=${head}`), [research]);
  assert.deepEqual(await ids(`underId=${head}`), [research, other]);
  assert.deepEqual(await ids(`deptName=${encodeURIComponent('组')}`), [other]);
  assert.deepEqual(await ids(`leader=${encodeURIComponent('张')}`), [head]);
  assert.deepEqual(await ids('deptName=none'), []);
  const names = async (query: string) =>
    (await exportedRows(admin, `${USERS}/export?format=csv&${query}`)).map((row) => row.用户名);
  assert.deepEqual(await names('userName=NN'), ['anna']);
  assert.deepEqual(await names(`deptId=${other}`), ['anna']);
  assert.deepEqual(await names('status=1'), ['ben']);
  assert.deepEqual(await names('q=139'), ['anna']);
  for (const path of [DEPTS, USERS, TENANTS]) {
    expectInvalid(await admin.get(`${path}/export?format=pdf`), 'format');
    for (const parameter of ['pageNum=1', 'cursor=', 'sort=id'])
      expectError(await admin.get(`${path}/export?${parameter}`), 400, 'UNKNOWN_PARAMETER');
  }
});

test('an export of users has the paths of their departments, one per line', async () => {
  const [boss, anna, ben, ...rest] = await exportedRows(admin, `${USERS}/export?format=csv`);
  assert.equal(rest.length, 0, 'deleted users are left out');
  assert.deepEqual([boss?.用户名, boss?.部门, boss?.兼任部门], ['boss', '', '']);
  const { 创建时间: created, 用户编号: id, ...cells } = anna ?? {};
  assert.match(`${id} ${created}`, /^\d+ \d{4}-\d\d-\d\d/);
  assert.deepEqual(cells, {
    ...{
      用户名: 'anna',
      姓名: '安娜',
      职务: '研发经理',
      部门: '总部/研发\\/测试\\\\中心',
      手机号: '+86 139',
      邮箱: '',
      角色: '管理员',
    },
    ...{
      兼任部门: '总部\n总部/研发\\/测试\\\\中心/前端组',
      状态: '正常',
      来源系统: 'hr',
      外部编号: 'u-1',
      更新时间: '',
    },
  });
  assert.deepEqual(splitPaths(cells.兼任部门 ?? '').map(decodePath), [['总部'], ['总部', '研发/测试\\中心', '前端组']]);
  assert.deepEqual([ben?.角色, ben?.状态], ['成员', '停用']);
});

test('an export of tenants has the documented fields, and ids beyond 2^53 are exact', async () => {
  const above = await service.createTenant();
  const long = '规'.repeat(40_000);
  const below = await above.create(TENANTS, {
    ...{
      tenantName: '分公司',
      contactUserName: '李四',
      contactPhone: '021-5555',
      companyName: '公司',
      accountCount: 5,
    },
    ...{ startTime: '2026-01-01', endTime: '2030-12-31', status: '1', packageBo: { menuIds: '1,2' } },
    ...{ quotaBo: { riskReport: 7 }, ruleBo: { modelZr: long, catalogRw: '_x0041_\u0001' } },
  });
  assert.ok(BigInt(below) > 2n ** 53n);
  const [sheet] = await sheetsOf((await download(above, `${TENANTS}/export?status=1`, EN)).bytes);
  const [header = [], row = [], ...rest] = sheet?.rows ?? [];
  assert.equal(rest.length, 0);
  const { data } = await above.get(`${TENANTS}/${below}`);
  const shown = Object.fromEntries(header.map((name, n) => [String(name), row[n] ?? null]));
  assert.deepEqual(shown, {
    ...{ 'Internal ID': below, 'Tenant code': data.tenantId, 'Tenant name': '分公司', 'Parent tenant': above.tenantId },
    ...{ Company: '公司', 'Contact person': '李四', 'Contact phone': '021-5555', Status: 'Disabled', 'User limit': 5 },
    ...{ 'Start date': '2026-01-01', 'End date': '2030-12-31', Menus: '1, 2', 'Enterprise queries': 0 },
    ...{ 'Annual report queries': 0, 'Supply chain reports': 0, 'Business analysis reports': 0 },
    ...{ 'Risk assessments': 7, 'Customers and suppliers': 0 },
    // A cell of an xlsx file has at most 32,767 characters.
    ...{ 'Admission model': `${long.slice(0, 32_766)}…`, 'Scoring model': null, 'Credit line model': null },
    ...{ 'Admission catalog rule': null, 'Scoring catalog rule': null, 'Credit line catalog rule': null },
    ...{ 'Early warning catalog rule': '_x0041_\u0001' },
  });
  const [first] = await exportedRows(above, `${TENANTS}/export?format=csv&status=1`, EN);
  assert.deepEqual([first?.['Internal ID'], first?.['Admission model']], [below, long], 'csv cells have any length');
  const all = await exportedRows(above, `${TENANTS}/export?format=csv`, EN);
  // Without filters: the tenant of the caller and those below.
  assert.deepEqual(all.map((each) => each['Internal ID']).sort(), [above.id, below].sort());
});

test('administrators export the departments and users of a tenant below with tenantId', async () => {
  const below = await service.createTenant({}, admin);
  await below.createDepartment({ deptName: 'below' });
  const query = `format=csv&tenantId=${below.tenantId}`;
  assert.deepEqual(
    (await exportedRows(admin, `${DEPTS}/export?${query}`)).map((row) => row.部门路径),
    ['below'],
  );
  assert.deepEqual(
    (await exportedRows(admin, `${USERS}/export?${query}`)).map((row) => row.用户名),
    ['boss'],
  );
});

test('an API key needs only the permission `export` to export', async () => {
  const keyWith = async (...permissions: string[]) => {
    const { data } = await admin.post('/system/key-api', { keyName: permissions.join(), permissions });
    return Object.assign(Object.create(admin), { token: data.key }) as Client;
  };
  const exporter = await keyWith('export');
  const reader = await keyWith('dept:read', 'user:read', 'tenant:read', 'import');
  for (const path of [DEPTS, USERS, TENANTS]) {
    assert.equal((await download(exporter, `${path}/export`)).status, 200);
    assert.equal((await download(reader, `${path}/export`)).status, 403);
  }
  assert.equal((await download(reader, `${DEPTS}/import/template`)).status, 200);
  assert.equal((await download(exporter, `${DEPTS}/import/template`)).status, 403);
});

test('HEAD has the headers of the file and no body', async () => {
  const { status, headers, text } = await admin.call('HEAD', `${DEPTS}/export?format=csv`);
  assert.deepEqual([status, headers['content-type'], text], [200, 'text/csv; charset=utf-8', '']);
});

test('an export of many pages has every row once, in the order of creation', async () => {
  const count = scale(1_201, 100_000);
  const large = await service.createTenant();
  await insertDepartments(service.superuser, large.tenantId, {
    first: 5_000_000,
    count,
    parentOf: 'nullif(n / 10, 0)',
  });
  await service.superuser`analyze banyan.departments`;
  const rows = await exportedRows(large, `${DEPTS}/export?format=csv`);
  assert.deepEqual(
    rows.map((row) => Number(row.部门编号)),
    Array.from({ length: count }, (_, n) => 5_000_001 + n),
  );
  assert.equal(rows.at(1_200)?.部门路径, '部门 1/部门 12/部门 120/部门 1201');
  // The everyday run does without a large workbook: the first test reads a small one.
  if (!isLong) return;
  const [sheet] = await sheetsOf((await download(large, `${DEPTS}/export`)).bytes);
  assert.equal(sheet?.rows.length, count + 1);
  assert.deepEqual(sheet?.rows.at(-1)?.slice(0, 3).map(String), Object.values(rows.at(-1) ?? {}).slice(0, 3));
});

test('rows that do not fit into one sheet continue in further sheets with the same header', async () => {
  const column = { key: 'n', header: { zh: '数', en: 'n' }, width: 8, imported: false, show: () => null };
  async function* rows() {
    for (let n = 1; n <= 5; n++) yield [String(n)];
  }
  const sheet = { title: { zh: '表', en: 'Sheet' }, fileName: 'sheet', columns: [column] };
  const chunks: Buffer[] = [];
  for await (const chunk of writeSheet(sheet, rows(), { format: 'xlsx', language: 'en', maxRowsPerSheet: 3 }))
    chunks.push(chunk);
  assert.deepEqual(await sheetsOf(Buffer.concat(chunks)), [
    { name: 'Sheet', rows: [['n'], ['1'], ['2']] },
    { name: 'Sheet_2', rows: [['n'], ['3'], ['4']] },
    { name: 'Sheet_3', rows: [['n'], ['5']] },
  ]);
});

test('a template has the columns that an import reads, examples and explanations', async () => {
  for (const [path, name, title, columns] of [
    [DEPTS, 'departments', '部门', DEPT_HEADER.slice(1, -2)],
    [USERS, 'users', '用户', USER_TEMPLATE_HEADER],
  ] as const) {
    const { status, headers, bytes } = await download(admin, `${path}/import/template`);
    assert.equal(status, 200);
    assert.equal(
      headers.get('content-disposition'),
      `attachment; filename="${name}-template.xlsx"; filename*=UTF-8''${encodeURIComponent(`${title}导入模板.xlsx`)}`,
    );
    const [sheet, instructions] = await sheetsOf(bytes);
    assert.deepEqual([sheet?.name, instructions?.name], [title, '填写说明']);
    const [header = [], ...examples] = sheet?.rows ?? [];
    assert.deepEqual(header, columns);
    assert.equal(examples.length, 2);
    assert.deepEqual(
      instructions?.rows.slice(1, header.length + 1).map(([column]) => column),
      header,
    );
    for (const [, help] of instructions?.rows.slice(1, header.length + 1) ?? []) assert.ok(String(help).length > 3);
    const csv = await download(admin, `${path}/import/template?format=csv`);
    assert.deepEqual([...csv.bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
    assert.deepEqual(
      csvRowsOf(csv.bytes).map((row) => row.map(decodeFormula)),
      sheet?.rows.map((row) => header.map((_, n) => String(row[n] ?? ''))),
    );
    const english = csvRowsOf((await download(admin, `${path}/import/template?format=csv`, EN)).bytes);
    assert.ok(english[0]?.includes('Status') && english[1]?.includes('Normal'), String(english));
  }
});
