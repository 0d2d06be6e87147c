import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError, expectOk } from '../support/expect.ts';
import { csv, importFile, xlsx } from '../support/import.ts';
import { type Client, shareService } from '../support/service.ts';
import { apply, outcomes, revert } from './imports.ts';

const service = await shareService();

const DEPTS = '/system/dept-api';
const list = async (client: Client): Promise<Record<string, unknown>[]> =>
  (await client.get(`${DEPTS}/list?pageSize=500`)).data.rows;
const pathsOf = async (client: Client) => {
  const rows = await list(client);
  const names = new Map(rows.map((dept) => [String(dept.deptId), dept.deptName]));
  return rows
    .map((dept) =>
      [
        ...String(dept.ancestors)
          .split(',')
          .slice(1)
          .map((id) => names.get(id)),
        dept.deptName,
      ].join('/'),
    )
    .sort();
};

test('an import by path creates, changes or keeps departments, in any order of rows, and one revert undoes it', async () => {
  const tenant = await service.createTenant();
  await tenant.createDepartment({ deptName: '总部', leader: '王五', phone: '1' });
  const before = await list(tenant);
  const rows = [
    ['部门路径', '显示顺序', '负责人', '联系电话'],
    ['总部/研发中心/前端组', 3, '张三', 13800138000],
    ['总部', 1, '', '2'],
    ['总部/研发中心', 2, '李四', '010'],
  ];
  assert.deepEqual(await outcomes(tenant, 'dept', rows), ['created', 'changed', 'created']);
  assert.deepEqual(await list(tenant), before, 'a preview writes nothing');
  const applied = await apply(tenant, 'dept', rows);
  const { rows: count, created, changed, moved, unchanged } = applied.data;
  assert.deepEqual(
    { count, created, changed, moved, unchanged },
    { count: 3, created: 2, changed: 1, moved: 0, unchanged: 0 },
  );
  assert.deepEqual(await pathsOf(tenant), ['总部', '总部/研发中心', '总部/研发中心/前端组']);
  const [top] = (await list(tenant)).filter(({ deptName }) => deptName === '总部');
  assert.deepEqual([top?.leader, top?.phone], ['王五', '2'], 'an empty cell leaves the value alone');
  assert.deepEqual(await outcomes(tenant, 'dept', rows), ['unchanged', 'unchanged', 'unchanged']);
  const again = await apply(tenant, 'dept', rows);
  assert.equal(again.data.changeId, null);
  assert.equal((await revert(tenant, applied)).code, 200);
  assert.deepEqual(await pathsOf(tenant), ['总部']);
  assert.equal((await list(tenant))[0]?.phone, '1');
});

test('an import by external id can rename and move departments, and one revert undoes all its changes', async () => {
  const tenant = await service.createTenant();
  const header = ['来源系统', '外部编号', '上级外部编号', '部门名称', '显示顺序'];
  await apply(tenant, 'dept', [
    header,
    ['hr', '2', '1', '研发', 1],
    ['hr', '1', '', '总部', 1],
    ['hr', '3', '1', '市场', 2],
  ]);
  assert.deepEqual(await pathsOf(tenant), ['总部', '总部/市场', '总部/研发']);
  const rows = [
    header,
    ['hr', '2', '3', '研发中心', ''],
    ['hr', '4', '2', '前端组', 1],
    ['hr', '1', '', '', 9],
    ['hr', '3', '1', '市场', 2],
  ];
  assert.deepEqual(await outcomes(tenant, 'dept', rows), ['moved', 'created', 'changed', 'unchanged']);
  const applied = await apply(tenant, 'dept', rows);
  assert.deepEqual(await pathsOf(tenant), ['总部', '总部/市场', '总部/市场/研发中心', '总部/市场/研发中心/前端组']);
  const { data } = await tenant.get('/system/change-api/list?limit=50');
  const batch = data.rows.filter((change: { requestId: string }) => change.requestId === data.rows[0].requestId);
  assert.deepEqual(batch.map(({ action }: { action: string }) => action).sort(), ['created', 'moved', 'updated']);
  assert.equal((await revert(tenant, applied)).code, 200);
  assert.deepEqual(await pathsOf(tenant), ['总部', '总部/市场', '总部/研发']);
  const cycle = [header, ['hr', '1', '2', '', ''], ['hr', '9', '8', 'x', '']];
  assert.deepEqual(await outcomes(tenant, 'dept', cycle), ['C DEPT_CYCLE', 'C EXTERNAL_ID_NOT_FOUND']);
});

