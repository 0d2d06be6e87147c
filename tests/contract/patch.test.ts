import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PASSWORD } from '../support/database.ts';
import {
  DEPTS,
  expectError,
  expectInvalid,
  expectOk,
  read,
  readDept,
  storedState,
  TENANTS,
  USERS,
} from '../support/expect.ts';
import { startService } from '../support/service.ts';

/** PATCH changes the fields that are sent, as a JSON merge patch (RFC 7396). */

const service = await startService();
const { root } = service;
const admin = await service.createTenant();

/** The fields of a record without updateBy and updateTime, which every write sets. */
const contents = ({ updateBy: _, updateTime: __, ...fields }: Record<string, unknown>) => fields;

describe('A patch of a department', () => {
  const full = {
    deptName: '研发部',
    orderNum: 7,
    leader: '张三',
    phone: '13800000000',
    email: 'rd@example.com',
    status: '1',
  };

  test('a patch of a department changes the fields that are sent and no others', async () => {
    const top = await admin.createDepartment();
    const id = await admin.createDepartment({ ...full, parentId: top });
    const before = contents(await readDept(admin, id));
    for (const [name, value] of Object.entries({
      ...full,
      deptName: 'R&D',
      orderNum: -1,
      leader: '李四',
      phone: '13900000000',
      email: 'other@example.com',
      status: '0',
    })) {
      expectOk(await admin.patch(`${DEPTS}/${id}`, { [name]: value }));
      before[name] = value;
      assert.deepEqual(contents(await readDept(admin, id)), before);
    }
  });

  test('a patch resets a field with null, and ignores unknown fields and those that the service sets', async () => {
    const id = await admin.createDepartment(full);
    const nulls = Object.fromEntries(Object.keys(full).map((name) => [name, null]));
    const ignored = { ancestors: 'x', delFlag: '2', createBy: null, unknown: { deep: [null] } };
    expectOk(await admin.patch(`${DEPTS}/${id}`, { ...nulls, ...ignored }));
    const other = await admin.createDepartment();
    const { deptId: _, createTime: __, ...empty } = contents(await readDept(admin, other));
    const { deptId: ___, createTime: ____, ...patched } = contents(await readDept(admin, id));
    assert.deepEqual(patched, empty);
  });

  test('a patch with a new parentId moves the department, with the checks of a move', async () => {
    const [home, away, off] = [
      await admin.createDepartment(),
      await admin.createDepartment(),
      await admin.createDepartment({ status: '1' }),
    ];
    const id = await admin.createDepartment({ ...full, status: '0', parentId: home });
    const child = await admin.createDepartment({ parentId: id });
    const foreign = await (await service.createTenant()).createDepartment();
    const patch = (parentId: unknown) => admin.patch(`${DEPTS}/${id}`, { parentId });
    expectError(await patch(off), 409, 'PARENT_DISABLED');
    for (const parent of [id, child]) expectError(await patch(parent), 409, 'DEPT_CYCLE');
    for (const parent of [foreign, '9007199254740993']) expectError(await patch(parent), 400, 'PARENT_NOT_FOUND');
    // `parentId` is never null: 0 is the top level.
    expectInvalid(await patch(null), 'parentId', 'FIELD_REQUIRED');
    expectOk(await patch(away));
    const { parentId, ancestors, leader } = await readDept(admin, id);
    assert.deepEqual([parentId, ancestors, leader], [Number(away), `0,${away}`, '张三']);
    assert.equal((await readDept(admin, child)).ancestors, `0,${away},${id}`);
    expectOk(await patch(0));
    assert.equal((await readDept(admin, id)).ancestors, '0');
  });

  test('a patch is rejected if the values are invalid, the id differs or the department does not exist', async () => {
    const id = await admin.createDepartment();
    const before = await storedState(service);
    expectInvalid(await admin.patch(`${DEPTS}/${id}`, { email: 'x' }), 'email');
    expectInvalid(await admin.patch(`${DEPTS}/${id}`, { deptName: 7 }), 'deptName');
    expectInvalid(await admin.patch(`${DEPTS}/${id}`, { deptId: Number(id) + 1 }), 'deptId');
    expectInvalid(await admin.patch(`${DEPTS}/x`, {}), 'id');
    expectInvalid(await admin.patch(`${DEPTS}/${id}`, []), 'body');
    expectError(await admin.patch(`${DEPTS}/${id}`), 400, 'BODY_REQUIRED');
    expectError(await admin.patch(`${DEPTS}/9007199254740993`, { leader: 'a' }), 404, 'DEPT_NOT_FOUND');
    expectError(await admin.patch(`${DEPTS}/${id}`, { tenantId: '000000' }), 403, 'OTHER_TENANT');
    expectError(await admin.patch(`${DEPTS}/${id}?dryRun=1`, {}), 400, 'UNKNOWN_PARAMETER');
    assert.deepEqual(await storedState(service), before);
  });

  test('a patch that changes nothing writes nothing', async () => {
    const id = await admin.createDepartment(full);
    const before = await storedState(service);
    expectOk(await admin.patch(`${DEPTS}/${id}`, {}));
    expectOk(await admin.patch(`${DEPTS}/${id}`, await readDept(admin, id)));
    assert.deepEqual(await storedState(service), before);
  });

  test('a patch of a department honours If-Match and Idempotency-Key', async () => {
    const id = await admin.createDepartment(full);
    const { etag } = (await admin.get(`${DEPTS}/${id}`)).headers;
    const withTag = { headers: { 'if-match': String(etag) } };
    expectOk(await admin.patch(`${DEPTS}/${id}`, { leader: 'first' }, withTag));
    expectError(await admin.patch(`${DEPTS}/${id}`, { leader: 'second' }, withTag), 412, 'CHANGED_MEANWHILE');
    const withKey = { headers: { 'idempotency-key': 'patch' } };
    expectOk(await admin.patch(`${DEPTS}/${id}`, { leader: 'third' }, withKey));
    expectOk(await admin.patch(`${DEPTS}/${id}`, { leader: 'fourth' }));
    const again = await admin.patch(`${DEPTS}/${id}`, { leader: 'third' }, withKey);
    assert.equal(expectOk(again).headers['idempotent-replayed'], 'true');
    expectError(await admin.patch(`${DEPTS}/${id}`, { leader: 'fifth' }, withKey), 409, 'KEY_REUSED');
    assert.equal((await readDept(admin, id)).leader, 'fourth');
  });
});

