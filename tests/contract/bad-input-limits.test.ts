import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError, storedState } from '../support/expect.ts';
import { PASSWORD, startService } from '../support/service.ts';

const service = await startService();
const boss = await service.createTenant();
const KI64 = 65_536;

/** The documented lengths, written down a second time: a schema that lost one must not go unnoticed. */
const lengths: [path: string, field: string, characters: number][] = [
  ['/system/dept-api', 'deptName', 100],
  ['/system/dept-api', 'leader', 50],
  ['/system/dept-api', 'phone', 32],
  ['/system/tenant-api', 'tenantName', 100],
  ['/system/tenant-api', 'companyName', 100],
  ['/system/tenant-api', 'contactUserName', 50],
  ['/system/tenant-api', 'contactPhone', 32],
  ...['modelZr', 'modelPf', 'modelEd', 'catalogZr', 'catalogPf', 'catalogEd', 'catalogRw'].map(
    (rule): [string, string, number] => ['/system/tenant-api', `ruleBo.${rule}`, KI64],
  ),
  ['/system/user-api', 'userName', 50],
  ['/system/user-api', 'password', 128],
];

for (const [path, field, characters] of lengths) {
  test(`${field} of ${path} takes ${characters} characters, of any plane, and not one more`, async () => {
    const [key = '', inner] = field.split('.');
    const body = (text: string) => ({
      ...(path === '/system/user-api' ? { userName: `u${characters}`, password: PASSWORD } : {}),
      [key]: inner ? { [inner]: text } : text,
    });
    // A tree has two UTF-16 units and four bytes; it is one character.
    const longest = '🌳'.repeat(characters);
    const id = await boss.create(path, body(longest));
    if (key !== 'password') {
      const { data } = await boss.get(`${path}/${id}`);
      assert.equal(inner ? data[key][inner] : data[key], longest);
    }
    const before = await storedState(service);
    expectError(await boss.post(path, body(`${longest}x`)), 400, 'INVALID_FIELD', { field });
    assert.deepEqual(await storedState(service), before);
  });
}

test('an e-mail address has at most 254 characters and something on both sides of one @', async () => {
  const longest = `${'a'.repeat(248)}@b.com`;
  for (const path of ['/system/dept-api', '/system/user-api']) {
    const rest = path === '/system/user-api' ? { userName: 'mail', password: PASSWORD } : {};
    const id = await boss.create(path, { ...rest, email: longest });
    assert.equal((await boss.get(`${path}/${id}`)).data.email, longest);
    for (const email of [`a${longest}`, 'a', '@', 'a@', '@b', 'a b@c', 'a@b@c', 'a@b c', '\n@b']) {
      expectError(await boss.post(path, { ...rest, email }), 400, 'INVALID_FIELD', { field: 'email' }, email);
    }
  }
});

test('menuIds has at most 64 Ki characters', async () => {
  const menuIds = `${'1'.repeat(9)},`.repeat(KI64 / 10) + '1'.repeat(KI64 % 10);
  assert.equal(menuIds.length, KI64);
  await boss.create('/system/tenant-api', { packageBo: { menuIds } });
  const answer = await boss.post('/system/tenant-api', { packageBo: { menuIds: `${menuIds}1` } });
  expectError(answer, 400, 'INVALID_FIELD', { field: 'packageBo.menuIds' });
});

test('a password has 8 characters at least', async () => {
  const body = { userName: 'short' };
  const answer = await boss.post('/system/user-api', { ...body, password: '🌳🌳🌳🌳567' });
  expectError(answer, 400, 'INVALID_FIELD', { field: 'password' });
  await boss.create('/system/user-api', { ...body, password: '🌳🌳🌳🌳5678' });
});

test('whole numbers keep to 32 bits, and to what they count', async () => {
  const edges: [path: string, body: (n: number) => object, field: string, least: number][] = [
    ['/system/dept-api', (orderNum) => ({ orderNum }), 'orderNum', -(2 ** 31)],
    ['/system/tenant-api', (accountCount) => ({ accountCount }), 'accountCount', -1],
    ['/system/tenant-api', (credit) => ({ quotaBo: { credit } }), 'quotaBo.credit', 0],
  ];
  for (const [path, body, field, least] of edges) {
    for (const n of [least, 2 ** 31 - 1]) assert.equal((await boss.post(path, body(n))).code, 200, `${field} ${n}`);
    for (const n of [least - 1, 2 ** 31]) {
      expectError(await boss.post(path, body(n)), 400, 'INVALID_FIELD', { field }, `${n}`);
    }
  }
});

test('what is one write to its caller is written whole or not at all', async () => {
  const [top, used, free] = [
    await boss.createDepartment(),
    await boss.createDepartment(),
    await boss.createDepartment(),
  ];
  await boss.createDepartment({ parentId: top });
  const user = { userName: 'placed', password: PASSWORD, deptId: used };
  const userId = await boss.createUser(user);
  const before = await storedState(service);
  const refusals: [string, Promise<{ code: number; data: { reason: string } }>][] = [
    ['DEPT_NOT_FOUND', boss.delete(`/system/dept-api/${free},999999`)],
    ['DEPT_HAS_CHILDREN', boss.delete(`/system/dept-api/${free},${top}`)],
    ['DEPT_HAS_USERS', boss.delete(`/system/dept-api/${free},${used}`)],
    ['USER_NOT_FOUND', boss.delete(`/system/user-api/${userId},999999`)],
    ['USER_DEPT_NOT_FOUND', boss.post('/system/user-api', { ...user, userName: 'lost', deptIds: [free, 999999] })],
    ['USER_DEPT_NOT_FOUND', boss.put('/system/user-api', { userId, nickName: 'moved', deptIds: [999999] })],
    ['USER_NAME_TAKEN', boss.put('/system/user-api', { userId, userName: 'boss', nickName: 'moved' })],
    ['PARENT_NOT_FOUND', boss.put('/system/dept-api', { deptId: free, deptName: 'moved', parentId: 999999 })],
    [
      'ACCOUNT_LIMIT',
      boss.post('/system/tenant-api', { accountCount: 0, username: 'first', password: 'no room for him' }),
    ],
    [
      'INVALID_FIELD',
      boss.post('/system/tenant-api', {
        startTime: '2026-02-02',
        endTime: '2026-02-01',
        username: 'a',
        password: PASSWORD,
      }),
    ],
    ['FIELD_REQUIRED', boss.post('/system/tenant-api', { username: 'first' })],
  ];
  for (const [reason, answer] of refusals) assert.equal((await answer).data.reason, reason);
  assert.deepEqual(await storedState(service), before);
});
