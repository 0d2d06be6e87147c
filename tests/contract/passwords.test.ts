import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf } from '../support/expect.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

const service = await startService();
const NEW = 'battery staple';

const change = (client: Client, oldPassword: unknown, newPassword: unknown = NEW) =>
  client.put('/auth/password', { oldPassword, newPassword });
const logIn = (client: Client, username: string, password: string, from?: string) =>
  service.anonymous.post('/auth/login', { tenantId: client.tenantId, username, password }, from ? { from } : {});

test('changing a password keeps the current session and ends the other sessions of the user', async () => {
  const admin = await service.createTenant();
  const [here, elsewhere] = [admin, await service.logIn(admin.tenantId, 'boss')];
  const neighbour = await service.createMember(admin);
  const response = await change(here, PASSWORD);
  assert.deepEqual([response.status, response.data], [200, null]);
  assert.equal((await here.get('/auth/me')).code, 200);
  const refresh = (client: Client) => service.anonymous.post('/auth/refresh', { refresh_token: client.refreshToken });
  assert.equal((await refresh(here)).code, 200);
  assert.equal(outcomeOf(await elsewhere.get('/auth/me')), '401 SESSION_ENDED');
  assert.equal(outcomeOf(await refresh(elsewhere)), '401 REFRESH_REFUSED');
  assert.equal((await neighbour.get('/auth/me')).code, 200);
  assert.equal((await logIn(admin, 'boss', PASSWORD)).code, 401);
  assert.equal((await logIn(admin, 'boss', NEW)).code, 200);
});

test('a member can change their own password and is recorded as updateBy', async () => {
  const member = await service.createMember(await service.createTenant());
  assert.equal((await change(member, PASSWORD)).code, 200);
  const { user } = (await member.get('/auth/me')).data;
  assert.equal(user.updateBy, user.userName);
  assert.equal((await logIn(member, user.userName, NEW)).code, 200);
});

test('a wrong old password is rejected and changes nothing', async () => {
  const admin = await service.createTenant();
  const elsewhere = await service.logIn(admin.tenantId, 'boss');
  const response = await change(admin, 'wrong password');
  assert.deepEqual(
    [response.status, response.msg, response.data],
    [400, '旧密码错误，请重新输入', { reason: 'WRONG_PASSWORD' }],
  );
  assert.equal((await elsewhere.get('/auth/me')).code, 200);
  assert.equal((await logIn(admin, 'boss', PASSWORD)).code, 200);
});

test('a new password has 8 to 128 characters, regardless of their bytes', async () => {
  const admin = await service.createTenant();
  for (const wrong of ['', '1234567', '密码密码密码密', '𝟘𝟙𝟚𝟛𝟜𝟝𝟞', 'x'.repeat(129), 12345678, ['12345678']]) {
    const response = await change(admin, PASSWORD, wrong);
    assert.equal(response.status, 400, JSON.stringify(wrong));
    assert.equal(response.data.field, 'newPassword');
  }
  assert.equal((await admin.put('/auth/password', { oldPassword: PASSWORD })).data.reason, 'FIELD_REQUIRED');
  assert.equal((await admin.put('/auth/password', { newPassword: NEW })).data.reason, 'FIELD_REQUIRED');
  const valid = ['密码密码密码密码', '𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟', 'é'.repeat(128), 'é'.repeat(64), '  long spaces  '];
  let old = PASSWORD;
  for (const next of valid) {
    assert.equal((await change(admin, old, next)).code, 200, next);
    assert.equal((await logIn(admin, 'boss', next)).code, 200, next);
    // Passwords are not trimmed, truncated or normalized.
    const others = [next.trim(), [...next].slice(0, -1).join(''), next.normalize('NFD'), next.normalize('NFKC')];
    for (const other of others.filter((each) => [...each].length <= 128)) {
      if (other !== next) assert.equal((await logIn(admin, 'boss', other)).code, 401, other);
    }
    old = next;
  }
});

