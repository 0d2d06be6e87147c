import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { verifyLedger } from '../../db/ledger.ts';
import { resetPassword } from '../../server/auth/reset-password.ts';
import { assertStopped, launch, logIn, newFolder, project, startUnhurried, usedFolder } from '../support/process.ts';
import { type Answer, type Client, createEmptyDatabase, PASSWORD, startService } from '../support/service.ts';

/** npm run reset-password: the way back in for whoever runs the service. */

const service = await startService();
const command = path.join(project, 'dist/server/reset-password.js');
const reasonOf = ({ status, data }: Answer) => `${status} ${data?.reason ?? 'fine'}`;

/** Beside the service, on its database; or with another address of that. Within this process: a node takes long to start. */
async function reset(args: string[], { input = '', databaseUrl = service.databaseUrl } = {}) {
  const lines: string[] = [];
  const status = await resetPassword(args, {
    environment: { DATABASE_URL: databaseUrl },
    input: Readable.from([input]),
    say: (line) => void lines.push(`${line}\n`),
  });
  const words = lines.join('');
  return { status, words, password: passwordIn(words) };
}

/** The same, as the command that it is. */
function runReset(args: string[], { input = '', databaseUrl = service.databaseUrl } = {}) {
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl };
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], { encoding: 'utf8', env, input });
  return { status, words: stdout + stderr, password: passwordIn(stderr) };
}
const passwordIn = (words: string) => /^ +Password +(\S+) +\(shown this once/m.exec(words)?.[1] ?? '';

const tryPassword = (tenantId: string, password: string, from?: string, username = 'boss') =>
  service.anonymous.post('/auth/login', { tenantId, username, password }, from ? { from } : {});
const me = async (client: Client) => reasonOf(await client.get('/auth/me'));
const byOperator = async (client: Client) =>
  (await client.get('/system/change-api/list?by=operator&below=false')).data.rows as {
    action: string;
    resourceId: string;
    before: Record<string, unknown> | null;
    after: Record<string, unknown> | null;
  }[];

test('who lost his password and is disabled gets in again, and nobody else is touched', async () => {
  const boss = await service.createTenant();
  const namesake = await service.createTenant();
  const { tenantId } = boss;
  const from = '127.3.0.1';
  // Guessed at until the account is closed to one address, then over all, and for long.
  for (let n = 0; n < 5; n++) await tryPassword(tenantId, 'wrong password', from);
  for (let n = 0; n < 5; n++) await tryPassword(tenantId, 'wrong password', `127.3.1.${n + 1}`);
  await service.superuser`
    update banyan.login_failures set closed = now() + interval '1 day'
    where tenant_id = ${tenantId} and closed <> '-infinity'`;
  assert.equal(reasonOf(await tryPassword(tenantId, PASSWORD, from)), '429 TOO_MANY_LOGINS');
  assert.equal(reasonOf(await tryPassword(tenantId, PASSWORD, '127.3.2.1')), '429 TOO_MANY_LOGINS');
  const { data: user } = await boss.get('/auth/me');
  // Like the service's connections: the ledger notes times in their zone.
  await service.superuser`select set_config('TimeZone', 'Asia/Shanghai', false)`;
  await service.superuser`update banyan.users set status = '1', update_by = 'sql' where user_id = ${user.user.userId}`;

  const { status, words, password } = await reset([tenantId, 'BOSS']);
  assert.equal(status, 0, words);
  assert.match(words, new RegExp(`Tenant +${tenantId}\n +User +boss \\(administrator\\)\n`));
  assert.match(words, /His sessions have ended, and he is enabled again\. The ledger names "operator"\./);
  assert.ok(password.length >= 22, words);
  assert.equal(await me(boss), '401 SESSION_ENDED');
  assert.equal(
    reasonOf(await service.anonymous.post('/auth/refresh', { refresh_token: boss.refreshToken })),
    '401 REFRESH_REFUSED',
  );
  assert.equal(reasonOf(await tryPassword(tenantId, PASSWORD)), '401 LOGIN_FAILED');
  assert.equal(reasonOf(await tryPassword(tenantId, password, from)), '200 fine');
  assert.equal(reasonOf(await tryPassword(tenantId, password, '127.3.2.1')), '200 fine');

  const again = await service.logIn(tenantId, 'boss', password);
  const [updated, changed, ...more] = await byOperator(again);
  assert.deepEqual([updated?.action, changed?.action, more.length], ['updated', 'password changed', 0]);
  assert.equal(updated?.resourceId, String(user.user.userId));
  const { status: was, updateBy: _, updateTime: __, ...before } = updated?.before ?? {};
  const { status: became, updateBy, updateTime, ...after } = updated?.after ?? {};
  assert.deepEqual([was, became, updateBy], ['1', '0', 'operator']);
  // Times too, which the ledger notes as texts of the service's time zone.
  assert.deepEqual(after, before);
  assert.equal(updateTime, (await again.get('/auth/me')).data.user.updateTime);
  assert.doesNotMatch(JSON.stringify([updated, changed]), /argon2|hash/);
  assert.deepEqual((await verifyLedger(service.owner)).faults, []);

  assert.equal(await me(namesake), '200 fine');
  assert.equal(reasonOf(await tryPassword(namesake.tenantId, PASSWORD)), '200 fine');
  assert.deepEqual(await byOperator(namesake), []);
});

test('a password is taken from standard input and not shown; the address may be that of the service’s own role', async () => {
  const boss = await service.createTenant();
  const anna = await service.createMember(boss, { userName: 'anna' });
  const [login] = await service.owner<[{ role: string; password: string }]>`
    select role, password from service_login
    where role = (select 'banyan_service_' || oid from pg_database where datname = current_database())`;
  const url = new URL(service.databaseUrl);
  Object.assign(url, { username: login.role, password: login.password });
  const given = '  新的 密码 of anna ';
  const { status, words } = runReset([boss.tenantId, 'anna', '-'], {
    input: `${given}\r\nmore`,
    databaseUrl: url.href,
  });
  assert.equal(status, 0, words);
  assert.match(words, /User +anna \(member, no administrator\)\n +Password +as standard input says\n/);
  assert.doesNotMatch(words, /新的|enabled again/);
  assert.equal(await me(anna), '401 SESSION_ENDED');
  assert.equal(reasonOf(await tryPassword(boss.tenantId, given, undefined, 'anna')), '200 fine');
  assert.equal(await me(boss), '200 fine');
});

test('what cannot be done is refused in words, and changes nothing', async () => {
  const boss = await service.createTenant();
  const deleted = await service.createTenant();
  await service.root.delete(`/system/tenant-api/${deleted.id}`);
  const { tenantId } = boss;
  const short = { input: 'short\n' };
  for (const [args, words, options] of [
    [[], /npm run reset-password -- 000000 admin /],
    [[tenantId], /npm run reset-password -- 000000 admin /],
    [[tenantId, 'boss', 'a new password'], /Say whose password it is/],
    [['999999', 'boss'], /There is no tenant 999999\. Give the number .* topmost tenant is 000000\./],
    [[deleted.tenantId, 'boss'], new RegExp(`Tenant ${deleted.tenantId} is deleted\\.`)],
    [[tenantId, 'admin'], new RegExp(`Tenant ${tenantId} has no user admin\\. Its administrators are: boss\\.`)],
    [[tenantId, 'boss', '-'], /A password must have 8 to 128 characters\./, short],
    [[tenantId, 'boss', '-'], /A password must have 8 to 128 characters\./],
  ] as const) {
    const { status, words: said } = await (args.length === 0 ? runReset([]) : reset([...args], options));
    assert.deepEqual([status, said.includes('Password   ')], [1, false], said);
    assert.match(said, words);
    assert.doesNotMatch(said, /\n +at |a new password$/m);
  }
  const away = await reset([tenantId, 'boss'], { databaseUrl: 'postgres://me:hush-hush@127.0.0.1:1/banyan' });
  assert.equal(away.status, 2);
  assert.match(away.words, /^The password could not be changed: .*ECONNREFUSED/);
  assert.doesNotMatch(away.words, /hush-hush|\n +at /);
  assert.equal(await me(boss), '200 fine');
  assert.equal(reasonOf(await tryPassword(tenantId, PASSWORD)), '200 fine');
});

test('it is done as a whole or not at all', async () => {
  const boss = await service.createTenant();
  const { tenantId } = boss;
  await service.superuser.unsafe(`
    create function banyan.stay() returns trigger language plpgsql as $$ begin raise 'sessions stay'; end $$;
    create trigger stay before delete on banyan.sessions for each row execute function banyan.stay()`);
  const { status, words } = await reset([tenantId, 'boss']);
  await service.superuser.unsafe('drop function banyan.stay cascade');
  assert.equal(status, 2);
  assert.match(words, /^The password could not be changed: sessions stay\.$/m);
  assert.equal(await me(boss), '200 fine');
  assert.equal(reasonOf(await tryPassword(tenantId, PASSWORD)), '200 fine');
  assert.deepEqual(await byOperator(boss), []);
});

test('a tenant that is out of service is named: its people get in only when it is back', async () => {
  const boss = await service.createTenant();
  const { data: tenant } = await service.root.get(`/system/tenant-api/${boss.id}`);
  const set = (status: string) => service.root.put('/system/tenant-api', { ...tenant, status });
  assert.equal((await set('1')).code, 200);
  const { status, words, password } = await reset([boss.tenantId, 'boss']);
  assert.equal(status, 0, words);
  assert.match(words, /Nobody can log in to tenant \d+ yet: it, or one above it, is out of service \(disabled\)\./);
  assert.equal((await set('0')).code, 200);
  assert.equal(reasonOf(await tryPassword(boss.tenantId, password)), '200 fine');
});

test('with the embedded database: beside the running service, and without it', async () => {
  const dataDir = await usedFolder();
  const beside = async () => {
    const run = launch([command, '000000', 'admin'], { cwd: path.dirname(dataDir), env: { BANYAN_DATA_DIR: dataDir } });
    assert.equal(await run.ended, 0, run.stderr);
    return passwordIn(run.stderr);
  };
  const first = startUnhurried(dataDir);
  const admin = await first.admin();
  const password = await beside();
  assert.equal(await me(admin), '401 SESSION_ENDED');
  const again = await logIn(admin.base, password);
  assert.deepEqual(
    (await byOperator(again)).map(({ action }) => action),
    ['updated', 'password changed'],
  );
  assert.equal(await first.stop(), 0);

  const another = await beside();
  await assertStopped(dataDir);
  const next = startUnhurried(dataDir);
  const { base } = await next.ready();
  assert.equal(
    reasonOf(await next.ready().then((anonymous) => anonymous.post('/auth/login', login(password)))),
    '401 LOGIN_FAILED',
  );
  await logIn(base, another);
  assert.equal(await next.stop(), 0);
});
const login = (password: string) => ({ tenantId: '000000', username: 'admin', password });

test('a folder without a database is refused, and stays as it was', async () => {
  const dataDir = newFolder();
  const run = launch([command, '000000', 'admin'], { cwd: path.dirname(dataDir), env: { BANYAN_DATA_DIR: dataDir } });
  assert.equal(await run.ended, 2);
  assert.ok(
    run.stderr.includes(`There is no database in ${dataDir}: run this where the service is started`),
    run.stderr,
  );
  assert.equal(fs.existsSync(dataDir), false);
});

test('a database in which the service was never started is refused, with what to do', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const { status, words } = await reset(['000000', 'admin'], { databaseUrl });
  assert.equal(status, 2);
  assert.match(words, /^The password could not be changed: The tables are not there, .*: start the service once\.$/m);
});
