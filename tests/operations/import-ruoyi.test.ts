import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importRuoyi } from '../../server/cli/import-ruoyi-command.ts';
import { verifyLedger } from '../../server/ledger/verify.ts';
import { afterFile } from '../support/cleanup.ts';
import { connectWithoutDeadline, createDatabase } from '../support/database.ts';
import { DEPTS, outcomeOf, TENANTS, USERS } from '../support/expect.ts';
import { createMariadb, missingMariadb } from '../support/mariadb.ts';
import { fillRuoyi, insertStatement, RUOYI_PASSWORD, ruoyiHash, snowflake } from '../support/ruoyi.ts';
import { createEmptyDatabase, startService } from '../support/service.ts';
import { CODE, d, dept, personOf, u } from './ruoyi-defects.ts';
import { createPostgres, generated, hash, importerOf } from './ruoyi-import.ts';

/** npm run import-ruoyi, from PostgreSQL and from MariaDB. */

const service = await startService();
const { superuser, root } = service;
const { run } = importerOf(service.databaseUrl);

const lastChange = async (sql = superuser) => {
  const [row] = await sql<[{ last: string; count: number }]>`
    select coalesce(max(change_id), 0)::text as last, count(*) as count from banyan.changes`;
  return row;
};

/** The names of the rules that the import applied to a record, according to its report. */
const rulesFor = (
  report: { findings: { rule: string; tenant: string; record: string }[] },
  tenant: string,
  record: string,
) => report.findings.filter((each) => each.tenant === tenant && each.record === record).map(({ rule }) => rule);

/** Reads a tenant with its departments and users as an administrator of 000000 sees it. */
async function readTenant(code: string) {
  const { data } = await root.get(`${TENANTS}/list?tenantId=${code}`);
  const find = async (path: string, id: string) => {
    const [row] = await superuser<{ id: number }[]>`
      select dept_id as id from banyan.departments where tenant_id = ${code} and external_id = ${id}
      union all select user_id from banyan.users where tenant_id = ${code} and external_id = ${id}`;
    return (await root.get(`${path}/${row?.id ?? 0}?tenantId=${code}`)).data as Record<string, unknown>;
  };
  return { tenant: data.rows[0], department: (id: string) => find(DEPTS, id), user: (id: string) => find(USERS, id) };
}

const ruoyi = await createPostgres();
afterFile(() => ruoyi.close());
const data = generated('id');
await fillRuoyi(ruoyi, data.rows, 'id');
const atStart = await lastChange();
const preview = await run(ruoyi, ['--preview']);
const afterPreview = await lastChange();
const imported = await run(ruoyi);

test('a preview reports what would be imported and writes nothing', () => {
  assert.equal(preview.status, 0, preview.output);
  assert.match(preview.output, /Preview: nothing was written to Banyan/);
  const report = preview.report();
  const { totals } = report;
  assert.deepEqual(
    [totals.tenants, totals.departments.created, totals.users.created],
    [data.codes.length, data.departments, data.users],
  );
  for (const code of ['000000', 'ACME-3', '200001'])
    assert.equal(rulesFor(report, code, `tenant ${code}`).includes('tenantCode'), code !== '200001');
  assert.deepEqual(afterPreview, atStart);
});