test('a new password set by an administrator ends all sessions of that user', async () => {
  const admin = await service.createTenant();
  const member = await service.createMember(admin);
  const { data } = await member.get('/auth/me');
  assert.equal((await admin.put('/system/user-api', { userId: member.id, nickName: 'a' })).code, 200);
  assert.equal((await member.get('/auth/me')).code, 200);
  assert.equal((await admin.put('/system/user-api', { userId: member.id, password: NEW })).code, 200);
  assert.equal(outcomeOf(await member.get('/auth/me')), '401 SESSION_ENDED');
  assert.equal((await logIn(admin, data.user.userName, PASSWORD)).code, 401);
  assert.equal((await logIn(admin, data.user.userName, NEW)).code, 200);
});

test('wrong guesses of the old password lock the account for that address, as at login', async () => {
  const admin = await service.createTenant();
  const guess = (oldPassword: string) =>
    admin.put('/auth/password', { oldPassword, newPassword: NEW }, { from: '127.0.3.1' });
  for (let n = 1; n <= 5; n++) assert.equal(outcomeOf(await guess('wrong password')), '400 WRONG_PASSWORD');
  const response = await guess(PASSWORD);
  assert.equal(outcomeOf(response), '429 TOO_MANY_LOGINS');
  assert.ok(Number(response.headers['retry-after']) > 0);
  // Other addresses are not locked.
  assert.equal((await change(admin, PASSWORD)).code, 200);
});

test('a login with the old password that is in flight during a password change fails', async () => {
  const admin = await service.createTenant();
  const member = await service.createMember(admin);
  const { userName } = (await member.get('/auth/me')).data.user;
  const { login } = await service.superuser.begin(async (tx) => {
    // Hold a password change before its commit: the login compares with the old hash, then waits for this lock.
    await tx`
      update banyan.users set password_hash = 'another'
      where tenant_id = ${admin.tenantId} and user_id = ${Number(member.id)}`;
    const login = logIn(admin, userName, PASSWORD);
    await waitFor('the login waits for the change', async () => (await countLockWaits(service.owner)) === 1);
    return { login };
  });
  assert.equal(outcomeOf(await login), '401 LOGIN_FAILED', 'the old password must not create a session');
});

test('a password change waits for a login in flight and then ends its session', async () => {
  const admin = await service.createTenant();
  const member = await service.createMember(admin);
  const { userName } = (await member.get('/auth/me')).data.user;
  const { login, change } = await service.superuser.begin(async (tx) => {
    await tx`lock table banyan.sessions in share mode`;
    const login = logIn(admin, userName, PASSWORD);
    await waitFor('the login waits to insert its session', async () => (await countLockWaits(service.owner)) === 1);
    const change = admin.put('/system/user-api', { userId: member.id, password: NEW });
    // It must wait for the transaction of the login, not for the table lock.
    await waitFor(
      'the change waits for the login',
      async () => (await countLockWaits(service.owner, 'transactionid')) === 1,
    );
    return { login, change };
  });
  assert.equal((await change).code, 200);
  const { data } = await login;
  const headers = { authorization: `Bearer ${data.access_token}` };
  assert.equal(outcomeOf(await service.anonymous.get('/auth/me', { headers })), '401 SESSION_ENDED');
});

test('password changes that wait for the lock on their user do not delay those of other users of the tenant', async () => {
  const admin = await service.createTenant();
  const [one, two, third] = [
    await service.createMember(admin),
    await service.createMember(admin),
    await service.createMember(admin),
  ];
  const { changes } = await service.superuser.begin(async (tx) => {
    await tx`
      select from banyan.users where tenant_id = ${admin.tenantId} and user_id in (${one.id}, ${two.id}) for update`;
    const changes = Promise.all([change(one, PASSWORD), change(two, PASSWORD)]);
    await waitFor('two changes wait', async () => (await countLockWaits(service.owner)) === 2);
    assert.equal((await change(third, PASSWORD)).code, 200);
    return { changes };
  });
  assert.deepEqual((await changes).map(outcomeOf), ['200 OK', '200 OK']);
});