test('a department that another row moves away is not the parent of rows below its former path', async () => {
  const tenant = await service.createTenant();
  await tenant.createDepartment({ deptName: 'A', source: 'hr', externalId: '1' });
  const rows = [
    ['部门路径', '来源系统', '外部编号'],
    ['C', 'hr', '1'],
    ['A/B', '', ''],
  ];
  assert.deepEqual(await outcomes(tenant, 'dept', rows), ['changed', 'A DEPT_PATH_NOT_FOUND']);
});

test('each error names its row, and its column if the file has it, and an import with errors writes nothing', async () => {
  const tenant = await service.createTenant();
  for (let n = 0; n < 2; n++) await tenant.createDepartment({ deptName: '同名' });
  await tenant.createDepartment({ deptName: '停用部', status: '1' });
  const rows = [
    ['部门路径', '状态', '邮箱', '显示顺序', '外部编号'],
    ['甲', '启动', 'x', '1.5', ''],
    ['乙', '', '', '', ''],
    ['乙', '', '', '', ''],
    ['没有/丙', '', '', '', ''],
    ['同名', '停用', '', '', ''],
    ['停用部/丁', '', '', '', ''],
    ['戊//己', '', '', '', ''],
    ['', '正常', '', '', ''],
    ['x'.repeat(101), '', '', '', ''],
    ['庚', '', '', '', '7'],
  ];
  assert.deepEqual(await outcomes(tenant, 'dept', rows), [
    'D INVALID_FIELD, C INVALID_FIELD, B INVALID_FIELD',
    'created',
    'A ROW_REPEATED',
    'A DEPT_PATH_NOT_FOUND',
    'A DEPT_PATH_AMBIGUOUS',
    'A PARENT_DISABLED',
    'A INVALID_FIELD',
    'A INVALID_FIELD',
    'A INVALID_FIELD',
    'null FIELD_REQUIRED',
  ]);
  const refused = await importFile(tenant, 'dept', 'apply', csv(rows));
  assert.equal(refused.status, 400);
  assert.equal(refused.data.reason, 'ROWS_INVALID');
  assert.equal(refused.data.rows, 9);
  assert.deepEqual([refused.data.errors[3].row, refused.data.errors[3].msg], [4, '与第 3 行重复，请只保留一行']);
  assert.equal((await list(tenant)).length, 3);
});

test('a rejected import lists the errors that its preview shows, with null for the column and field of a whole row', async () => {
  const tenant = await service.createTenant();
  expectOk(await service.root.put(`/system/quota-api/accounts?tenantId=${tenant.tenantId}`, { total: 1 }));
  for (const [kind, rows, expected] of [
    [
      'user',
      [
        ['用户名', '姓名'],
        ['zhangsan', '张三'],
      ],
      [null, null, 'QUOTA_EXHAUSTED'],
    ],
    [
      'dept',
      [
        ['部门路径', '外部编号'],
        ['总部', '7'],
      ],
      [null, 'source', 'FIELD_REQUIRED'],
    ],
  ] as const) {
    const file = csv(rows.map((row) => [...row]));
    const { data } = await importFile(tenant, kind, 'preview', file);
    const refused = await importFile(tenant, kind, 'apply', file);
    expectError(refused, 400, 'ROWS_INVALID');
    assert.deepEqual(refused.data.errors, data.table[0].errors);
    const [{ column, field, reason }] = refused.data.errors;
    assert.deepEqual([column, field, reason], expected);
  }
});

