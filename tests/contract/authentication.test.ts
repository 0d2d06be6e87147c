import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { buildApp } from '../../server/app.ts';
import { OWASP_COST } from '../../server/auth/passwords.ts';
import { readConfig } from '../../server/config.ts';
import { createFirstAdministratorOnce } from '../../server/process/first-start.ts';
import { after } from '../support/cleanup.ts';
import { NO_DEADLINES } from '../support/database.ts';
import {
  type ApiResponse,
  Client,
  createEmptyDatabase,
  PASSWORD,
  RELAXED_TIMING,
  startService,
} from '../support/service.ts';

const service = await startService();

const logIn = (tenantId: unknown, username: unknown, password: unknown = PASSWORD) =>
  service.anonymous.post('/auth/login', { tenantId, username, password });

/** The parts of a response that a caller can compare: everything except the request id and the date. */
const comparable = ({ status, text, headers: { 'x-request-id': _id, date: _date, ...headers } }: ApiResponse) => ({
  status,
  text,
  headers,
});

test('a login returns both tokens and their lifetime', async () => {
  const { status, code, msg, data, headers } = await logIn('000000', 'admin');
  assert.deepEqual([status, code, msg], [200, 200, '操作成功']);
  assert.deepEqual(Object.keys(data), ['access_token', 'token_type', 'expires_in', 'refresh_token']);
  assert.equal(data.token_type, 'Bearer');
  assert.equal(data.expires_in, 1800);
  assert.equal(typeof data.access_token, 'string');
  assert.equal(typeof data.refresh_token, 'string');
  assert.equal(headers['www-authenticate'], undefined);
});

test('each login creates its own session', async () => {
  const admin = await service.createTenant();
  const [one, two] = await Promise.all([service.logIn(admin.tenantId, 'boss'), service.logIn(admin.tenantId, 'boss')]);
  assert.notEqual(one.token, two.token);
  assert.notEqual(one.refreshToken, two.refreshToken);
  await one.post('/auth/logout');
  assert.equal((await one.get('/auth/me')).code, 401);
  assert.equal((await two.get('/auth/me')).code, 200);
});

test('login ignores the case of the user name but not of the password', async () => {
  const admin = await service.createTenant({ username: 'boss' });
  await admin.createUser({ userName: 'Änne.Straße' });
  assert.equal((await logIn(admin.tenantId, 'änne.straße')).code, 200);
  assert.equal((await logIn(admin.tenantId, 'ÄNNE.STRAßE')).code, 200);
  assert.equal((await logIn(admin.tenantId, 'BOSS', PASSWORD.toUpperCase())).code, 401);
});

test('the same user name in two tenants belongs to two accounts', async () => {
  const [one, two] = await Promise.all([service.createTenant(), service.createTenant()]);
  await one.createUser({ userName: 'anna', password: 'password of one' });
  await two.createUser({ userName: 'anna', password: 'password of two' });
  assert.equal((await logIn(one.tenantId, 'anna', 'password of one')).code, 200);
  assert.equal((await logIn(one.tenantId, 'anna', 'password of two')).code, 401);
  assert.equal((await logIn(two.tenantId, 'anna', 'password of two')).code, 200);
});

test('login returns the same error for an unknown tenant, an unknown user and a wrong password', async () => {
  const admin = await service.createTenant();
  await admin.createUser({ userName: 'disabled', status: '1' });
  const deletedUser = await admin.createUser({ userName: 'deleted' });
  assert.equal((await admin.delete(`/system/user-api/${deletedUser}`)).code, 200);
  const disabled = await service.createTenant();
  await service.root.put('/system/tenant-api', { id: disabled.id, status: '1' });
  const deleted = await service.createTenant();
  assert.equal((await service.root.delete(`/system/tenant-api/${deleted.id}`)).code, 200);

  const expected = comparable(await logIn(admin.tenantId, 'boss', 'wrong password'));
  assert.equal(expected.status, 401);
  assert.deepEqual(JSON.parse(expected.text), {
    code: 401,
    msg: '租户、用户名或密码错误，请核对后重试',
    data: { reason: 'LOGIN_FAILED' },
  });
  const cases: [what: string, tenantId: string, username: string, password?: string][] = [
    ['no such tenant', '999999999999999999', 'boss'],
    ['a malformed tenant code', 'acme', 'boss'],
    ['an empty tenant code', '', 'boss'],
    ['SQL as the tenant code', "' or ''='", 'boss'],
    ['no such user', admin.tenantId, 'nobody'],
    ['an empty user name', admin.tenantId, ''],
    ['a prefix of the user name', admin.tenantId, 'bos'],
    ['a LIKE pattern', admin.tenantId, '%'],
    ["another tenant's user", admin.tenantId, 'admin'],
    ['an empty password', admin.tenantId, 'boss', ''],
    ['a password in a different case', admin.tenantId, 'boss', 'Correct Horse'],
    ['a password with a trailing space', admin.tenantId, 'boss', `${PASSWORD} `],
    ['a deleted user', admin.tenantId, 'deleted'],
    ['a disabled user, wrong password', admin.tenantId, 'disabled', 'wrong password'],
    ['a disabled tenant, wrong password', disabled.tenantId, 'boss', 'wrong password'],
    ['a deleted tenant', deleted.tenantId, 'boss'],
    ['a deleted tenant, wrong password', deleted.tenantId, 'boss', 'wrong password'],
  ];
  for (const [what, tenantId, username, password] of cases) {
    assert.deepEqual(comparable(await logIn(tenantId, username, password)), expected, what);
  }
});

