import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, TENANTS, USERS } from '../support/expect.ts';
import { PASSWORD, shareService } from '../support/service.ts';

/** Passwords that are easy to guess are rejected wherever a password is set. */

const service = await shareService();
const admin = await service.createTenant({ tenantName: 'Wayne Enterprises', companyName: '蝙蝠侠有限责任公司' });
const NEW = 'battery staple';

describe('A common password', () => {
  for (const password of ['password', '12345678', 'PassWord1', 'QWERTYUIOP', 'admin123', 'ｐａｓｓｗｏｒｄ']) {
    test(`the common password ${password} is rejected on create, update, change and for a first administrator`, async () => {
      const member = await service.createMember(admin);
      const expected = [400, 'PASSWORD_TOO_COMMON', { field: 'password' }] as const;
      expectError(await admin.post(USERS, { userName: 'nobody', password }), ...expected);
      expectError(await admin.put(USERS, { userId: member.id, password }), ...expected);
      expectError(await admin.post(TENANTS, { username: 'boss', password }), ...expected);
      const change = await member.put('/auth/password', { oldPassword: PASSWORD, newPassword: password });
      expectError(change, 400, 'PASSWORD_TOO_COMMON', { field: 'newPassword' });
      assert.equal((await member.get('/auth/me')).code, 200);
    });
  }
});

describe('A password made of names', () => {
  const user = { userName: 'zhangsan', nickName: '张三丰' };
  const rejected: [what: string, password: string][] = [
    ['the user name', 'ZhangSan'],
    ['the user name and a year', 'zhangsan2026'],
    ['the user name twice', 'zhangsanzhangsan'],
    ['the user name and a common password', 'zhangsanpassword'],
    ['the nickname', '张三丰1234567'],
    ['the name of the tenant', 'Wayne Enterprises!'],
    ['the name of the company', '蝙蝠侠有限责任公司'],
    ['the code of the tenant', `${admin.tenantId}-${admin.tenantId}`],
    ['the name of the service', 'Banyan2026'],
    ['the Chinese name of the service', '榕树123456'],
  ];
  for (const [what, password] of rejected) {
    test(`a password made of ${what} is rejected`, async () => {
      const expected = [400, 'PASSWORD_HAS_NAME', { field: 'password' }] as const;
      expectError(await admin.post(USERS, { ...user, password }), ...expected);
      const userId = await admin.createUser({ userName: 'temporary' });
      expectError(await admin.put(USERS, { ...user, userId, password }), ...expected);
      const member = await service.logIn(admin.tenantId, 'temporary');
      expectOk(await admin.put(USERS, { ...user, userId }));
      const change = await member.put('/auth/password', { oldPassword: PASSWORD, newPassword: password });
      expectError(change, 400, 'PASSWORD_HAS_NAME', { field: 'newPassword' });
      expectOk(await admin.delete(`${USERS}/${userId}`));
    });
  }

  test('a password that contains a name is accepted if the rest is a valid password', async () => {
    expectOk(await admin.post(USERS, { ...user, password: 'zhangsan likes tea' }));
  });

  test('a password made of names is rejected for the first administrator of a new tenant, but not if it leaves out the space in a name', async () => {
    const body = { tenantName: 'Stark Industries', username: 'tonystark', password: 'StarkIndustries' };
    expectOk(await admin.post(TENANTS, body));
    const names = { ...body, password: 'Stark Industries 1' };
    expectError(await admin.post(TENANTS, names), 400, 'PASSWORD_HAS_NAME', { field: 'password' });
    expectError(await admin.post(TENANTS, { ...body, password: 'tonystark99' }), 400, 'PASSWORD_HAS_NAME');
  });
});

test('a new password that equals the old one is rejected', async () => {
  const member = await service.createMember(admin);
  const change = (newPassword: string) => member.put('/auth/password', { oldPassword: PASSWORD, newPassword });
  expectError(await change(PASSWORD), 400, 'PASSWORD_UNCHANGED');
  expectOk(await change(NEW));
});

test('the errors say in both languages what to do', async () => {
  const body = { userName: 'nobody', password: 'password' };
  const zh = await admin.post(USERS, body);
  const en = await admin.post(USERS, body, { headers: { 'accept-language': 'en' } });
  assert.match(zh.msg, /请使用其他密码/);
  assert.match(en.msg, /Choose another one/);
});