test('imported users get generated passwords that must be changed, and can belong to several departments', async () => {
  const tenant = await service.createTenant();
  await apply(tenant, 'dept', [['部门路径'], ['总部'], ['总部/研发'], ['总部/市场']]);
  const rows = [
    ['用户名', '姓名', '岗位', '部门', '兼任部门', '手机号', '角色'],
    ['zhangsan', '张三', '研发经理', '总部/研发', '总部;总部/市场', '００７', ''],
    ['lisi', '李四', '', '总部', '', '13800138000', '管理员'],
  ];
  const key = { 'idempotency-key': 'people-1' };
  const file = csv(rows);
  const applied = await importFile(tenant, 'user', 'apply', file, { headers: key });
  assert.equal(applied.code, 200, applied.text);
  const { passwords, ...rest } = applied.data;
  assert.deepEqual(
    passwords.map(({ row, userName }: { row: number; userName: string }) => [row, userName]),
    [
      [2, 'zhangsan'],
      [3, 'lisi'],
    ],
  );
  assert.notEqual(passwords[0].password, passwords[1].password);
  const replayed = await importFile(tenant, 'user', 'apply', file, { headers: key });
  assert.equal(replayed.headers['idempotent-replayed'], 'true');
  assert.deepEqual(replayed.data, rest, 'the passwords are shown once');
  const kept = await service.superuser`select result::text as result from banyan.idempotency_keys`;
  assert.equal(JSON.stringify(kept).includes(passwords[0].password), false);
  const user = await service.logIn(tenant.tenantId, 'zhangsan', passwords[0].password);
  const own = await user.get('/system/dept-api/list');
  assert.equal(own.data.reason, 'PASSWORD_CHANGE_REQUIRED');
  const { data } = await tenant.get('/system/user-api/list?userName=zhangsan');
  const [zhangsan] = data.rows;
  assert.deepEqual(
    [zhangsan.nickName, zhangsan.position, zhangsan.phone, zhangsan.deptIds.length, zhangsan.roles],
    ['张三', '研发经理', '007', 2, ['member']],
  );
  const changes = [
    ['用户名', '部门', '姓名'],
    ['ZhangSan', '总部/市场', ''],
    ['lisi', '', '李思'],
    ['wangwu', '', '王五'],
  ];
  assert.deepEqual(await outcomes(tenant, 'user', changes), ['moved', 'changed', 'created']);
  const second = await apply(tenant, 'user', changes);
  assert.equal((await revert(tenant, second)).code, 200);
  const after = (await tenant.get('/system/user-api/list?userName=zhangsan')).data.rows[0];
  assert.deepEqual([after.deptId, after.deptIds], [zhangsan.deptId, zhangsan.deptIds]);
  assert.equal((await tenant.get('/system/user-api/list?userName=wangwu')).data.total, 0);
});

test('an import of users checks names, departments, the account limit and the last administrator', async () => {
  const tenant = await service.createTenant({ accountCount: 3 });
  const rows = [
    ['用户名', '部门', '角色', '邮箱'],
    ['a b', '', '', ''],
    ['one', '没有', '', ''],
    ['ONE', '', '', ''],
    ['two', '', '老板', 'x'],
    ['', '', '', 'a@example.com'],
    ['boss', '', '成员', ''],
  ];
  assert.deepEqual(await outcomes(tenant, 'user', rows), [
    'A INVALID_FIELD',
    'B DEPT_PATH_NOT_FOUND',
    'A ROW_REPEATED',
    'D INVALID_FIELD, C INVALID_FIELD',
    'A FIELD_REQUIRED',
    'C LAST_ADMINISTRATOR',
  ]);
  assert.deepEqual(await outcomes(tenant, 'user', [['用户名'], ['one'], ['two'], ['three']]), [
    'created',
    'created',
    'null ACCOUNT_LIMIT',
  ]);
});

test('an import that accepts an event stream responds with its progress and, at the end, its result', async () => {
  const tenant = await service.createTenant();
  const file = await xlsx([['用户名'], ['one'], ['two']]);
  const { text, headers } = await importFile(tenant, 'user', 'apply', file, {
    headers: { accept: 'text/event-stream' },
  });
  assert.match(String(headers['content-type']), /^text\/event-stream/);
  const events = text
    .trim()
    .split('\n\n')
    .map((event) => /^event: (\w+)\ndata: (.*)$/.exec(event)?.slice(1) as [string, string]);
  assert.deepEqual(events[0], ['progress', '{"done":0,"total":2}']);
  assert.equal(events.at(-1)?.[0], 'result');
  assert.equal(JSON.parse(events.at(-1)?.[1] as string).data.passwords.length, 2);
});

