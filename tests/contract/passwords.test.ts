import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, type Client, PASSWORD, startService } from '../support/service.ts';
import { countWaiting, waitFor } from '../support/wait.ts';

const service = await startService();
const NEW = 'battery staple';

const change = (client: Client, oldPassword: unknown, newPassword: unknown = NEW) =>
  client.put('/auth/password', { oldPassword, newPassword });
const logIn = (client: Client, username: string, password: string, from?: string) =>
  service.anonymous.post('/auth/login', { tenantId: client.tenantId, username, password }, from ? { from } : {});
const reasonOf = ({ status, data }: Answer) => `${status} ${data?.reason ?? 'fine'}`;

test('whoever changes his password stays, and his other sessions end', async () => {
  const boss = await service.createTenant();
  const [here, elsewhere] = [boss, await service.logIn(boss.tenantId, 'boss')];
  const neighbour = await service.createMember(boss);
  const answer = await change(here, PASSWORD);
  assert.deepEqual([answer.status, answer.data], [200, null]);
  assert.equal((await here.get('/auth/me')).code, 200);
  const refreshed = (client: Client) => service.anonymous.post('/auth/refresh', { refresh_token: client.refreshToken });
  assert.equal((await refreshed(here)).code, 200);
  assert.equal(reasonOf(await elsewhere.get('/auth/me')), '401 SESSION_ENDED');
  assert.equal(reasonOf(await refreshed(elsewhere)), '401 REFRESH_REFUSED');
  assert.equal((await neighbour.get('/auth/me')).code, 200);
  assert.equal((await logIn(boss, 'boss', PASSWORD)).code, 401);
  assert.equal((await logIn(boss, 'boss', NEW)).code, 200);
});

test('a member changes his own too, and it is recorded as his change', async () => {
  const member = await service.createMember(await service.createTenant());
  assert.equal((await change(member, PASSWORD)).code, 200);
  const { user } = (await member.get('/auth/me')).data;
  assert.equal(user.updateBy, user.userName);
  assert.equal((await logIn(member, user.userName, NEW)).code, 200);
});

test('with the old password wrong nothing changes', async () => {
  const boss = await service.createTenant();
  const elsewhere = await service.logIn(boss.tenantId, 'boss');
  const answer = await change(boss, 'wrong password');
  assert.deepEqual(
    [answer.status, answer.msg, answer.data],
    [400, '旧密码错误，请重新输入', { reason: 'WRONG_PASSWORD' }],
  );
  assert.equal((await elsewhere.get('/auth/me')).code, 200);
  assert.equal((await logIn(boss, 'boss', PASSWORD)).code, 200);
});

test('a new password has 8 to 128 characters, whatever their bytes', async () => {
  const boss = await service.createTenant();
  for (const wrong of ['', '1234567', '密码密码密码密', '𝟘𝟙𝟚𝟛𝟜𝟝𝟞', 'x'.repeat(129), 12345678, ['12345678']]) {
    const answer = await change(boss, PASSWORD, wrong);
    assert.equal(answer.status, 400, JSON.stringify(wrong));
    assert.equal(answer.data.field, 'newPassword');
  }
  assert.equal((await boss.put('/auth/password', { oldPassword: PASSWORD })).data.reason, 'FIELD_REQUIRED');
  assert.equal((await boss.put('/auth/password', { newPassword: NEW })).data.reason, 'FIELD_REQUIRED');
  const fine = ['密码密码密码密码', '𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟', '  spaces  ', 'é'.repeat(128)];
  let old = PASSWORD;
  for (const next of fine) {
    assert.equal((await change(boss, old, next)).code, 200, next);
    assert.equal((await logIn(boss, 'boss', next)).code, 200, next);
    old = next;
  }
  // Neither trimmed nor cut nor folded.
  assert.equal((await logIn(boss, 'boss', 'é'.repeat(127))).code, 401);
  assert.equal((await logIn(boss, 'boss', 'e\u0301'.repeat(64))).code, 401);
});

test('an administrator who sets a new password ends all sessions of that user', async () => {
  const boss = await service.createTenant();
  const member = await service.createMember(boss);
  const { data } = await member.get('/auth/me');
  assert.equal((await boss.put('/system/user-api', { userId: member.id, nickName: 'a' })).code, 200);
  assert.equal((await member.get('/auth/me')).code, 200);
  assert.equal((await boss.put('/system/user-api', { userId: member.id, password: NEW })).code, 200);
  assert.equal(reasonOf(await member.get('/auth/me')), '401 SESSION_ENDED');
  assert.equal((await logIn(boss, data.user.userName, PASSWORD)).code, 401);
  assert.equal((await logIn(boss, data.user.userName, NEW)).code, 200);
});

test('who guesses the old password with a stolen token is locked out like at login', async () => {
  const boss = await service.createTenant();
  const guess = (oldPassword: string) =>
    boss.put('/auth/password', { oldPassword, newPassword: NEW }, { from: '127.0.3.1' });
  for (let n = 1; n <= 5; n++) assert.equal(reasonOf(await guess('wrong password')), '400 WRONG_PASSWORD');
  const answer = await guess(PASSWORD);
  assert.equal(reasonOf(answer), '429 TOO_MANY_LOGINS');
  assert.ok(Number(answer.headers['retry-after']) > 0);
  // The owner, elsewhere, isn't.
  assert.equal((await change(boss, PASSWORD)).code, 200);
});

test('a login under way with the old password fails once the password is changed', async () => {
  const boss = await service.createTenant();
  const member = await service.createMember(boss);
  const { userName } = (await member.get('/auth/me')).data.user;
  const login = await service.superuser.begin(async (tx) => {
    // What a change does, held just before its end: the login compares with the old hash, and then waits for this.
    await tx`
      update banyan.users set password_hash = 'another'
      where tenant_id = ${boss.tenantId} and user_id = ${Number(member.id)}`;
    const login = logIn(boss, userName, PASSWORD);
    await waitFor('the login waits for the change', async () => (await countWaiting(service.owner)) === 1);
    return { login };
  });
  assert.equal(reasonOf(await login.login), '401 LOGIN_FAILED', 'the old password opened a session');
});

test('a login that is just before opening its session holds up a change of the password, which then ends it', async () => {
  const boss = await service.createTenant();
  const member = await service.createMember(boss);
  const { userName } = (await member.get('/auth/me')).data.user;
  const { login, change } = await service.superuser.begin(async (tx) => {
    await tx`lock table banyan.sessions in share mode`;
    const login = logIn(boss, userName, PASSWORD);
    await waitFor('the login waits to open its session', async () => (await countWaiting(service.owner)) === 1);
    const change = boss.put('/system/user-api', { userId: member.id, password: NEW });
    // Not for the table, as it would if it had got past the login.
    await waitFor(
      'the change waits for the login',
      async () => (await countWaiting(service.owner, 'transactionid')) === 1,
    );
    return { login, change };
  });
  assert.equal((await change).code, 200);
  const { data } = await login;
  const headers = { authorization: `Bearer ${data.access_token}` };
  assert.equal(reasonOf(await service.anonymous.get('/auth/me', { headers })), '401 SESSION_ENDED');
});
