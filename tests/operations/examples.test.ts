import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterFile } from '../support/cleanup.ts';
import { DEPTS, expectOk, read, USERS } from '../support/expect.ts';
import { type Client, FAST_WEBHOOK_POLLING, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { timing: FAST_WEBHOOK_POLLING });
// The compiled test runs in dist/tests/operations.
const compiled = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const source = (name: string) => fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url));
const run = promisify(execFile);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-examples-'));
afterFile(() => fs.rmSync(folder, { recursive: true }));

async function createKey(
  admin: Client,
  permissions: string[],
): Promise<{ keyId: number; env: Record<string, string> }> {
  const { data } = await admin.post('/system/key-api', { keyName: 'example', permissions });
  return { keyId: data.keyId, env: { PATH: process.env.PATH ?? '', BANYAN_URL: service.base, BANYAN_KEY: data.key } };
}

/** Starts an example that runs until it is killed, and collects the lines that it prints. */
function start(name: string, args: string[], env: Record<string, string>): { lines: string[]; child: ChildProcess } {
  const child = spawn(process.execPath, [compiled(name), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  afterFile(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk;
      lines.splice(0, lines.length, ...text.split('\n').slice(0, -1));
    });
  }
  return { lines, child };
}

const listening = async (lines: string[]): Promise<string> => {
  const line = await waitFor('the example listens', () => lines.find((text) => text.includes('Listening on ')));
  return line.slice('Listening on '.length);
};

test('nightly-job creates users who joined and disables those who left', async () => {
  const admin = await service.createTenant();
  const deptId = Number(await admin.createDepartment());
  const leaving = await admin.createUser({ userName: 'leaving', nickName: '李雷', deptId });
  const file = path.join(folder, 'people.json');
  const people = ['zhang.wei', 'wang.fang'].map((userName) => ({ userName, nickName: userName, deptId }));
  fs.writeFileSync(file, JSON.stringify(people));
  const { env } = await createKey(admin, ['user:read', 'user:write']);
  const first = await run(process.execPath, [compiled('nightly-job.js'), file], { env });
  assert.equal(first.stdout, '2 created, 1 disabled, 1 unchanged\n');
  const { status, nickName } = await read(admin, `${USERS}/${leaving}`);
  assert.deepEqual([status, nickName], ['1', '李雷']);
  const second = await run(process.execPath, [compiled('nightly-job.js'), file], { env });
  assert.equal(second.stdout, '0 created, 0 disabled, 4 unchanged\n');
});

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

test('verify-tokens accepts a token of the service and rejects any other', async () => {
  const admin = await service.createTenant();
  const { lines } = start('verify-tokens.js', [], { BANYAN_ISSUER: service.base, PORT: '0' });
  const url = await listening(lines);
  const ask = (token: string) => fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const response = await ask(admin.token as string);
  const me = await read(admin, '/auth/me');
  assert.deepEqual(await response.json(), { user: String(me.user.userId), tenant: admin.tenantId });
  const [header, payload, signature] = String(admin.token).split('.');
  const other = Buffer.from(JSON.stringify({ ...JSON.parse(atob(String(payload))), sub: '1' })).toString('base64url');
  for (const token of ['', 'x', `${header}.${other}.${signature}`]) assert.equal((await ask(token)).status, 401, token);
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

test('webhook-receiver accepts signed messages once, and rejects forged ones', async () => {
  const admin = await service.createTenant();
  // The secret is known only after the webhook has an address, so the example is started with it afterwards.
  const { data } = await admin.post('/system/webhook-api', { url: 'http://127.0.0.1:9/', status: '1' });
  const { lines } = start('webhook-receiver.js', [], { BANYAN_WEBHOOK_SECRET: data.secret, PORT: '0' });
  const url = (await listening(lines)).replace('localhost', '127.0.0.1');
  expectOk(await admin.put('/system/webhook-api', { id: data.id, url, status: '0' }));
  const deptId = await admin.createDepartment();
  await waitFor('the message has arrived', () => lines.includes(`department.created ${deptId}`));
  const forged = await fetch(url, {
    method: 'POST',
    headers: {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': 'v1,AAAA',
    },
    body: '{}',
  });
  assert.equal(forged.status, 401);
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

test('a wrong key ends an example with an error that says what to do', async () => {
  const file = path.join(folder, 'nobody.json');
  fs.writeFileSync(file, '[]');
  const env = { BANYAN_URL: service.base, BANYAN_KEY: 'byk_wrong' };
  await assert.rejects(run(process.execPath, [compiled('nightly-job.js'), file], { env }), /401 INVALID_/);
});
