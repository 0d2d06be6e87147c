import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { resetPassword } from '../../server/cli/reset-password-command.ts';
import { verifyLedger } from '../../server/ledger/verify.ts';
import { outcomeOf } from '../support/expect.ts';
import { assertStopped, logIn, newDataFolder, project, serveInProcess, usedDataFolder } from '../support/process.ts';
import { Client, createEmptyDatabase, PASSWORD, startService } from '../support/service.ts';

/** npm run reset-password, with which an operator regains access. */

const service = await startService();
const command = path.join(project, 'dist/server/cli/reset-password.js');

interface ResetOptions {
  input?: string;
  databaseUrl?: string;
  environment?: Record<string, string>;
}

/** Resets a password on the service's database or another one. Runs in this process, because starting Node.js is slow. */
async function reset(
  args: string[],
  { input = '', environment = {}, databaseUrl = service.databaseUrl }: ResetOptions = {},
) {
  const lines: string[] = [];
  const status = await resetPassword(args, {
    environment: { DATABASE_URL: databaseUrl, ...environment },
    input: Readable.from([input]),
    print: (line) => void lines.push(`${line}\n`),
  });
  const output = lines.join('');
  return { status, output, password: passwordIn(output) };
}

/** Resets a password with the command-line tool. */
function runReset(args: string[], { input = '', databaseUrl = service.databaseUrl } = {}) {
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl };
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], { encoding: 'utf8', env, input });
  return { status, output: stdout + stderr, password: passwordIn(stderr) };
}
const passwordIn = (output: string) => /^ +Password +(\S+) +\(shown only once/m.exec(output)?.[1] ?? '';

const tryPassword = (tenantId: string, password: string, from?: string, username = 'boss') =>
  service.anonymous.post('/auth/login', { tenantId, username, password }, from ? { from } : {});
const sessionState = async (client: Client) => outcomeOf(await client.get('/auth/me'));
const byOperator = async (client: Client) =>
  (await client.get('/system/change-api/list?by=operator&below=false')).data.rows as {
    action: string;
    resourceId: string;
    before: Record<string, unknown> | null;
    after: Record<string, unknown> | null;
  }[];

test('a disabled user with a lost password can log in again, and no other user is changed', async () => {
  const admin = await service.createTenant();
  const namesake = await service.createTenant();
  const { tenantId } = admin;
  const from = '127.3.0.1';
  // Fail logins until the account is locked for one address and then for all, and extend the lock.
  for (let n = 0; n < 5; n++) await tryPassword(tenantId, 'wrong password', from);
  for (let n = 0; n < 5; n++) await tryPassword(tenantId, 'wrong password', `127.3.1.${n + 1}`);
  await service.superuser`
    update banyan.login_failures set locked_until = now() + interval '1 day'
    where tenant_id = ${tenantId} and locked_until <> '-infinity'`;
  assert.equal(outcomeOf(await tryPassword(tenantId, PASSWORD, from)), '429 TOO_MANY_LOGINS');
  assert.equal(outcomeOf(await tryPassword(tenantId, PASSWORD, '127.3.2.1')), '429 TOO_MANY_LOGINS');
  const { data: user } = await admin.get('/auth/me');
  // The time zone of this session must not matter: the ledger stores times in UTC.
  await service.superuser`select set_config('TimeZone', 'Asia/Shanghai', false)`;
  await service.superuser`update banyan.users set status = '1', update_by = 'sql' where user_id = ${user.user.userId}`;

  const { status, output, password } = await reset([tenantId, 'BOSS']);
  assert.equal(status, 0, output);
  assert.match(output, new RegExp(`Tenant +${tenantId}\n +User +boss \\(administrator\\)\n`));
  assert.match(
    output,
    /All sessions of the user have ended, and the user is enabled again\. The ledger names "operator" as the author of the change\./,
  );
  assert.ok(password.length >= 22, output);
  assert.equal(await sessionState(admin), '401 SESSION_ENDED');
  assert.equal(
    outcomeOf(await service.anonymous.post('/auth/refresh', { refresh_token: admin.refreshToken })),
    '401 REFRESH_REFUSED',
  );
  assert.equal(outcomeOf(await tryPassword(tenantId, PASSWORD)), '401 LOGIN_FAILED');
  assert.equal(outcomeOf(await tryPassword(tenantId, password, from)), '200 OK');
  assert.equal(outcomeOf(await tryPassword(tenantId, password, '127.3.2.1')), '200 OK');

  const again = await service.logIn(tenantId, 'boss', password);
  const [updated, changed, ...more] = await byOperator(again);
  assert.deepEqual([updated?.action, changed?.action, more.length], ['updated', 'password changed', 0]);
  assert.equal(updated?.resourceId, String(user.user.userId));
  const { status: statusBefore, updateBy: _, updateTime: __, ...before } = updated?.before ?? {};
  const { status: statusAfter, updateBy, updateTime, ...after } = updated?.after ?? {};
  assert.deepEqual([statusBefore, statusAfter, updateBy], ['1', '0', 'operator']);
  // Times are equal too, although the sessions that wrote them may have different time zones.
  assert.deepEqual(after, before);
  assert.equal(updateTime, (await again.get('/auth/me')).data.user.updateTime);
  assert.doesNotMatch(JSON.stringify([updated, changed]), /argon2|hash/);
  assert.deepEqual((await verifyLedger(service.owner)).errors, []);

  assert.equal(await sessionState(namesake), '200 OK');
  assert.equal(outcomeOf(await tryPassword(namesake.tenantId, PASSWORD)), '200 OK');
  assert.deepEqual(await byOperator(namesake), []);
});

test('a password is read from standard input and not shown, also when connected as the service’s own role', async () => {
  const admin = await service.createTenant();
  const anna = await service.createMember(admin, { userName: 'anna' });
  const [login] = await service.owner<[{ role: string; password: string }]>`
    select role, password from service_login
    where role = (select 'banyan_service_' || oid from pg_database where datname = current_database())`;
  const url = new URL(service.databaseUrl);
  Object.assign(url, { username: login.role, password: login.password });
  const given = '  新的 密码 of anna ';
  const { status, output } = runReset([admin.tenantId, 'anna', '-'], {
    input: `${given}\r\nmore`,
    databaseUrl: url.href,
  });
  assert.equal(status, 0, output);
  assert.match(output, /User +anna \(member\)\n +Password +as read from standard input\n/);
  assert.doesNotMatch(output, /新的|enabled again/);
  assert.equal(await sessionState(anna), '401 SESSION_ENDED');
  assert.equal(outcomeOf(await tryPassword(admin.tenantId, given, undefined, 'anna')), '200 OK');
  assert.equal(await sessionState(admin), '200 OK');
});

test('invalid arguments fail with a message and change nothing', async () => {
  const admin = await service.createTenant();
  const deleted = await service.createTenant();
  await service.root.delete(`/system/tenant-api/${deleted.id}`);
  const { tenantId } = admin;
  const short = { input: 'short\n' };
  for (const [args, expected, options] of [
    [[], /npm run reset-password -- 000000 admin /],
    [[tenantId], /npm run reset-password -- 000000 admin /],
    [[tenantId, 'boss', 'a new password'], /Specify the tenant and the user/],
    [['999999', 'boss'], /Tenant 999999 does not exist\. Use the code .* root tenant is 000000\./],
    [[deleted.tenantId, 'boss'], new RegExp(`Tenant ${deleted.tenantId} is deleted\\.`)],
    [[tenantId, 'admin'], new RegExp(`Tenant ${tenantId} has no user admin\\. Its administrators are: boss\\.`)],
    [[tenantId, 'boss', '-'], /A password must have 8 to 128 characters\./, short],
    [[tenantId, 'boss', '-'], /The password is one of the most common passwords/, { input: 'Password1\n' }],
    [[tenantId, 'boss', '-'], /The password consists mostly of a name/, { input: `${tenantId}boss\n` }],
    [[tenantId, 'boss', '-'], /A password must have 8 to 128 characters\./],
  ] as const) {
    const { status, output } = await reset([...args], options);
    assert.deepEqual([status, output.includes('Password   ')], [1, false], output);
    assert.match(output, expected);
    assert.doesNotMatch(output, /\n +at |a new password$/m);
  }
  const away = await reset([tenantId, 'boss'], { databaseUrl: 'postgres://me:hush-hush@127.0.0.1:1/banyan' });
  assert.equal(away.status, 2);
  assert.match(away.output, /^The password could not be changed: .*ECONNREFUSED/);
  assert.doesNotMatch(away.output, /hush-hush|\n +at /);
  assert.equal(await sessionState(admin), '200 OK');
  assert.equal(outcomeOf(await tryPassword(tenantId, PASSWORD)), '200 OK');
});

test('a reset that fails halfway is rolled back', async () => {
  const admin = await service.createTenant();
  const { tenantId } = admin;
  await service.superuser.unsafe(`
    create function banyan.reject_delete() returns trigger language plpgsql as $$ begin raise 'rejected'; end $$;
    create trigger reject_delete before delete on banyan.sessions for each row execute function banyan.reject_delete()`);
  const { status, output } = await reset([tenantId, 'boss']);
  await service.superuser.unsafe('drop function banyan.reject_delete cascade');
  assert.equal(status, 2);
  assert.match(output, /^The password could not be changed: rejected\.$/m);
  assert.equal(await sessionState(admin), '200 OK');
  assert.equal(outcomeOf(await tryPassword(tenantId, PASSWORD)), '200 OK');
  assert.deepEqual(await byOperator(admin), []);
});

test('the tool warns when the tenant is not active, and the user can log in once it is active again', async () => {
  const admin = await service.createTenant();
  const { data: tenant } = await service.root.get(`/system/tenant-api/${admin.id}`);
  const setStatus = (status: string) => service.root.put('/system/tenant-api', { ...tenant, status });
  assert.equal((await setStatus('1')).code, 200);
  const { status, output, password } = await reset([admin.tenantId, 'boss']);
  assert.equal(status, 0, output);
  assert.match(
    output,
    /Users of tenant \d+ cannot log in yet: it or one of its ancestors is not active \(disabled\)\./,
  );
  assert.equal((await setStatus('0')).code, 200);
  assert.equal(outcomeOf(await tryPassword(admin.tenantId, password)), '200 OK');
});

test('with the embedded database the tool works while the service runs and while it is stopped', async () => {
  const dataDir = await usedDataFolder();
  const resetAdmin = async () => {
    const environment = { BANYAN_DATA_DIR: dataDir, DATABASE_URL: '' };
    const { status, output, password } = await reset(['000000', 'admin'], { environment });
    assert.equal(status, 0, output);
    return password;
  };
  const password = await resetAdmin();
  await assertStopped(dataDir);
  const { base, stop } = await serveInProcess({ BANYAN_DATA_DIR: dataDir });
  const admin = await logIn(base, password);
  assert.deepEqual(
    (await byOperator(admin)).map(({ action }) => action),
    ['updated', 'password changed'],
  );

  const another = await resetAdmin();
  assert.equal(await sessionState(admin), '401 SESSION_ENDED');
  assert.equal(outcomeOf(await new Client(base).post('/auth/login', login(password))), '401 LOGIN_FAILED');
  await logIn(base, another);
  await stop();
});
const login = (password: string) => ({ tenantId: '000000', username: 'admin', password });

test('a folder without a database is rejected and not changed', async () => {
  const dataDir = newDataFolder();
  const environment = { BANYAN_DATA_DIR: dataDir, DATABASE_URL: '' };
  const { status, output } = await reset(['000000', 'admin'], { environment });
  assert.equal(status, 2);
  assert.ok(
    output.includes(
      `There is no database in ${dataDir}. Run this command in the directory and with the settings of the service`,
    ),
    output,
  );
  assert.equal(fs.existsSync(dataDir), false);
});

test('a database without tables is rejected with a message that says what to do', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const { status, output } = await reset(['000000', 'admin'], { databaseUrl });
  assert.equal(status, 2);
  assert.match(output, /^The password could not be changed: The tables do not exist .*\. Start the service once\.$/m);
});