describe('A patch of a tenant', () => {
  const full = {
    tenantName: '上海分公司',
    startTime: '2026-01-01',
    endTime: '2030-12-31',
    accountCount: 50,
    packageBo: { menuIds: '3, 1' },
    quotaBo: { enterpriseQuery: 1, riskReport: 2, riskReportUsed: 3, zr: 4, credit: 5, pf: 6 },
    ruleBo: { modelZr: 'a', catalogRw: 'b' },
  };
  const quotasOf = async (id: string) => {
    const [row] = await service.superuser<[{ quotas: Record<string, number> }]>`
      select quotas from banyan.tenants where id = ${id}`;
    return row.quotas;
  };

  test('a patch merges quotas and rules and keeps the quotas that reads do not return', async () => {
    const id = await root.create(TENANTS, full);
    const before = await read(root, `${TENANTS}/${id}`);
    expectOk(
      await root.patch(`${TENANTS}/${id}`, { quotaBo: { merchant: 9 }, ruleBo: { modelZr: null, modelEd: 'c' } }),
    );
    const after = await read(root, `${TENANTS}/${id}`);
    assert.deepEqual(after, {
      ...before,
      quotaBo: { ...before.quotaBo, merchant: 9 },
      ruleBo: { ...before.ruleBo, modelZr: null, modelEd: 'c' },
    });
    const { riskReportUsed, zr, credit, pf } = await quotasOf(id);
    assert.deepEqual([riskReportUsed, zr, credit, pf], [3, 4, 5, 6]);
    expectOk(await root.patch(`${TENANTS}/${id}`, { quotaBo: { zr: null, credit: 8, riskReport: null } }));
    const second = await quotasOf(id);
    assert.deepEqual([second.zr, second.credit, second.pf, second.riskReport], [0, 8, 6, 0]);
    expectOk(await root.patch(`${TENANTS}/${id}`, { quotaBo: null, ruleBo: null, packageBo: null, endTime: null }));
    const cleared = await read(root, `${TENANTS}/${id}`);
    assert.deepEqual(
      new Set([...Object.values(cleared.quotaBo), ...Object.values(cleared.ruleBo)]),
      new Set([0, null]),
    );
    assert.deepEqual([cleared.packageBo.menuIds, cleared.endTime, cleared.startTime], ['', null, '2026-01-01']);
    const third = await quotasOf(id);
    assert.deepEqual([third.credit, third.pf], [8, 6]);
  });

  test('a patch of a tenant is validated together with the stored fields', async () => {
    const id = await root.create(TENANTS, full);
    expectInvalid(await root.patch(`${TENANTS}/${id}`, { endTime: '2025-12-31' }), 'endTime');
    expectInvalid(await root.patch(`${TENANTS}/${id}`, { quotaBo: { merchant: -1 } }), 'quotaBo.merchant');
    expectInvalid(await root.patch(`${TENANTS}/${id}`, { tenantParent: null }), 'tenantParent', 'FIELD_REQUIRED');
    expectInvalid(await root.patch(`${TENANTS}/${id}`, { id: '1' }), 'id');
    expectOk(await root.patch(`${TENANTS}/${id}`, { startTime: '2024-01-01', endTime: '2025-12-31' }));
  });

  test('a patch with a new tenantParent moves the tenant, with the checks of a move, and honours If-Match', async () => {
    const [a, b] = [await root.create(TENANTS, full), await root.create(TENANTS, {})];
    const [first, second] = [await read(root, `${TENANTS}/${a}`), await read(root, `${TENANTS}/${b}`)];
    const { etag } = (await root.get(`${TENANTS}/${a}`)).headers;
    const withTag = { headers: { 'if-match': String(etag) } };
    expectOk(await root.patch(`${TENANTS}/${a}`, { tenantParent: second.tenantId }, withTag));
    expectError(await root.patch(`${TENANTS}/${a}`, { tenantName: 'x' }, withTag), 412, 'CHANGED_MEANWHILE');
    expectError(await root.patch(`${TENANTS}/${b}`, { tenantParent: first.tenantId }), 409, 'TENANT_CYCLE');
    assert.deepEqual(await read(root, `${TENANTS}/${a}`), { ...first, tenantParent: second.tenantId });
  });

  test('a patch of a tenant that changes nothing writes nothing, and nobody patches their own tenant', async () => {
    const id = await root.create(TENANTS, full);
    const before = await storedState(service);
    expectOk(await root.patch(`${TENANTS}/${id}`, await read(root, `${TENANTS}/${id}`)));
    expectError(await admin.patch(`${TENANTS}/${admin.id}`, { accountCount: 1000 }), 403, 'OWN_TENANT');
    assert.deepEqual(await storedState(service), before);
  });
});

