import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError, storedState } from '../support/expect.ts';
import { PASSWORD, startService } from '../support/service.ts';

const service = await startService();
const admin = await service.createTenant();
const KI_64 = 65_536;

/** Documented lengths, repeated here so that a limit lost from a schema is noticed. Tests of the resources cover further ones. */
const lengths: [path: string, field: string, characters: number][] = [
  ['/system/dept-api', 'deptName', 100],
  ['/system/dept-api', 'leader', 50],
  ['/system/dept-api', 'phone', 32],
  ['/system/tenant-api', 'tenantName', 100],
  ['/system/tenant-api', 'companyName', 100],
  ['/system/tenant-api', 'contactUserName', 50],
  ['/system/tenant-api', 'contactPhone', 32],
  ...['modelZr', 'modelPf', 'modelEd', 'catalogZr', 'catalogPf', 'catalogEd', 'catalogRw'].map(
    (rule): [string, string, number] => ['/system/tenant-api', `ruleBo.${rule}`, KI_64],
  ),
  ['/system/user-api', 'userName', 50],
  ['/system/user-api', 'password', 128],
];

for (const [path, field, characters] of lengths) {
  test(`${field} of ${path} accepts ${characters} characters outside the Basic Multilingual Plane and no more`, async () => {
    const [key = '', inner] = field.split('.');
    const body = (text: string) => ({
      ...(path === '/system/user-api' ? { userName: `u${characters}`, password: PASSWORD } : {}),
      [key]: inner ? { [inner]: text } : text,
    });
    // Both take two UTF-16 code units and four bytes, but count as one character. A user name may not contain an emoji.
    const longest = (field === 'userName' ? '𠮷' : '🌳').repeat(characters);
    const id = await admin.create(path, body(longest));
    if (key !== 'password') {
      const { data } = await admin.get(`${path}/${id}`);
      assert.equal(inner ? data[key][inner] : data[key], longest);
    }
    const before = await storedState(service);
    expectError(await admin.post(path, body(`${longest}x`)), 400, 'INVALID_FIELD', { field });
    assert.deepEqual(await storedState(service), before);
  });
}

test('an e-mail address has at most 254 characters and text on both sides of a single @', async () => {
  const longest = `${'a'.repeat(248)}@b.com`;
  for (const path of ['/system/dept-api', '/system/user-api']) {
    const rest = path === '/system/user-api' ? { userName: 'mail', password: PASSWORD } : {};
    const id = await admin.create(path, { ...rest, email: longest });
    assert.equal((await admin.get(`${path}/${id}`)).data.email, longest);
    for (const email of [`a${longest}`, 'a', '@', 'a@', '@b', 'a b@c', 'a@b@c', 'a@b c', '\n@b']) {
      expectError(await admin.post(path, { ...rest, email }), 400, 'INVALID_FIELD', { field: 'email' }, email);
    }
  }
});

test('menuIds has at most 64 Ki characters', async () => {
  const menuIds = `${'1'.repeat(9)},`.repeat(KI_64 / 10) + '1'.repeat(KI_64 % 10);
  assert.equal(menuIds.length, KI_64);
  await admin.create('/system/tenant-api', { packageBo: { menuIds } });
  const response = await admin.post('/system/tenant-api', { packageBo: { menuIds: `${menuIds}1` } });
  expectError(response, 400, 'INVALID_FIELD', { field: 'packageBo.menuIds' });
});

test('a password has at least 8 characters', async () => {
  const body = { userName: 'short' };
  const response = await admin.post('/system/user-api', { ...body, password: '🌳🌳🌳🌳567' });
  expectError(response, 400, 'INVALID_FIELD', { field: 'password' });
  await admin.create('/system/user-api', { ...body, password: '🌳🌳🌳🌳5678' });
});

test('integers outside 32 bits or below their minimum are rejected', async () => {
  const ranges: [path: string, body: (n: number) => object, field: string, minimum: number][] = [
    ['/system/dept-api', (orderNum) => ({ orderNum }), 'orderNum', -(2 ** 31)],
    ['/system/tenant-api', (accountCount) => ({ accountCount }), 'accountCount', -1],
    ['/system/tenant-api', (credit) => ({ quotaBo: { credit } }), 'quotaBo.credit', 0],
  ];
  for (const [path, body, field, minimum] of ranges) {
    for (const n of [minimum, 2 ** 31 - 1]) assert.equal((await admin.post(path, body(n))).code, 200, `${field} ${n}`);
    for (const n of [minimum - 1, 2 ** 31]) {
      expectError(await admin.post(path, body(n)), 400, 'INVALID_FIELD', { field }, `${n}`);
    }
  }
});

test('a request that fails on one item or field writes nothing', async () => {
  const [top, used, free] = [
    await admin.createDepartment(),
    await admin.createDepartment(),
    await admin.createDepartment(),
  ];
  await admin.createDepartment({ parentId: top });
  const user = { userName: 'placed', password: PASSWORD, deptId: used };
  const userId = await admin.createUser(user);
  const before = await storedState(service);
  const failures: [string, Promise<{ code: number; data: { reason: string } }>][] = [
    ['DEPT_NOT_FOUND', admin.delete(`/system/dept-api/${free},999999`)],
    ['DEPT_HAS_CHILDREN', admin.delete(`/system/dept-api/${free},${top}`)],
    ['DEPT_HAS_USERS', admin.delete(`/system/dept-api/${free},${used}`)],
    ['USER_NOT_FOUND', admin.delete(`/system/user-api/${userId},999999`)],
    ['USER_DEPT_NOT_FOUND', admin.post('/system/user-api', { ...user, userName: 'lost', deptIds: [free, 999999] })],
    ['USER_DEPT_NOT_FOUND', admin.put('/system/user-api', { userId, nickName: 'moved', deptIds: [999999] })],
    ['USER_NAME_TAKEN', admin.put('/system/user-api', { userId, userName: 'boss', nickName: 'moved' })],
    ['PARENT_NOT_FOUND', admin.put('/system/dept-api', { deptId: free, deptName: 'moved', parentId: 999999 })],
    [
      'ACCOUNT_LIMIT',
      admin.post('/system/tenant-api', { accountCount: 0, username: 'first', password: 'no room left' }),
    ],
    [
      'INVALID_FIELD',
      admin.post('/system/tenant-api', {
        startTime: '2026-02-02',
        endTime: '2026-02-01',
        username: 'a',
        password: PASSWORD,
      }),
    ],
    ['FIELD_REQUIRED', admin.post('/system/tenant-api', { username: 'first' })],
  ];
  for (const [reason, response] of failures) assert.equal((await response).data.reason, reason);
  assert.deepEqual(await storedState(service), before);
});
