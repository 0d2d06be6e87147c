// Only with test:long: each example is a process; examples.test.ts runs one of each kind, and contract/client covers the typed client.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { DEPTS, expectOk, read } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { compiled, exampleFolder, keysOf, run, source, start } from './example-programs.ts';

const service = await startService();
const createKey = keysOf(service);
const folder = exampleFolder();

test('sync-departments creates departments with the typed client and corrects leaders', async () => {
  const admin = await service.createTenant();
  const known = await admin.createDepartment({ deptName: '市场部', leader: '李雷', phone: '13800000000' });
  const file = path.join(folder, 'departments.json');
  const departments = ['研发中心', '市场部'].map((deptName) => ({ deptName, leader: '张三' }));
  fs.writeFileSync(file, JSON.stringify(departments));
  const { env } = await createKey(admin, ['dept:read', 'dept:write']);
  const sync = () => run(process.execPath, [compiled('sync-departments.js'), file], { env });
  assert.equal((await sync()).stdout, '1 created, 1 changed, 0 unchanged\n');
  const { leader, phone } = await read(admin, `${DEPTS}/${known}`);
  assert.deepEqual([leader, phone], ['张三', '13800000000']);
  assert.equal((await sync()).stdout, '0 created, 0 changed, 2 unchanged\n');
});

test('check-entitlements tells whether a user may open a page', async () => {
  const admin = await service.createTenant({ packageBo: { menuIds: '7' }, quotaBo: { merchant: 1 } });
  const member = await service.createMember(admin);
  const { env } = await createKey(admin, ['tenant:read', 'user:read']);
  const check = async (menu: string) =>
    (await run(process.execPath, [compiled('check-entitlements.js'), member.id, menu, 'merchant'], { env })).stdout;
  assert.equal(await check('7'), 'yes\nyes\n');
  assert.equal(await check('8'), 'no: not in the package\nno: not in the package\n');
  await admin.post('/system/quota-api/consume', { quota: 'merchant' });
  assert.equal(await check('7'), 'no: nothing left\nno: nothing left\n');
});

test('keep-a-copy follows the feed, continues after it was killed, and derives paths from parents', async () => {
  const admin = await service.createTenant();
  const { env } = await createKey(admin, ['change:read']);
  const file = path.join(folder, 'copy.json');
  const [a, b, deleted] = await Promise.all(['甲', '乙', '删'].map((deptName) => admin.createDepartment({ deptName })));
  const child = await admin.createDepartment({ deptName: '丙', parentId: a });
  const first = start('keep-a-copy.js', [file], env);
  await waitFor('the copy has the departments', () => first.lines.includes('甲/丙'));
  first.child.kill('SIGKILL');
  expectOk(await admin.delete(`${DEPTS}/${deleted}`));
  // The move changes `ancestors` of the child, which has no change of its own.
  expectOk(await admin.put(DEPTS, { deptId: a, deptName: '甲', parentId: b }));
  const second = start('keep-a-copy.js', [file], env);
  await waitFor('the copy has the move', () => second.lines.includes('乙/甲'));
  expectOk(await admin.put(DEPTS, { deptId: child, deptName: '丁' }));
  await waitFor('the copy has the new name', () => second.lines.includes('乙/甲/丁'));
  const { departments } = JSON.parse(fs.readFileSync(file, 'utf8'));
  assert.deepEqual(Object.keys(departments).sort(), [a, b, child].map(String).sort());
});

test('a wrong key ends an example with the status and the error code', async () => {
  const file = path.join(folder, 'nobody.json');
  fs.writeFileSync(file, '[]');
  const env = { BANYAN_URL: service.base, BANYAN_KEY: 'byk_wrong' };
  await assert.rejects(run(process.execPath, [compiled('nightly-job.js'), file], { env }), /401 INVALID_/);
});

const isMissing = (command: string) =>
  spawnSync(command, ['--version']).error ? `${command} is not installed` : false;

test('departments.sh creates a department and prints the tree', { skip: isMissing('curl') }, async () => {
  const admin = await service.createTenant();
  const { env } = await createKey(admin, ['dept:read', 'dept:write']);
  const { stdout } = await run('sh', [source('departments.sh')], { env });
  const [created, tree] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(created.code, 200);
  assert.deepEqual(
    tree.data.map(({ deptName }: { deptName: string }) => deptName),
    ['前端组'],
  );
});

test('export_departments.py writes the departments as CSV', { skip: isMissing('python3') }, async () => {
  const admin = await service.createTenant();
  const deptId = await admin.createDepartment({ deptName: '研发, "一"部', leader: '张伟' });
  const { keyId, env } = await createKey(admin, ['dept:read']);
  const { stdout } = await run('python3', [source('export_departments.py')], {
    env: { ...env, BANYAN_KEY_ID: String(keyId), PYTHONIOENCODING: 'utf-8' },
  });
  assert.equal(stdout, `deptId,parentId,deptName,leader\r\n${deptId},0,"研发, ""一""部",张伟\r\n`);
});