test('login reports a disabled user or tenant only when the password is correct', async () => {
  const admin = await service.createTenant();
  await admin.createUser({ userName: 'disabled', status: '1' });
  const user = await logIn(admin.tenantId, 'disabled');
  assert.deepEqual([user.status, user.data], [403, { reason: 'USER_DISABLED' }]);
  const body = { id: admin.id, tenantName: 't' };
  for (const [fields, reason] of [
    [{ status: '1' }, 'TENANT_DISABLED'],
    [{ startTime: '2999-01-01' }, 'TENANT_NOT_STARTED'],
    [{ endTime: '2000-01-01' }, 'TENANT_ENDED'],
  ] as const) {
    await service.root.put('/system/tenant-api', { ...body, ...fields });
    const response = await logIn(admin.tenantId, 'boss');
    assert.deepEqual([response.status, response.data], [403, { reason }]);
    assert.equal((await logIn(admin.tenantId, 'boss', 'wrong password')).data.reason, 'LOGIN_FAILED', reason);
  }
  await service.root.put('/system/tenant-api', body);
  assert.equal((await logIn(admin.tenantId, 'boss')).code, 200);
});

test('login rejects a field that is missing, too long or of the wrong type', async () => {
  const body = { tenantId: '000000', username: 'admin', password: PASSWORD };
  for (const field of ['tenantId', 'username', 'password'] as const) {
    const { [field]: _, ...rest } = body;
    const missing = await service.anonymous.post('/auth/login', rest);
    assert.deepEqual([missing.status, missing.data], [400, { reason: 'FIELD_REQUIRED', field }]);
    for (const wrong of [0, true, {}, [body[field]], 'x'.repeat(129)]) {
      const response = await service.anonymous.post('/auth/login', { ...body, [field]: wrong });
      assert.deepEqual([response.status, response.data.field], [400, field], JSON.stringify(wrong));
    }
  }
});

test('GET /auth/me shows an administrator their user and their tenant with its menus, quotas and rules', async () => {
  const tenant = {
    tenantName: '上海分公司',
    startTime: '2020-01-01',
    endTime: '2999-12-31',
    companyName: '榕树',
    accountCount: 7,
    packageBo: { menuIds: '3,1, 2' },
    quotaBo: { enterpriseQuery: 5, merchant: 6, zr: 7 },
    ruleBo: { modelZr: '{"a":1}' },
  };
  const admin = await service.createTenant(tenant);
  const { data, code } = await admin.get('/auth/me');
  assert.equal(code, 200);
  assert.deepEqual(Object.keys(data).sort(), ['roles', 'tenant', 'user']);
  assert.deepEqual(data.roles, ['admin']);
  assert.equal(data.user.userName, 'boss');
  assert.equal(data.user.tenantId, admin.tenantId);
  assert.ok(!('password' in data.user || 'passwordHash' in data.user));
  assert.equal(data.tenant.tenantId, admin.tenantId);
  assert.equal(data.tenant.tenantName, tenant.tenantName);
  assert.equal(data.tenant.accountCount, 7);
  assert.deepEqual(data.tenant.packageBo, { menuIds: '3, 1, 2' });
  const none = { annualReportQuery: 0, chainReport: 0, businessReport: 0, riskReport: 0 };
  assert.deepEqual(data.tenant.quotaBo, { enterpriseQuery: 5, merchant: 6, ...none });
  const unset = { modelPf: null, modelEd: null, catalogZr: null, catalogPf: null, catalogEd: null, catalogRw: null };
  assert.deepEqual(data.tenant.ruleBo, { modelZr: '{"a":1}', ...unset });
});

test('GET /auth/me shows a member their user and the same tenant as the administrator sees', async () => {
  const admin = await service.createTenant({ packageBo: { menuIds: '1' } });
  const dept = await admin.createDepartment();
  const member = await service.createMember(admin, { deptId: dept, nickName: '安娜' });
  const { data } = await member.get('/auth/me');
  assert.deepEqual(data.roles, ['member']);
  assert.equal(String(data.user.userId), member.id);
  assert.equal(data.user.nickName, '安娜');
  assert.equal(String(data.user.deptId), dept);
  assert.deepEqual(data.tenant, (await admin.get('/auth/me')).data.tenant);
  assert.equal(data.tenant.packageBo.menuIds, '1');
});

test('a role or profile changed by an administrator takes effect on the next request of the user', async () => {
  const admin = await service.createTenant();
  const member = await service.createMember(admin);
  await admin.put('/system/user-api', { userId: member.id, roles: ['admin'], nickName: 'new' });
  const { data } = await member.get('/auth/me');
  assert.deepEqual([data.roles, data.user.nickName], [['admin'], 'new']);
  assert.equal((await member.post('/system/dept-api', {})).code, 200);
});

