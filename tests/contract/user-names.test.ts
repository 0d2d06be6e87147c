import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, read, TENANTS, USERS } from '../support/expect.ts';
import { PASSWORD, shareService } from '../support/service.ts';

/** User names: the username profile of PRECIS (RFC 8265, UsernameCaseMapped), look-alikes and reserved names. */

const service = await shareService();
const admin = await service.createTenant();
const post = (userName: string) => admin.post(USERS, { userName, password: PASSWORD });
const logIn = (username: string) =>
  service.anonymous.post('/auth/login', { tenantId: admin.tenantId, username, password: PASSWORD });
const member = await admin.createUser({ userName: 'renamed.never' });

describe('A new user name', () => {
  const allowed: [what: string, userName: string][] = [
    ['ASCII letters, digits and symbols', "wang.wei+1@example.com!#$%&'*/=?^_`{|}~"],
    ['Chinese characters', '王小明'],
    ['Latin and Chinese characters', 'HR王小明'],
    ['fullwidth letters, which map to narrow ones', 'ｗａｎｇ'],
    ['halfwidth katakana', 'ﾔﾏﾀﾞ'],
    ['combining marks', 'jose\u0301'],
    ['Cyrillic letters', 'иван'],
    ['Hebrew letters and digits at the end', 'אבג1'],
    ['Arabic letters and digits', 'علي٣'],
    ['a Catalan middle dot', 'col·lega'],
    ['a katakana middle dot between katakana', 'ジョン・スミス'],
  ];
  for (const [what, userName] of allowed) {
    test(`a user name with ${what} is accepted`, async () => {
      const { headers } = expectOk(await post(userName));
      assert.equal((await read(admin, String(headers.location))).userName, userName);
      assert.equal((await logIn(userName)).code, 200);
    });
  }

  const rejected: [what: string, userName: string][] = [
    ['a trailing space', 'admin '],
    ['a leading space', ' admin'],
    ['a space inside', 'first last'],
    ['an ideographic space', 'first\u3000last'],
    ['a no-break space', 'first\u00a0last'],
    ['a newline', 'first\nlast'],
    ['a tab', 'first\tlast'],
    ['a zero-width space', 'ad\u200bmin'],
    ['a zero-width joiner', 'ad\u200dmin'],
    ['a word joiner', 'admin\u2060'],
    ['a soft hyphen', 'ad\u00admin'],
    ['a byte order mark', '\ufeffadmin'],
    ['a right-to-left override', 'ad\u202emin'],
    ['a directional isolate', 'ad\u2066min\u2069'],
    ['a variation selector', 'admin\ufe0f'],
    ['an emoji', 'admin🌳'],
    ['a control character', 'admin\u007f'],
    ['a private-use character', 'admin\ue000'],
    ['an unassigned character', 'admin\u{e0fff}'],
    ['a compatibility character', 'ﬁnance'],
    ['a mathematical letter', '𝐚dmin'],
    ['a conjoining jamo', '\u1112\u1161\u11ab'],
    ['a tatweel', 'علـي'],
    ['left-to-right and right-to-left letters', 'אבadmin'],
    ['a right-to-left letter after a digit', '1אב'],
    ['ASCII and Arabic digits', 'علي1٣'],
    ['both kinds of Arabic digits', 'علي٣۳'],
    ['a middle dot outside of Catalan', 'a·b'],
    ['a katakana middle dot without katakana', 'a・b'],
    ['a Cyrillic letter in a Latin name', '\u0430dmin'],
    ['a Greek letter in a Latin name', 'adm\u03b9n'],
  ];
  for (const [what, userName] of rejected) {
    test(`a user name with ${what} is rejected on create, on update and for a first administrator`, async () => {
      expectError(await post(userName), 400, 'INVALID_FIELD', { field: 'userName' });
      const body = { userId: member, userName };
      expectError(await admin.put(USERS, body), 400, 'INVALID_FIELD', { field: 'userName' });
      const tenant = { username: userName, password: PASSWORD };
      expectError(await admin.post(TENANTS, tenant), 400, 'INVALID_FIELD', { field: 'username' });
    });
  }

  test('a reserved user name is rejected in any spelling', async () => {
    for (const userName of ['operator', 'banyan', 'System', 'ＯＰＥＲＡＴＯＲ', 'BANYAN', '系统']) {
      expectError(await post(userName), 400, 'USER_NAME_RESERVED', { field: 'userName' });
      const body = { username: userName, password: PASSWORD };
      expectError(await admin.post(TENANTS, body), 400, 'USER_NAME_RESERVED', { field: 'username' });
    }
  });
});

test('names that are equal after case folding, width mapping and composition are the same name', async () => {
  expectOk(await post('Renée'));
  for (const spelling of ['renée', 'RENÉE', 'rene\u0301e', 'Ｒｅｎée', 'ＲＥＮÉＥ']) {
    expectError(await post(spelling), 409, 'USER_NAME_TAKEN');
    assert.equal((await logIn(spelling)).code, 200);
  }
});

test('of several concurrent creations with spellings of one name, one succeeds', async () => {
  const spellings = ['Łukasz', 'łukasz', 'ŁUKASZ', 'Łｕkasz', 'łukaｓz'];
  const responses = await Promise.all(spellings.map(post));
  assert.deepEqual(responses.map(({ code }) => code).sort(), [200, 409, 409, 409, 409]);
});

test('a user whose name breaks the current rules can log in and be edited, and a revert can restore the name', async () => {
  const { id } = await service.createMember(admin);
  for (const [userName, key] of [
    ['Jane Doe ', 'jane doe '],
    ['Operator', 'operator'],
  ] as const) {
    await service.superuser`
      update banyan.users set user_name = ${userName}, user_key = ${key}, update_by = 'operator', update_time = now()
      where tenant_id = ${admin.tenantId} and user_id = ${Number(id)}`;
    assert.equal((await logIn(userName.toUpperCase())).code, 200);
    const before = await read(admin, `${USERS}/${id}`);
    expectOk(await admin.put(USERS, { ...before, nickName: 'edited' }));
    expectOk(await admin.put(USERS, { userId: id, nickName: 'edited again' }));
    assert.equal((await read(admin, `${USERS}/${id}`)).userName, userName);
    expectOk(await admin.put(USERS, { userId: id, userName: 'renamed' }));
    const { rows } = await read(admin, '/system/change-api/list?limit=1&below=false');
    expectOk(await admin.post(`/system/change-api/${rows[0].id}/revert`));
    assert.equal((await read(admin, `${USERS}/${id}`)).userName, userName);
  }
});