describe('A patch of a user', () => {
  const newUser = async (body: Record<string, unknown> = {}) => {
    const [main, further] = [await admin.createDepartment(), await admin.createDepartment()];
    const userName = `u${main}`;
    const fields = { userName, nickName: '王五', email: 'w@example.com', phone: '1', deptId: main, deptIds: [further] };
    return {
      id: await admin.createUser({ ...fields, ...body }),
      main: Number(main),
      further: Number(further),
      userName,
    };
  };

  test('a patch of a user changes the fields that are sent and no others', async () => {
    const { id, main, userName } = await newUser({ mustChangePassword: true });
    const before = contents(await read(admin, `${USERS}/${id}`));
    const changes = {
      nickName: '赵六',
      email: null,
      phone: '2',
      deptIds: [],
      userName: `${userName}x`,
      roles: ['admin'],
    };
    for (const [name, value] of Object.entries(changes)) {
      expectOk(await admin.patch(`${USERS}/${id}`, { [name]: value }));
      before[name] = value;
      assert.deepEqual(contents(await read(admin, `${USERS}/${id}`)), before);
    }
    expectOk(await admin.patch(`${USERS}/${id}`, { deptId: null, roles: null, mustChangePassword: null }));
    assert.deepEqual(contents(await read(admin, `${USERS}/${id}`)), {
      ...before,
      ...{ deptId: null, roles: ['member'], mustChangePassword: false },
    });
    expectOk(await admin.patch(`${USERS}/${id}`, { deptId: main }));
    assert.equal((await read(admin, `${USERS}/${id}`)).deptId, main);
  });

  test('a patch keeps the password and the sessions of a user unless it changes them', async () => {
    const { id, userName } = await newUser();
    const member = await service.logIn(admin.tenantId, userName);
    expectOk(await admin.patch(`${USERS}/${id}`, { nickName: 'n' }));
    assert.equal((await member.get('/auth/me')).code, 200);
    expectOk(await admin.patch(`${USERS}/${id}`, { password: 'another password', mustChangePassword: true }));
    expectError(await member.get('/auth/me'), 401, 'SESSION_ENDED');
    const again = await service.logIn(admin.tenantId, userName, 'another password');
    expectError(await again.get(`${USERS}/${id}`), 403, 'PASSWORD_CHANGE_REQUIRED');
    expectOk(await admin.patch(`${USERS}/${id}`, { status: '1' }));
    expectError(await again.get('/auth/me'), 403, 'USER_DISABLED');
  });

  test('a patch of a user is rejected for the same reasons as an update', async () => {
    const { id } = await newUser();
    const me = (await read(admin, '/auth/me')).user;
    const before = await storedState(service);
    for (const field of ['userName', 'password'])
      expectInvalid(await admin.patch(`${USERS}/${id}`, { [field]: null }), field, 'FIELD_REQUIRED');
    expectError(await admin.patch(`${USERS}/${id}`, { userName: 'BOSS' }), 409, 'USER_NAME_TAKEN');
    expectInvalid(await admin.patch(`${USERS}/${id}`, { userName: 'system' }), 'userName', 'USER_NAME_RESERVED');
    expectInvalid(await admin.patch(`${USERS}/${id}`, { password: 'password123' }), 'password', 'PASSWORD_TOO_COMMON');
    expectError(await admin.patch(`${USERS}/${id}`, { deptId: 999999999 }), 400, 'USER_DEPT_NOT_FOUND');
    expectInvalid(await admin.patch(`${USERS}/${id}`, { userId: 1 }), 'userId');
    for (const patch of [{ status: '1' }, { roles: null }])
      expectError(await admin.patch(`${USERS}/${me.userId}`, patch), 409, 'LAST_ADMINISTRATOR');
    expectOk(await admin.patch(`${USERS}/${id}`, await read(admin, `${USERS}/${id}`)));
    assert.deepEqual(await storedState(service), before);
  });

  test('a patch of a user honours If-Match, Idempotency-Key and tenantId', async () => {
    const { id } = await newUser();
    const { etag } = (await admin.get(`${USERS}/${id}`)).headers;
    const withTag = { headers: { 'if-match': String(etag) } };
    expectOk(await root.patch(`${USERS}/${id}?tenantId=${admin.tenantId}`, { nickName: 'one' }, withTag));
    expectError(await admin.patch(`${USERS}/${id}`, { nickName: 'two' }, withTag), 412, 'CHANGED_MEANWHILE');
    const withKey = { headers: { 'idempotency-key': 'user patch' } };
    for (const replayed of [undefined, 'true']) {
      const response = await admin.patch(`${USERS}/${id}`, { nickName: 'three', password: PASSWORD }, withKey);
      assert.equal(expectOk(response).headers['idempotent-replayed'], replayed);
    }
    assert.equal((await read(admin, `${USERS}/${id}`)).nickName, 'three');
  });
});

