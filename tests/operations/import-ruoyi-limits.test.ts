import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { connectSourceDatabase } from '../../db/driver.ts';
import { importRuoyi } from '../../server/cli/import-ruoyi-command.ts';
import { afterFile } from '../support/cleanup.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { CHANGES, DEPTS, expectOk, read, resultOf, TENANTS, USERS } from '../support/expect.ts';
import { fillRuoyi, insertStatement, RUOYI_PASSWORD, ruoyiHash } from '../support/ruoyi.ts';
import { createEmptyDatabase, PASSWORD, startService } from '../support/service.ts';
import { CODE, d, dept, personOf, u, withDefects } from './ruoyi-defects.ts';

/** npm run import-ruoyi at the limits of Banyan (the depth of departments, and pools of accounts), and what a later run completes. */

const service = await startService();
const { root } = service;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-ruoyi-'));
afterFile(() => fs.rmSync(folder, { recursive: true, force: true }));
const password = await ruoyiHash(RUOYI_PASSWORD, 4);
const person = personOf(password);

/** Creates a RuoYi database with one tenant, in which each department is below the previous one. */
async function createRuoyi(departments: number, users: number) {
  const { databaseUrl: url } = await createEmptyDatabase();
  const sql = connectSourceDatabase(url, NO_DEADLINES);
  afterFile(() => sql.end());
  const ruoyi = { url, run: (statement: string) => sql.unsafe(statement), close: () => sql.end() };
  const { sys_tenant = [] } = withDefects(
    { rows: {}, codes: [], departments: 0, users: 0 },
    { leader: 'id', password },
  ).rows;
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n + 1);
  const rows = {
    sys_tenant,
    sys_dept: numbers(departments).map((n) => dept(n, n === 1 ? '0' : d(n - 1))),
    sys_user: numbers(users).map((n) => person(n)),
  };
  await fillRuoyi(ruoyi, rows, 'id');
  return ruoyi;
}

async function run(url: string, environment: Record<string, string> = {}) {
  const lines: string[] = [];
  const report = fs.mkdtempSync(path.join(folder, 'report-'));
  const status = await importRuoyi(['--from', url, '--report', report], {
    environment: { DATABASE_URL: service.databaseUrl, ...environment },
    print: (line) => void lines.push(line),
  });
  const { findings } = JSON.parse(fs.readFileSync(path.join(report, 'report.json'), 'utf8'));
  const found = (rule: string): string[] =>
    findings.filter((each: { rule: string }) => each.rule === rule).map(({ record }: { record: string }) => record);
  return { status, output: lines.join('\n'), found };
}

const ruoyi = await createRuoyi(5, 4);

test('departments deeper than the limit move up to the deepest level that is allowed', async () => {
  const { status, output, found } = await run(ruoyi.url, { BANYAN_DEPARTMENT_LEVELS: '3' });
  assert.equal(status, 0, output);
  assert.deepEqual(
    found('tooDeep'),
    [4, 5].map((n) => `department ${d(n)}`),
  );
  const { rows } = await read(root, `/system/dept-api/list?tenantId=${CODE}`);
  const parentOf = new Map(rows.map((row: { deptId: number; parentId: number }) => [row.deptId, row.parentId]));
  const idOf = (n: number) =>
    rows.find(({ externalId }: { externalId: string }) => externalId === d(n))?.deptId as number;
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((n) => parentOf.get(idOf(n))),
    [0, idOf(1), idOf(2), idOf(2), idOf(2)],
  );
});

