import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { afterFile } from '../support/cleanup.ts';
import { type Client, createEmptyDatabase, startService } from '../support/service.ts';

/** All data leaves one installation with `npm run export`, and arrives in another with `npm run import`. */

const NO_BACKGROUND_WORK = { sealMs: 600_000, webhookPollMs: 600_000 };
const first = await startService({}, { timing: NO_BACKGROUND_WORK });
const second = await startService({}, { timing: NO_BACKGROUND_WORK });
const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-transfer-'));
afterFile(() => fs.rmSync(parent, { recursive: true }));
const folder = path.join(parent, 'export');

const run = (command: 'export' | 'import' | 'verify-ledger', databaseUrl: string, ...args: string[]) =>
  spawnSync(process.execPath, [fileURLToPath(new URL(`../../server/cli/${command}.js`, import.meta.url)), ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
  });

const DEPT = '/system/dept-api';
const USER = '/system/user-api';
const TENANT = '/system/tenant-api';

/** Makes data of every kind in a tenant: created, changed, moved, deleted and restored. */
async function fill(admin: Client): Promise<void> {
  const top = await admin.createDepartment({ deptName: '总部', leader: '张三' });
  const child = await admin.createDepartment({ parentId: top, deptName: '研发/测试 "中心"' });
  // A parent with a greater id than its child.
  const above = await admin.createDepartment({ deptName: '上级' });
  await admin.put(DEPT, { deptId: top, parentId: above, deptName: '总部 2' });
  const deleted = await admin.createDepartment({ parentId: child, deptName: 'deleted' });
  await admin.delete(`${DEPT}/${deleted}`);
  const user = await admin.createUser({
    userName: 'zhang',
    nickName: '张三',
    position: '研发经理',
    deptId: child,
    deptIds: [top],
    roles: ['member'],
  });
  await admin.delete(`${USER}/${await admin.createUser({ userName: 'gone' })}`);
  await admin.patch(`${USER}/${user}`, { phone: '+86 138' });
  await admin.post('/system/webhook-api', { url: 'https://example.com/hook' });
  await admin.post('/system/key-api', { keyName: 'reader', permissions: ['dept:read'] });
}

/** All that a tenant's administrator can read. Logins are left out, because a login to the second service is one. */
async function readAll(admin: Client): Promise<Record<string, unknown>> {
  const reads: Record<string, unknown> = {};
  const read = async (url: string) => {
    const { status, data } = await admin.get(url);
    assert.equal(status, 200, url);
    reads[url] = data;
    return data;
  };
  const { rows: departments } = await read(`${DEPT}/list?pageSize=500&withPath=true`);
  await read(`${DEPT}/tree`);
  for (const { deptId } of departments) {
    await read(`${DEPT}/${deptId}`);
    await read(`${DEPT}/${deptId}/history`);
    await read(`${DEPT}/${deptId}/users`);
    await read(`${DEPT}/${deptId}/children`);
  }
  for (const { userId } of (await read(`${USER}/list?pageSize=500`)).rows) await read(`${USER}/${userId}`);
  for (const { id } of (await read(`${TENANT}/list?pageSize=500&fields=ruleBo`)).rows) await read(`${TENANT}/${id}`);
  await read(`${TENANT}/tree`);
  for (const resource of ['department', 'tenant', 'user', 'webhook', 'key'])
    await read(`/system/change-api/list?resource=${resource}&limit=500`);
  const feed = await read('/system/change-api?limit=1000');
  reads['/system/change-api?limit=1000'] = feed.rows;
  const subtree = await read('/system/change-api?limit=1000&below=true');
  reads['/system/change-api?limit=1000&below=true'] = subtree.rows;
  const [{ time }] = feed.rows.slice(-4);
  await read(`${DEPT}/tree?asOf=${encodeURIComponent(time)}`);
  for (const { webhookId } of (await read('/system/webhook-api/list')).rows)
    await read(`/system/webhook-api/${webhookId}`);
  for (const { keyId } of (await read('/system/key-api/list')).rows) await read(`/system/key-api/${keyId}`);
  return reads;
}