test('a patch is sent as a merge patch or as JSON, and only PATCH takes a merge patch', async () => {
  const id = await admin.createDepartment();
  const type = (name: string) => ({ headers: { 'content-type': name } });
  expectOk(await admin.patch(`${DEPTS}/${id}`, { leader: 'a' }, type('application/json')));
  expectOk(await admin.patch(`${DEPTS}/${id}`, { leader: 'b' }, type('application/merge-patch+json; charset=utf-8')));
  const other = await admin.patch(`${DEPTS}/${id}`, [], type('application/json-patch+json'));
  expectError(other, 415, 'NOT_JSON');
  const accepted = 'application/merge-patch+json, application/json';
  assert.equal(other.headers['accept-patch'], accepted);
  for (const send of [admin.post, admin.put]) {
    const response = await send(DEPTS, { deptId: id }, type('application/merge-patch+json'));
    expectError(response, 415, 'NOT_JSON');
    assert.equal(response.headers['accept-patch'], undefined);
  }
  const notAllowed = await admin.put(`${DEPTS}/${id}`, {});
  expectError(notAllowed, 405, 'METHOD_NOT_ALLOWED');
  assert.equal(notAllowed.headers['accept-patch'], accepted);
  assert.match(String(notAllowed.headers.allow), /\bPATCH\b/);
});

test('a member cannot patch anything', async () => {
  const member = await service.createMember(admin);
  const id = await admin.createDepartment();
  for (const path of [`${DEPTS}/${id}`, `${TENANTS}/${admin.id}`, `${USERS}/${member.id}`])
    expectError(await member.patch(path, { status: '1' }), 403, 'NOT_ALLOWED');
});