test('users that do not fit into a pool of accounts are reported, and the pool is never exceeded', async () => {
  const above = await service.createTenant();
  const { id } = (await read(root, `${TENANTS}/list?tenantId=${CODE}`)).rows[0];
  expectOk(await root.patch(`${TENANTS}/${id}`, { tenantParent: above.tenantId }));
  // The administrator above and four users count already.
  expectOk(await root.put(`/system/quota-api/accounts?tenantId=${above.tenantId}`, { total: 8, pooled: true }));
  await ruoyi.run(
    insertStatement(
      'sys_user',
      [5, 6, 7, 8].map((n) => person(n)),
    ),
  );
  const [{ status, output, found }, ...created] = await Promise.all([
    run(ruoyi.url),
    ...['a', 'b'].map((userName) => above.post(USERS, { userName, password: PASSWORD })),
  ]);
  const createdMeanwhile = created.map(resultOf).filter((result) => result === 'done').length;
  const refused = found('refused');
  assert.equal(refused.length, 4 - (3 - createdMeanwhile), refused.join());
  assert.ok(refused.every((record) => [5, 6, 7, 8].some((n) => record === `user ${u(n)}`)));
  assert.equal(status, 0, output);
  const quotas = await read(above, '/system/quota-api');
  const { used, left } = quotas.find(({ quota }: { quota: string }) => quota === 'accounts');
  assert.deepEqual([used, left], [8, 0]);
  // With a higher total, the next run imports the others.
  expectOk(await root.put(`/system/quota-api/accounts?tenantId=${above.tenantId}`, { total: 20, pooled: true }));
  assert.deepEqual((await run(ruoyi.url)).found('refused'), []);
  assert.equal((await read(root, `${USERS}/list?tenantId=${CODE}`)).total, 8);
});

/** Returns the record in Banyan that has this id in RuoYi. */
const find = (path: string, externalId: string) => read(root, `${path}/external/ruoyi/${externalId}?tenantId=${CODE}`);

const setPool = async (tenantId: string, total: number) =>
  expectOk(await root.put(`/system/quota-api/accounts?tenantId=${tenantId}`, { total, pooled: true }));

test('a leader whom a pool refuses at first leads the department after a later run', async () => {
  const { tenantParent } = (await read(root, `${TENANTS}/list?tenantId=${CODE}`)).rows[0];
  await setPool(tenantParent, 1);
  await ruoyi.run(insertStatement('sys_user', [person(9)]));
  await ruoyi.run(`update sys_dept set leader = '${u(9)}' where dept_id = '${d(1)}'`);
  const first = await run(ruoyi.url);
  assert.deepEqual(first.found('refused'), [`user ${u(9)}`], first.output);
  assert.match(first.output, /9 to import: 0 new, 0 changed, 8 unchanged/, 'the refused user is not unchanged');
  assert.equal((await find(DEPTS, d(1))).leaderId, null);
  await setPool(tenantParent, 20);
  const second = await run(ruoyi.url);
  assert.deepEqual(second.found('refused'), [], second.output);
  assert.equal((await find(DEPTS, d(1))).leaderId, (await find(USERS, u(9))).userId);
});

test('users of a department that was deleted in Banyan belong to it after a later run, once it is restored', async () => {
  const { deptId } = await find(DEPTS, d(5));
  expectOk(await root.delete(`${DEPTS}/${deptId}?tenantId=${CODE}`));
  const [deletion] = (await read(root, `${CHANGES}/list?tenantId=${CODE}&limit=1`)).rows;
  await ruoyi.run(insertStatement('sys_user', [person(10, { dept_id: d(5) })]));
  await ruoyi.run(`update sys_user set dept_id = '${d(5)}' where user_id = '${u(4)}'`);
  const users = [u(4), u(10)];
  const deptsOf = () => Promise.all(users.map(async (id) => (await find(USERS, id)).deptId));
  const before = (await find(USERS, u(4))).deptId;
  const first = await run(ruoyi.url);
  assert.equal(first.status, 0, first.output);
  assert.deepEqual(first.found('deletedHere'), [`department ${d(5)}`]);
  assert.match(first.output, /5 to import: 0 new, 0 changed, 4 unchanged/, 'the deleted one is not unchanged');
  assert.deepEqual(await deptsOf(), [before, null]);
  const { code, text } = await root.post(`${CHANGES}/${deletion.id}/revert?tenantId=${CODE}`);
  assert.equal(code, 200, text);
  const second = await run(ruoyi.url);
  assert.equal(second.status, 0, second.output);
  assert.deepEqual(await deptsOf(), [deptId, deptId]);
});