const upper = await first.createTenant({ tenantName: '集团', ruleBo: { modelZr: '规则' }, quotaBo: { merchant: 7 } });
const lower = await first.createTenant({ tenantName: '分公司' }, upper);
const beside = await first.createTenant();
for (const admin of [upper, lower, beside]) await fill(admin);
const gone = await first.createTenant({ tenantName: 'gone' });
await first.root.delete(`${TENANT}/${gone.id}`);

const { data: key } = await upper.post('/system/key-api', { keyName: 'used', permissions: ['dept:read', 'user:read'] });

test('everything that can be read is the same after an export and an import into an empty database', async () => {
  const admins = [first.root, upper, lower, beside];
  const before: Record<string, unknown>[] = [];
  for (const admin of admins) before.push(await readAll(admin));
  const exported = run('export', first.databaseUrl, '--to', folder);
  assert.equal(exported.status, 0, exported.stderr);
  assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
  const imported = run('import', second.databaseUrl, '--from', folder);
  assert.equal(imported.status, 0, imported.stderr);

  const names = ['admin', 'boss', 'boss', 'boss'];
  for (const [n, admin] of admins.entries()) {
    const again = await second.logIn(admin.tenantId || '000000', names[n] as string);
    assert.deepEqual(await readAll(again), before[n]);
  }
  // The key works, the references and triggers are as before, and new ids do not repeat old ones.
  assert.equal(
    (await second.anonymous.get(`${DEPT}/list`, { headers: { authorization: `Bearer ${key.key}` } })).status,
    200,
  );
  const again = await second.logIn(upper.tenantId, 'boss');
  const id = await again.createDepartment({ deptName: 'new' });
  const { data } = await again.get('/system/change-api/list?limit=1');
  assert.deepEqual([data.rows[0].action, String(data.rows[0].resourceId)], ['created', id]);
  const constraints = (sql: typeof first.superuser) => sql`
    select conname, condeferrable, condeferred from pg_constraint where connamespace = 'banyan'::regnamespace
    order by conrelid::regclass::text, conname`;
  assert.deepEqual([...(await constraints(second.superuser))], [...(await constraints(first.superuser))]);
  const verified = run('verify-ledger', second.databaseUrl);
  assert.match(verified.stderr, /The ledger is intact/);
});

test('an import into a database with data changes nothing', async () => {
  const before = await readAll(upper);
  const { status, stderr } = run('import', first.databaseUrl, '--from', folder);
  assert.equal(status, 2);
  // Deleted departments count too.
  assert.match(stderr, /The database is not empty: it has 4 tenants besides 000000, 12 departments/);
  assert.deepEqual(await readAll(upper), before);
});

test('an import prepares a new database, and rejects a file that was altered', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const file = path.join(folder, 'departments.ndjson');
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, text.replace('总部 2', '总部 3'));
  const altered = run('import', databaseUrl, '--from', folder);
  assert.equal(altered.status, 2);
  assert.match(altered.stderr, /departments\.ndjson is not as it was exported/);
  fs.writeFileSync(file, text);
  const imported = run('import', databaseUrl, '--from', folder);
  assert.equal(imported.status, 0, imported.stderr);
  assert.match(imported.stderr, /\d+ rows were imported/);
});

test('a missing argument, an existing target folder and a folder without an export fail with a message that says so', () => {
  assert.match(run('export', first.databaseUrl).stderr, /npm run export -- --to folder/);
  const existing = run('export', first.databaseUrl, '--to', parent);
  assert.deepEqual([existing.status, /already exists/.test(existing.stderr)], [2, true]);
  const { status, stderr } = run('import', second.databaseUrl, '--from', parent);
  assert.equal(status, 2);
  assert.match(stderr, /There is no export in/);
});