test('passwords are stored as salted argon2id hashes with the configured cost', async () => {
  const costly = await startService({}, { passwordCost: OWASP_COST });
  for (const userName of ['anna', 'bob']) await costly.root.createUser({ userName });
  const rows = await costly.superuser<{ hash: string }[]>`
    select password_hash as hash from banyan.users where user_key in ('anna', 'bob')`;
  assert.equal(rows.length, 2);
  for (const { hash } of rows) assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.notEqual(rows[0]?.hash, rows[1]?.hash);
});

test('refresh tokens are stored only as hashes', async () => {
  const admin = await service.createTenant();
  const secret = String(admin.refreshToken).split('.').at(-1) as string;
  const rows = await service.superuser<{ row: string }[]>`
    select s::text as row from banyan.sessions s where tenant_id = ${admin.tenantId}`;
  assert.equal(rows.length, 1);
  for (const form of [Buffer.from(secret), Buffer.from(secret, 'base64url')]) {
    assert.ok(!rows[0]?.row.includes(form.toString('hex')));
  }
  assert.ok(!rows[0]?.row.includes(secret));
});

test('the first administrator gets a generated password, returned once, when the environment sets none', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    BANYAN_ADMIN_USERNAME: '管理员',
    BANYAN_LOG_LEVEL: 'silent',
  });
  // Two nodes start for the first time together: only one of them creates the administrator.
  const open = () => openDatabase({ ...config, timing: NO_DEADLINES });
  const nodes = await Promise.all([open(), open()]);
  after(() => Promise.all(nodes.map((db) => db.close())));
  const start = () => Promise.all(nodes.map((db) => createFirstAdministratorOnce(db, config)));
  const generated = (await start()).filter(Boolean);
  assert.equal(generated.length, 1);
  assert.deepEqual(await start(), [undefined, undefined]);

  const app = await buildApp({ db: nodes[0], config, timing: RELAXED_TIMING });
  after(() => app.close());
  await app.listen({ port: 0, host: '127.0.0.1' });
  const client = new Client(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
  const body = { tenantId: '000000', username: '管理员', password: generated[0]?.generatedPassword };
  assert.ok(String(body.password).length >= 16);
  assert.equal((await client.post('/auth/login', body)).code, 200);
});

test('a first start rejects a name or password that is not allowed, and creates nothing', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const base = { DATABASE_URL: databaseUrl, BANYAN_LOG_LEVEL: 'silent' };
  const db = await openDatabase({ ...readConfig(base), timing: NO_DEADLINES });
  after(() => db.close());
  const start = (environment: object) => createFirstAdministratorOnce(db, readConfig({ ...base, ...environment }));
  for (const [environment, message] of [
    [{ BANYAN_ADMIN_USERNAME: 'first admin' }, /^BANYAN_ADMIN_USERNAME may contain letters/],
    [{ BANYAN_ADMIN_USERNAME: 'operator' }, /^BANYAN_ADMIN_USERNAME is a name that is reserved/],
    [{ BANYAN_ADMIN_PASSWORD: 'Password1' }, /^BANYAN_ADMIN_PASSWORD is one of the most common passwords/],
    [{ BANYAN_ADMIN_PASSWORD: 'banyan-2026' }, /^BANYAN_ADMIN_PASSWORD consists mostly of a name/],
  ] as const) {
    await assert.rejects(start(environment), { name: 'Error', message });
  }
  assert.ok(await start({ BANYAN_ADMIN_PASSWORD: PASSWORD }));
  // An existing installation still starts even if its settings would no longer be allowed.
  assert.equal(await start({ BANYAN_ADMIN_USERNAME: 'first admin', BANYAN_ADMIN_PASSWORD: 'password' }), undefined);
});

test('a later start with a different BANYAN_ADMIN_PASSWORD does not change the password of the administrator', async () => {
  const environment = { DATABASE_URL: service.databaseUrl, BANYAN_ADMIN_PASSWORD: 'another password' };
  // startService logs in with the original password, so it fails if this start changes it.
  const node = await startService(environment);
  const body = { tenantId: '000000', username: 'admin', password: environment.BANYAN_ADMIN_PASSWORD };
  assert.equal((await node.anonymous.post('/auth/login', body)).data.reason, 'LOGIN_FAILED');
});

test('the first administrator belongs to tenant 000000, and common default passwords do not log in', async () => {
  const { data } = await service.root.get('/auth/me');
  assert.deepEqual([data.user.userName, data.roles, data.tenant.tenantId], ['admin', ['admin'], '000000']);
  for (const password of ['admin123', 'admin', '123456', '']) {
    const response = await service.anonymous.post(
      '/auth/login',
      { tenantId: '000000', username: 'admin', password },
      { from: '127.0.9.9' },
    );
    assert.equal(response.data.reason, 'LOGIN_FAILED');
  }
});