test('an import creates every tenant, department and user that is not deleted', async () => {
  const { status, output, report, roles } = imported;
  assert.equal(status, 0, output);
  const { totals, tenants, findings } = report();
  assert.deepEqual(totals.inBanyan, { departments: data.departments, users: data.users });
  assert.deepEqual([totals.matching, totals.explained, totals.unexplained], [data.departments + data.users, 0, 0]);
  const codes = new Map(tenants.map((each: { ruoyiCode: string; code: string }) => [each.ruoyiCode, each.code]));
  assert.equal(codes.get('200001'), '200001');
  // RuoYi's default tenant 000000 and a code with letters get new codes.
  for (const code of ['000000', 'ACME-3']) assert.match(String(codes.get(code)), /^\d{6}$/);
  assert.notEqual(codes.get('000000'), '000000');
  assert.ok(!codes.has('299998') && !codes.has('299999'));
  for (const [code, rule] of Object.entries({ 299998: 'tenantDeleted', 299999: 'tenantUnknown', '': 'tenantUnknown' }))
    assert.deepEqual(rulesFor({ findings }, code, '3 departments'), [rule]);
  const { roles: ofTenant, users } = roles().tenants[CODE];
  assert.deepEqual(ofTenant.at(-1), {
    ...{ roleId: snowflake(802), roleKey: 'data', roleName: '数据', dataScope: '2', status: '0', deptIds: [d(3)] },
  });
  assert.deepEqual(users.at(-1), { userId: u(6), roleIds: [], postIds: [snowflake(900)] });
  const { errors } = await verifyLedger(service.owner, { ledgerDays: 'keep', progress: () => {} });
  assert.deepEqual(errors, []);
});

test('defective departments are repaired by the rules that the report states', async () => {
  const { tenant, department } = await readTenant(CODE);
  assert.deepEqual(
    [tenant.tenantName, tenant.contactUserName, tenant.endTime, tenant.accountCount, tenant.packageBo.menuIds],
    ['示例公司', '李四', '2099-06-30', 3, '1, 2, 3, 1893000000000000009'],
  );
  const ids = new Map<number, number>();
  for (const n of [1, 2, 3, 4, 6, 7, 8, 9, 10, 11]) ids.set(n, (await department(d(n))).deptId as number);
  const parentOf = async (n: number) => (await department(d(n))).parentId;
  // The parent of 4 did not exist, that of 6 was deleted, 7 and 8 formed a cycle, and 9 was its own parent.
  for (const [n, parent] of [
    [1, 0],
    [2, 1],
    [3, 2],
    [4, 0],
    [6, 1],
    [7, 0],
    [8, 7],
    [9, 0],
    [10, 1],
    [11, 1],
  ] as const)
    assert.equal(await parentOf(n), parent === 0 ? 0 : ids.get(parent), `department ${n}`);
  assert.equal((await department(d(5))).reason, 'DEPT_NOT_FOUND');
  const eleven = await department(d(11));
  assert.deepEqual([eleven.email, eleven.status, eleven.orderNum, eleven.deptName], [null, '1', 0, '长'.repeat(100)]);
  const report = imported.report();
  for (const [n, rule] of [
    [4, 'orphan'],
    [6, 'deletedParent'],
    [7, 'cycle'],
    [9, 'cycle'],
    [10, 'ancestors'],
    [11, 'email'],
  ] as const)
    assert.ok(rulesFor(report, CODE, `department ${d(n)}`).includes(rule), `department ${n}: ${rule}`);
  assert.ok(rulesFor(report, CODE, `tenant ${CODE}`).includes('tenantOverLimit'));
});

test('users keep their departments and passwords, and the first login replaces the hash', async () => {
  const { user, department } = await readTenant(CODE);
  const [one, two, three, four, six] = await Promise.all([1, 2, 3, 4, 6].map((n) => user(u(n))));
  assert.deepEqual(
    [one?.userName, two?.userName, three?.userName, four?.userName],
    ['zhangsan', `ZhangSan-${u(2)}`, `operator-${u(3)}`, 'lisi'],
  );
  assert.deepEqual([one?.roles, two?.roles], [['admin'], ['member']]);
  assert.deepEqual([three?.deptId, six?.deptId], [null, null]);
  assert.equal(two?.deptId, (await department(d(3))).deptId);
  const leading = await department(d(1));
  assert.deepEqual([leading.leaderId, leading.leader], [two?.userId, '用户2']);
  const hashOf = async (id: unknown) =>
    (
      await superuser<
        { hash: string }[]
      >`select password_hash as hash from banyan.users where user_id = ${id as number}`
    )[0]?.hash;
  assert.equal(await hashOf(one?.userId), hash);
  await service.logIn(CODE, 'zhangsan', RUOYI_PASSWORD);
  assert.match(String(await hashOf(one?.userId)), /^\$argon2id\$/);
  await service.logIn(CODE, 'zhangsan', RUOYI_PASSWORD);
  const failed = await service.anonymous.post('/auth/login', { tenantId: CODE, username: 'lisi', password: 'plain' });
  assert.equal(outcomeOf(failed), '401 LOGIN_FAILED');
});