test('exported users are imported unchanged, whatever the names of their departments contain', async () => {
  const tenant = await service.createTenant();
  const deptIds = [];
  for (const deptName of ['研发；测试', '甲，乙;丙', 'a/b\\', '总部'])
    deptIds.push(await tenant.createDepartment({ deptName }));
  await tenant.createUser({ userName: 'zhangsan', deptId: deptIds[3], deptIds: deptIds.slice(0, 3) });
  const { text } = await tenant.get('/system/user-api/export?format=csv');
  const { data } = await importFile(tenant, 'user', 'preview', Buffer.from(text));
  assert.deepEqual([data.unchanged, data.errors], [2, 0]);
});

test('exported departments and users are imported unchanged even if names of departments begin or end with spaces', async () => {
  const tenant = await service.createTenant();
  const parentId = await tenant.createDepartment({ deptName: ' 总部 ' });
  const deptIds = [];
  for (const deptName of [' 研发', '测试 ', '\u3000市场\u3000'])
    deptIds.push(await tenant.createDepartment({ deptName, parentId }));
  await tenant.createUser({ userName: 'zhangsan', deptId: parentId, deptIds });
  for (const [kind, rows] of [
    ['dept', 4],
    ['user', 2],
  ] as const) {
    const { text } = await tenant.get(`/system/${kind}-api/export?format=csv`);
    const { data } = await importFile(tenant, kind, 'preview', Buffer.from(text));
    assert.deepEqual([data.unchanged, data.errors], [rows, 0]);
  }
  const missing = csv([
    ['用户名', '部门', '兼任部门'],
    ['lisi', ' 没有 ', ' ; '],
  ]);
  const { data } = await importFile(tenant, 'user', 'preview', missing);
  assert.deepEqual(
    data.table[0].errors.map(({ column, msg }: Record<string, string>) => [column, msg]),
    [['B', '部门“没有”不存在，请核对路径，或先创建该部门']],
  );
});

test('a header that is merged over two rows or repeated further down is not imported', async () => {
  const tenant = await service.createTenant();
  const merges = [0, 1].map((col) => ({ startRow: 0, endRow: 1, startCol: col, endCol: col }));
  const rows = [
    ['部门路径', '负责人'],
    [null, null],
    ['总部', '张三'],
    ['部门路径', '负责人'],
    ['部门路径', null],
    ['总部/研发', '李四'],
  ];
  const { data } = await importFile(tenant, 'dept', 'apply', await xlsx(rows, { merges }));
  assert.deepEqual([data.rows, data.created], [2, 2]);
  assert.deepEqual(await pathsOf(tenant), ['总部', '总部/研发']);
  const users = [
    ['用户名', '姓名'],
    [null, null],
    ['zhangsan', '张三'],
  ];
  const preview = await importFile(tenant, 'user', 'preview', await xlsx(users, { merges }));
  assert.deepEqual(
    preview.data.table.map(({ row, cells }: { row: number; cells: object }) => [row, cells]),
    [[3, { userName: 'zhangsan', nickName: '张三' }]],
  );
});

test('a repeated header of two rows is not imported, but a department named like the title above the header is', async () => {
  const tenant = await service.createTenant();
  const header = [
    ['部门路径', '联系方式', null],
    [null, '联系电话', '邮箱'],
  ];
  const merges = [1, 4].flatMap((startRow) => [
    { startRow, endRow: startRow + 1, startCol: 0, endCol: 0 },
    { startRow, endRow: startRow, startCol: 1, endCol: 2 },
  ]);
  const rows = [['总部', null, null], ...header, ['总部', null, null], ...header, ['总部/研发', '010', 'a@b.cn']];
  const { data } = await importFile(tenant, 'dept', 'preview', await xlsx(rows, { merges }));
  assert.deepEqual(
    data.table.map(({ row, action }: { row: number; action: string }) => [row, action]),
    [
      [4, 'created'],
      [7, 'created'],
    ],
  );
});

