import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, read, USERS } from '../support/expect.ts';
import { Client, PASSWORD, startService } from '../support/service.ts';

/** The decisions on users: the rows "Path" and "UserDTO", field by field. */

const service = await startService();
const boss = await service.createTenant();
const user = (id: string | number) => read(boss, `${USERS}/${id}`);
let count = 0;
/** A user of whom nothing but a new name is said. */
const make = (body: Record<string, unknown> = {}) => boss.createUser({ userName: `user${++count}`, ...body });
const post = (body: Record<string, unknown>) =>
  boss.post(USERS, { userName: `user${++count}`, password: PASSWORD, ...body });

describe('path', () => {
  test('POST: data is null, and Location tells where to read him', async () => {
    const { headers } = expectOk(await post({}));
    assert.match(String(headers.location), /^\/system\/user-api\/\d+$/);
    const { userId } = await read(boss, String(headers.location));
    assert.equal(`${USERS}/${userId}`, headers.location);
  });

  test('GET /{id}: the UserDTO, and nothing else', async () => {
    const deptId = Number(await boss.createDepartment());
    const further = [Number(await boss.createDepartment()), Number(await boss.createDepartment())];
    const sent = {
      nickName: '小王',
      deptId,
      deptIds: further,
      email: 'wang@example.com',
      phone: '13800138000',
      status: '1',
      roles: ['admin'],
    };
    const id = await make({ userName: 'Wang', ...sent });
    const { createTime, ...shown } = await user(id);
    const { tenantId } = boss;
    const stamps = { createBy: 'boss', updateBy: '', updateTime: null };
    assert.deepEqual(shown, { userId: Number(id), tenantId, userName: 'Wang', ...sent, ...stamps });
    assert.match(createTime, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  });

  test('PUT and DELETE /{ids}: data is null', async () => {
    const [userId, other] = [await make(), await make()];
    expectOk(await boss.put(USERS, { userId }));
    expectOk(await boss.delete(`${USERS}/${userId},${other}`));
  });

  const operations: [name: string, call: (client: Client, userId: string) => ReturnType<Client['get']>][] = [
    ['POST', (client) => client.post(USERS, { userName: 'stranger', password: PASSWORD })],
    ['GET /{id}', (client, id) => client.get(`${USERS}/${id}`)],
    ['GET /list', (client) => client.get(`${USERS}/list`)],
    ['PUT', (client, userId) => client.put(USERS, { userId, nickName: 'changed' })],
    ['DELETE /{ids}', (client, id) => client.delete(`${USERS}/${id}`)],
  ];
  for (const [name, call] of operations) {
    test(`${name}: rejected without a valid access token, and to a member`, async () => {
      const id = await make();
      const before = await user(id);
      const { total } = await read(boss, `${USERS}/list`);
      expectError(await call(service.anonymous, id), 401, 'NO_TOKEN');
      expectError(await call(new Client(service.base, 'a.b.c'), id), 401, 'INVALID_TOKEN');
      expectError(await call(await service.createMember(boss), id), 403, 'NOT_ALLOWED');
      assert.deepEqual(await user(id), before);
      assert.equal((await read(boss, `${USERS}/list`)).total, total + 1);
    });
  }

  test('ids in paths: digits, up to 19', async () => {
    for (const id of ['x', '-1', '1.5', '12345678901234567890']) {
      expectError(await boss.get(`${USERS}/${id}`), 400, 'INVALID_FIELD');
      expectError(await boss.delete(`${USERS}/${id}`), 400, 'INVALID_FIELD');
    }
    expectError(await boss.get(`${USERS}/9999999999999999999`), 404, 'USER_NOT_FOUND');
  });
});

describe('UserDTO', () => {
  test('userId: a Long made by the service, a number in answers; ignored on create', async () => {
    const id = await make({ userId: 5 });
    assert.notEqual(id, '5');
    const { userId } = await user(id);
    assert.equal(userId, Number(id));
    assert.ok(Number.isSafeInteger(userId));
  });

  test('userId: required on update, as a number or as digits', async () => {
    const id = await make();
    for (const userId of [id, Number(id)]) {
      expectOk(await boss.put(USERS, { userId, nickName: typeof userId }));
      assert.equal((await user(id)).nickName, typeof userId);
    }
    expectError(await boss.put(USERS, { nickName: 'x' }), 400, 'FIELD_REQUIRED', { field: 'userId' });
    for (const userId of ['', 'x', -1, 1.5, 2 ** 53, true, [id]]) {
      expectError(await boss.put(USERS, { userId }), 400, 'INVALID_FIELD', { field: 'userId' });
    }
    for (const userId of [7, '9223372036854775807']) {
      expectError(await boss.put(USERS, { userId }), 404, 'USER_NOT_FOUND');
    }
  });

  test("tenantId: the caller's own when absent, null or said", async () => {
    for (const tenantId of [undefined, null, boss.tenantId]) {
      assert.equal((await user(await make({ tenantId }))).tenantId, boss.tenantId);
    }
    for (const tenantId of ['', 'x', 100000]) {
      expectError(await post({ tenantId }), 400, 'INVALID_FIELD', { field: 'tenantId' });
    }
  });

  test('userName: 1 to 50 characters, any text, shown as it was sent', async () => {
    for (const userName of ['A', '王小明', "O'Neil; drop table users", `${'名'.repeat(49)}🌳`, '%_\\']) {
      assert.equal((await user(await make({ userName }))).userName, userName);
    }
    for (const userName of ['', 'x'.repeat(51), 7, ['x'], 'a\u0000b']) {
      expectError(await post({ userName }), 400, 'INVALID_FIELD', { field: 'userName' });
    }
    expectError(await post({ userName: undefined }), 400, 'FIELD_REQUIRED', { field: 'userName' });
  });

  test('userName: unique in its tenant, letter case ignored, on create and on update', async () => {
    const first = await make({ userName: 'Émile' });
    const second = await make({ userName: 'Paul' });
    for (const userName of ['Émile', 'émile', 'ÉMILE']) {
      expectError(await post({ userName }), 409, 'USER_NAME_TAKEN');
      expectError(await boss.put(USERS, { userId: second, userName }), 409, 'USER_NAME_TAKEN');
    }
    assert.equal((await user(second)).userName, 'Paul');
    // Nobody stands in his own way.
    expectOk(await boss.put(USERS, { userId: first, userName: 'ÉMILE' }));
    assert.equal((await user(first)).userName, 'ÉMILE');
  });

  test('userName: of many who ask for one name at once, one gets it', async () => {
    const names = ['Rush', 'rush', 'RUSH', 'rUSH', 'ruSH', 'rusH'];
    const answers = await Promise.all(names.map((userName) => post({ userName })));
    assert.deepEqual(answers.map(({ code }) => code).sort(), [200, 409, 409, 409, 409, 409]);
  });

  test('userName: another tenant may have the same, above, below or beside', async () => {
    await make({ userName: 'Everywhere' });
    const below = await service.createTenant({}, boss);
    const beside = await service.createTenant();
    for (const other of [below, beside, service.root]) await other.createUser({ userName: 'everywhere' });
    assert.equal((await read(below, `${USERS}/list?userName=everywhere`)).total, 1);
  });

  test('userName: free again after its user is deleted or renamed', async () => {
    const old = await make({ userName: 'phoenix' });
    const phoenix = await service.logIn(boss.tenantId, 'phoenix');
    expectOk(await boss.delete(`${USERS}/${old}`));
    const renamed = await make({ userName: 'Phoenix' });
    expectOk(await boss.put(USERS, { userId: renamed, userName: 'ash' }));
    const id = await make({ userName: 'PHOENIX' });
    assert.equal(new Set([old, renamed, id]).size, 3);
    // The new one is another: the old one's token is not his.
    expectError(await phoenix.get('/auth/me'), 401, 'USER_DELETED');
  });

  for (const [field, length] of [['nickName', 50] as const, ['phone', 32] as const]) {
    test(`${field}: a text of up to ${length} characters, null when not sent`, async () => {
      const longest = `${'榕'.repeat(length - 1)}🌳`;
      assert.equal((await user(await make({ [field]: longest })))[field], longest);
      assert.equal((await user(await make()))[field], null);
      for (const value of [`${longest}x`, 7, 'a\u0000b']) {
        expectError(await post({ [field]: value }), 400, 'INVALID_FIELD', { field });
      }
    });
  }

  test('email: up to 254 characters, its shape checked, null when not sent', async () => {
    const longest = `${'x'.repeat(242)}@example.com`;
    for (const email of [longest, '用户@例子.公司']) assert.equal((await user(await make({ email }))).email, email);
    assert.equal((await user(await make())).email, null);
    for (const email of [`x${longest}`, 'x', 'a@b@c', '@b', 'a@', 'a b@c', 7]) {
      expectError(await post({ email }), 400, 'INVALID_FIELD', { field: 'email' });
    }
  });

  test('status: 0 or 1, 0 when not sent', async () => {
    for (const status of ['0', '1']) assert.equal((await user(await make({ status }))).status, status);
    assert.equal((await user(await make())).status, '0');
    for (const status of ['2', '', 0, true])
      expectError(await post({ status }), 400, 'INVALID_FIELD', { field: 'status' });
  });

  test('roles: ["admin"] or ["member"], member when not sent', async () => {
    for (const roles of [['admin'], ['member']]) assert.deepEqual((await user(await make({ roles }))).roles, roles);
    for (const roles of [undefined, null]) assert.deepEqual((await user(await make({ roles }))).roles, ['member']);
    for (const roles of ['admin', [], [''], ['ADMIN'], ['root'], { admin: true }]) {
      const { code, data } = await post({ roles });
      assert.deepEqual([code, data.reason], [400, 'INVALID_FIELD'], JSON.stringify(roles));
      assert.match(data.field, /^roles/);
    }
  });

  test('createBy, createTime, updateBy, updateTime: by whom and when, in Asia/Shanghai', async () => {
    const now = () => new Intl.DateTimeFormat('sv-SE', shanghai).format(Date.now());
    const times = [now()];
    const id = await make({ createBy: 'x', updateBy: 'x', createTime: '2000-01-01 00:00:00' });
    const made = await user(id);
    times.push(now());
    await boss.createUser({ userName: 'other', roles: ['admin'] });
    expectOk(await (await service.logIn(boss.tenantId, 'other')).put(USERS, { userId: id, updateBy: 'x' }));
    const changed = await user(id);
    times.push(now());
    assert.deepEqual([made.createBy, made.updateBy, made.updateTime], ['boss', '', null]);
    assert.deepEqual([changed.createBy, changed.createTime, changed.updateBy], ['boss', made.createTime, 'other']);
    const order = [times[0], made.createTime, times[1], changed.updateTime, times[2]];
    assert.deepEqual(order, [...order].sort());
  });
});

const shanghai = { timeZone: 'Asia/Shanghai', dateStyle: 'short', timeStyle: 'medium' } as const;

describe('update is a full replacement', () => {
  test('what is not sent takes its default; name and password stay', async () => {
    const [deptId, further] = [await boss.createDepartment(), await boss.createDepartment()];
    const rest = { nickName: 'n', email: 'a@b', phone: '1', status: '1', roles: ['admin'] };
    const id = await make({ userName: 'replaced', deptId, deptIds: [further], ...rest });
    const { userId, tenantId, createBy, createTime } = await user(id);
    expectOk(await boss.put(USERS, { userId: id }));
    const { updateTime, ...shown } = await user(id);
    assert.deepEqual(shown, {
      ...{ userId, tenantId, createBy, createTime, userName: 'replaced', updateBy: 'boss' },
      ...{ nickName: null, deptId: null, deptIds: [], email: null, phone: null, status: '0', roles: ['member'] },
    });
    assert.ok(updateTime);
    await service.logIn(boss.tenantId, 'replaced');
  });

  test('a body that was read can be sent back', async () => {
    const deptId = await boss.createDepartment();
    const id = await make({
      deptId,
      deptIds: [await boss.createDepartment()],
      nickName: 'n',
      status: '1',
      roles: ['admin'],
    });
    const before = await user(id);
    expectOk(await boss.put(USERS, { ...before, delFlag: '2', stranger: {} }));
    const { updateBy, updateTime, ...after } = await user(id);
    assert.deepEqual({ ...after, updateBy: '', updateTime: null }, before);
    assert.deepEqual([updateBy, typeof updateTime], ['boss', 'string']);
  });

  test('null counts as not sent, for the required fields too', async () => {
    const optional = ['tenantId', 'nickName', 'deptId', 'deptIds', 'email', 'phone', 'status', 'roles'];
    const nothing = Object.fromEntries(optional.map((field) => [field, null]));
    const { nickName, deptId, deptIds, status, roles } = await user(await make(nothing));
    assert.deepEqual([nickName, deptId, deptIds, status, roles], [null, null, [], '0', ['member']]);
    const userId = await make();
    expectOk(await boss.put(USERS, { userId, ...nothing, userName: null, password: null }));
    expectError(await boss.put(USERS, { userId: null }), 400, 'FIELD_REQUIRED', { field: 'userId' });
    expectError(await post({ userName: null }), 400, 'FIELD_REQUIRED', { field: 'userName' });
    expectError(await post({ password: null }), 400, 'FIELD_REQUIRED', { field: 'password' });
  });

  test('a refused update changes nothing', async () => {
    const id = await make({ nickName: 'before' });
    const before = await user(id);
    expectError(await boss.put(USERS, { userId: id, nickName: 'x', deptIds: [1] }), 400, 'USER_DEPT_NOT_FOUND');
    expectError(await boss.put(USERS, { userId: id, nickName: 'x', userName: 'boss' }), 409, 'USER_NAME_TAKEN');
    assert.deepEqual(await user(id), before);
  });
});