test('a second run changes nothing', async () => {
  const before = await lastChange();
  const { status, output, report } = await run(ruoyi);
  assert.equal(status, 0, output);
  const { totals } = report();
  assert.deepEqual(
    [totals.departments.created, totals.departments.changed, totals.users.created, totals.users.changed],
    [0, 0, 0, 0],
  );
  assert.deepEqual(await lastChange(), before);
});

test('a further run imports what changed in RuoYi and keeps what changed in Banyan', async () => {
  const { tenant, user, department } = await readTenant(CODE);
  await service.logIn(CODE, 'zhangsan', RUOYI_PASSWORD);
  const one = await department(d(1));
  const ten = await department(d(10));
  await root.patch(`${DEPTS}/${one.deptId}?tenantId=${CODE}`, { phone: '010-1' });
  await root.patch(`${DEPTS}/${ten.deptId}?tenantId=${CODE}`, { parentId: 0 });
  await root.patch(`${TENANTS}/${tenant.id}`, { contactPhone: '010-2' });
  const six = await user(u(6));
  await root.delete(`${USERS}/${six.userId}?tenantId=${CODE}`);
  const other = await ruoyiHash('another password', 4);
  for (const statement of [
    `update sys_tenant set company_name = '新公司' where tenant_id = '${CODE}'`,
    // Departments 2, which is disabled, and 3 swap places.
    `update sys_dept set parent_id = ${d(1)}, dept_name = '新名称' where dept_id = ${d(3)}`,
    `update sys_dept set parent_id = ${d(3)} where dept_id = ${d(2)}`,
    `update sys_user set password = '${other}', nick_name = '张三' where user_id = ${u(1)}`,
    `update sys_user set password = '${other}' where user_id = ${u(3)}`,
    `update sys_user set del_flag = '1' where user_id = ${u(4)}`,
    insertStatement('sys_dept', [dept(12, d(2))]),
    insertStatement('sys_user', [personOf(hash)(12, { dept_id: d(12) })]),
  ])
    await ruoyi.run(statement);
  const { last } = await lastChange();
  const { status, output, report } = await run(ruoyi);
  assert.equal(status, 0, output);
  const after = await readTenant(CODE);
  assert.deepEqual(
    [after.tenant.tenantName, after.tenant.companyName, after.tenant.contactPhone],
    ['新公司', '新公司', '010-2'],
  );
  const [two, three, twelve] = await Promise.all([2, 3, 12].map((n) => department(d(n))));
  assert.deepEqual([three?.parentId, two?.parentId, twelve?.parentId], [one.deptId, three?.deptId, two?.deptId]);
  assert.equal(three?.deptName, '新名称');
  assert.equal((await department(d(1))).phone, '010-1');
  assert.equal((await department(d(10))).parentId, 0);
  assert.equal((await user(u(1))).nickName, '张三');
  assert.equal((await user(u(12))).deptId, twelve?.deptId);
  // User 1 has already logged in to Banyan and keeps that password; user 3 has not and gets the new one.
  await service.logIn(CODE, 'zhangsan', RUOYI_PASSWORD);
  await service.logIn(CODE, `operator-${u(3)}`, 'another password');
  const found = report();
  assert.deepEqual(rulesFor(found, CODE, `user ${u(1)}`), ['passwordKept']);
  assert.ok(rulesFor(found, CODE, `user ${u(4)}`).includes('vanished'));
  assert.ok(rulesFor(found, CODE, `user ${u(6)}`).includes('deletedHere'));
  assert.equal((await user(u(4))).userName, 'lisi');
  const changes = await lastChange();
  const written = await superuser<{ change: string }[]>`
    select resource || ' ' || action as change from banyan.changes
    where tenant_id = ${CODE} and change_id > ${last}::bigint and actor_name = 'RuoYi import' order by change`;
  assert.deepEqual(
    written.map(({ change }) => change),
    [
      ...['department created', 'department moved', 'department moved', 'tenant updated'],
      ...['user created', 'user password changed', 'user updated', 'user updated'],
    ],
  );
  const again = await run(ruoyi);
  assert.equal(again.status, 0, again.output);
  assert.deepEqual(await lastChange(), changes);
});

