import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, expectOk, read, TENANTS, USERS } from '../support/expect.ts';
import { type Client, PASSWORD, shareService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

/** An administrator who sets another user's password may require that the user changes it. */

const service = await shareService();
const admin = await service.createTenant();
const NEW = 'battery staple';
let count = 0;

/** Creates an administrator who must change their password. */
async function createRestricted(): Promise<Client & { id: string; userName: string }> {
  const userName = `restricted${++count}`;
  const user = await service.createMember(admin, { userName, roles: ['admin'], mustChangePassword: true });
  return Object.assign(user, { userName });
}
const logIn = (username: string, password: string) =>
  service.anonymous.post('/auth/login', { tenantId: admin.tenantId, username, password });
const change = (client: Client, oldPassword = PASSWORD, newPassword = NEW) =>
  client.put('/auth/password', { oldPassword, newPassword });

test('until the password is changed, operations other than the change and the logout are rejected', async () => {
  const user = await createRestricted();
  const deptId = await admin.createDepartment();
  const calls: [method: string, path: string, body?: unknown][] = [
    ['GET', '/auth/me'],
    ['GET', '/auth/sessions'],
    ['GET', `${DEPTS}/${deptId}`],
    ['GET', `${DEPTS}/list`],
    ['GET', `${DEPTS}/tree`],
    ['POST', DEPTS, {}],
    ['POST', `${DEPTS}/batch-read`, { ids: [deptId] }],
    ['GET', `${USERS}/${user.id}`],
    ['PUT', USERS, { userId: user.id, mustChangePassword: false }],
    ['POST', USERS, { userName: 'intruder', password: PASSWORD }],
    ['GET', `${TENANTS}/list`],
    ['GET', '/system/change-api'],
    ['GET', '/system/change-api/stream'],
    ['GET', '/system/webhook-api/list'],
    ['GET', '/system/overview-api'],
    ['GET', '/system/entitlement-api'],
  ];
  for (const [method, path, body] of calls)
    expectError(await user.call(method, path, body), 403, 'PASSWORD_CHANGE_REQUIRED');
  expectOk(await change(user));
  assert.equal((await user.get('/auth/me')).code, 200);
  assert.equal((await user.get(`${DEPTS}/${deptId}`)).code, 200);
  expectOk(await user.post(DEPTS, {}));
  assert.equal((await logIn(user.userName, NEW)).data.mustChangePassword, undefined);
});

test('a batch of reads rejects only the caller who must change their password', async () => {
  const user = await createRestricted();
  const deptId = await admin.createDepartment();
  const callers = [admin, user, admin, user, admin];
  const responses = await Promise.all(callers.map((client) => client.get(`${DEPTS}/${deptId}`)));
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 403, 200, 403, 200],
  );
});

test('login and refresh say that the password must be changed, and a logout is possible', async () => {
  const { userName } = await createRestricted();
  const login = await logIn(userName, PASSWORD);
  assert.equal(login.data.mustChangePassword, true);
  const refresh = await service.anonymous.post('/auth/refresh', { refresh_token: login.data.refresh_token });
  assert.equal(refresh.data.mustChangePassword, true);
  const headers = { authorization: `Bearer ${refresh.data.access_token}` };
  expectError(await service.anonymous.get('/auth/me', { headers }), 403, 'PASSWORD_CHANGE_REQUIRED');
  expectOk(await service.anonymous.post('/auth/logout', undefined, { headers }));
  expectError(await service.anonymous.get('/auth/me', { headers }), 401, 'SESSION_ENDED');
});

test('the password cannot be "changed" to the same one', async () => {
  const user = await createRestricted();
  expectError(await change(user, PASSWORD, PASSWORD), 400, 'PASSWORD_UNCHANGED');
  expectError(await user.get('/auth/me'), 403, 'PASSWORD_CHANGE_REQUIRED');
});

test('mustChangePassword is set and cleared by updates, and other updates leave it alone', async () => {
  const member = await service.createMember(admin);
  const flag = async () => (await read(admin, `${USERS}/${member.id}`)).mustChangePassword;
  const put = async (body: object) => {
    expectOk(await admin.put(USERS, { userId: member.id, ...body }));
    return flag();
  };
  assert.equal(await flag(), false);
  // The flag takes effect on the next request of an existing session.
  assert.equal(await put({ mustChangePassword: true }), true);
  expectError(await member.get('/auth/me'), 403, 'PASSWORD_CHANGE_REQUIRED');
  assert.equal(await put({ nickName: 'n' }), true, 'an update without the flag leaves it alone');
  assert.equal(await put(await read(admin, `${USERS}/${member.id}`)), true, 'a user that was read can be sent back');
  assert.equal(await put({ mustChangePassword: false }), false);
  assert.equal((await member.get('/auth/me')).code, 200);
  assert.equal(await put({ password: NEW, mustChangePassword: true }), true);
  assert.equal(await put({ password: PASSWORD }), false, 'a new password need not be changed unless requested');
  expectError(await admin.put(USERS, { userId: member.id, mustChangePassword: 'yes' }), 400, 'INVALID_FIELD');
});

test('the first administrator of a new tenant can be required to change their password', async () => {
  const body = { username: 'chief', password: PASSWORD, mustChangePassword: true };
  const { tenantId } = await read(admin, `${TENANTS}/${await admin.create(TENANTS, body)}`);
  const chief = await service.logIn(tenantId, 'chief');
  expectError(await chief.get(`${DEPTS}/list`), 403, 'PASSWORD_CHANGE_REQUIRED');
  expectOk(await change(chief));
  assert.equal((await chief.get(`${DEPTS}/list`)).code, 200);
});

test('a password that an administrator sets while the user changes theirs is kept', async () => {
  const member = await service.createMember(admin);
  const { changing } = await service.superuser.begin(async (tx) => {
    // Hold the administrator's write before its commit: the old password is right when checked, but not when replaced.
    await tx`
      update banyan.users set password_hash = 'another', must_change_password = true
      where tenant_id = ${admin.tenantId} and user_id = ${Number(member.id)}`;
    const changing = change(member);
    await waitFor('the change waits', async () => (await countLockWaits(service.owner)) === 1);
    return { changing };
  });
  expectError(await changing, 400, 'WRONG_PASSWORD');
  const [stored] = await service.superuser`
    select password_hash, must_change_password from banyan.users
    where tenant_id = ${admin.tenantId} and user_id = ${Number(member.id)}`;
  assert.deepEqual({ ...stored }, { password_hash: 'another', must_change_password: true });
});

test('reverting an update does not set mustChangePassword again after the user has changed the password', async () => {
  const user = await createRestricted();
  expectOk(await admin.put(USERS, { userId: user.id, roles: ['admin'], nickName: 'renamed' }));
  const { rows } = await read(admin, '/system/change-api/list?limit=1&below=false');
  expectOk(await change(user));
  expectOk(await admin.post(`/system/change-api/${rows[0].id}/revert`));
  assert.deepEqual(
    [(await read(admin, `${USERS}/${user.id}`)).nickName, (await user.get('/auth/me')).code],
    [null, 200],
  );
});