test('a file with two columns with the same header is rejected, unless they have the same contents', async () => {
  const tenant = await service.createTenant();
  const header = ['部门路径', '邮箱', '邮箱'];
  const refused = await importFile(tenant, 'dept', 'apply', csv([header, ['重', 'a@b.cn', '']]));
  assert.equal(refused.data.reason, 'FILE_UNREADABLE', refused.text);
  assert.equal(refused.msg, '文件无法读取：B 列和 C 列的表头都是“邮箱”，请只保留一列');
  const { data } = await importFile(tenant, 'dept', 'preview', csv([header, ['重', 'a@b.cn', 'a@b.cn']]));
  assert.deepEqual([data.columns[1].column, data.table[0].cells.email], ['B', 'a@b.cn']);
  const names = await importFile(
    tenant,
    'dept',
    'preview',
    csv([
      ['path', '邮箱', 'Email'],
      ['重', 'a@b.cn', ''],
    ]),
  );
  assert.equal(names.data.table[0].cells.email, 'a@b.cn', 'of two headers for one column, the first counts');
});

test('names and ids stay as they are, except for spaces around them, so that an export is imported unchanged', async () => {
  const tenant = await service.createTenant();
  const names = ['Ａ　１２部', 'Ａ １２部', 'Ａ\u00a0１２部', 'Ａ\u200b１２部'];
  for (const [n, deptName] of names.entries())
    await tenant.createDepartment({ deptName, leader: '张　三', source: 'h　r', externalId: `A　B\ufeff${n}` });
  await tenant.createUser({ userName: 'zhangsan', nickName: '张　\u200b三', position: '经\u00a0理' });
  for (const kind of ['dept', 'user'] as const) {
    const { text } = await tenant.get(`/system/${kind}-api/export?format=csv`);
    const { data } = await importFile(tenant, kind, 'preview', Buffer.from(text));
    assert.deepEqual([data.unchanged, data.rows, data.errors], [data.rows, kind === 'dept' ? 4 : 2, 0]);
  }
  await apply(tenant, 'dept', [
    ['部门路径\u200b', '负责人', '联系电话', '状态', '来源系统', '外部编号'],
    ['\u3000总\u3000部\u00a0', '\u200b李　四\u3000', '０１０　１', '\u3000停用', ' s ', '\ufeffX　1\u200b'],
  ]);
  const [dept] = (await tenant.get(`${DEPTS}/list?deptName=${encodeURIComponent('总')}`)).data.rows;
  assert.deepEqual(
    [dept.deptName, dept.leader, dept.phone, dept.status, dept.source, dept.externalId],
    ['总　部', '李　四', '010 1', '1', 's', 'X　1'],
  );
});

test('`report` is rejected with `apply`, before anything is written', async () => {
  const tenant = await service.createTenant();
  const file = csv([['部门路径'], ['总部']]);
  const { status, data } = await importFile(tenant, 'dept', 'apply', file, { query: '&report=xlsx' });
  assert.deepEqual([status, data.reason, data.field], [400, 'INVALID_FIELD', 'report']);
  assert.deepEqual(await list(tenant), []);
});

test('the error for a long name in a path says that the limit applies to each name', async () => {
  const tenant = await service.createTenant();
  const file = csv([['部门路径'], [`总部/${'x'.repeat(101)}`]]);
  const { data } = await importFile(tenant, 'dept', 'preview', file);
  assert.equal(data.table[0].errors[0].msg, '“部门路径”中的部门名称不能超过 100 个字符');
});

test('an import with progress does not exceed the listener limit of its response', async () => {
  const tenant = await service.createTenant();
  const warnings: string[] = [];
  const onWarning = ({ name, stack }: Error) => {
    if (name === 'MaxListenersExceededWarning') warnings.push(String(stack));
  };
  process.on('warning', onWarning);
  // Node's limit is 10, but a real process adds one listener of its own, for its shutdown.
  service.app.server.once('request', (_, response) => response.setMaxListeners(9));
  const file = csv([['部门路径'], ['总部']]);
  const { text } = await importFile(tenant, 'dept', 'apply', file, { headers: { accept: 'text/event-stream' } });
  process.off('warning', onWarning);
  assert.match(text, /event: result/);
  assert.deepEqual(warnings, []);
});