test('two concurrent runs import every record once', async () => {
  const { databaseUrl, superuserUrl } = await createDatabase();
  const results = await Promise.all([run(ruoyi, [], databaseUrl), run(ruoyi, [], databaseUrl)]);
  // Each of them may report records that the other has just imported. A further run finds nothing that is missing.
  const last = await run(ruoyi, [], databaseUrl);
  assert.equal(last.status, 0, [...results, last].map(({ output }) => output).join('\n'));
  const { totals } = last.report();
  assert.deepEqual([totals.departments.created, totals.users.created], [0, 0]);
  assert.equal(totals.matching, totals.departments.planned + totals.users.planned);
  const sql = connectWithoutDeadline({ url: superuserUrl });
  const [row] = await sql`select count(*) as tenants from banyan.tenants`;
  assert.equal(row?.tenants, data.codes.length + 1);
  await sql.end();
});

test('wrong arguments, and databases that are not those of RuoYi, are reported with an explanation', async () => {
  const call = async (args: string[]) => {
    const lines: string[] = [];
    const environment = { DATABASE_URL: service.databaseUrl };
    const status = await importRuoyi(args, { environment, print: (line) => void lines.push(line) });
    return `${status} ${lines.join('\n')}`;
  };
  assert.match(await call([]), /^1 Specify the database/);
  assert.match(await call(['--form', 'mysql://x/y']), /^1 Unknown option '--form'/);
  assert.match(await call(['--from', 'oracle://x/y']), /^2 .*must begin with mysql:\/\/ or postgres:\/\//s);
  const empty = await createEmptyDatabase();
  assert.match(await call(['--from', empty.databaseUrl]), /^2 .*it lacks sys_tenant, sys_dept, sys_user/s);
  const { password } = new URL(empty.databaseUrl);
  assert.ok(!(await call(['--from', empty.databaseUrl])).includes(password));
});

test('an import from MariaDB, with leaders as names, creates every department and user, and a second one changes nothing', {
  skip: missingMariadb ?? false,
}, async (t) => {
  const mariadb = await createMariadb('ry_vue');
  const { databaseUrl, superuserUrl } = await createDatabase();
  try {
    // Use the schema of older versions of RuoYi, in which a leader is a name.
    const early = generated('text');
    await fillRuoyi(mariadb, early.rows, 'text');
    const startedAt = Date.now();
    const { status, output, report } = await run(mariadb, [], databaseUrl);
    t.diagnostic(
      `${early.departments} departments and ${early.users} users from MariaDB in ${Date.now() - startedAt} ms`,
    );
    assert.equal(status, 0, output);
    const { totals } = report();
    assert.deepEqual(totals.inBanyan, { departments: early.departments, users: early.users });
    assert.deepEqual([totals.matching, totals.unexplained], [early.departments + early.users, 0]);
    const sql = connectWithoutDeadline({ url: superuserUrl });
    const [row] = await sql`select leader, dept_name from banyan.departments where external_id = ${d(1)}`;
    assert.deepEqual([row?.leader, row?.dept_name], ['王五', '部门1']);
    const countEngineers = async (database: typeof sql) =>
      (await database`select count(*) from banyan.users where position = '工程师'`)[0]?.count;
    const engineers = await countEngineers(sql);
    assert.ok(engineers > 0);
    assert.equal(engineers, await countEngineers(superuser));
    const before = await lastChange(sql);
    const again = await run(mariadb, [], databaseUrl);
    assert.equal(again.status, 0, again.output);
    assert.deepEqual(await lastChange(sql), before);
    await sql.end();
  } finally {
    await mariadb.close();
  }
});
