import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PASSWORD } from '../support/database.ts';
import { CHANGES, DEPTS, expectError, expectOk, read, readDept, USERS } from '../support/expect.ts';
import { shareService } from '../support/service.ts';
import { row, startUsersBulk } from './users-bulk.ts';

const { service, root, admin, neighbour, add } = await startUsersBulk(shareService);

describe('Bulk creation of users', () => {
  test('users get the same fields and defaults as when created one by one, and can log in', async () => {
    const [main, further] = [await admin.createDepartment(), await admin.createDepartment()];
    const full = {
      nickName: '张三"🌳',
      email: 'a@b.cn',
      phone: '13800000000',
      status: '0',
      deptId: Number(main),
      deptIds: [Number(further), main],
      roles: ['admin'],
      mustChangePassword: true,
    };
    const nulls = Object.fromEntries(Object.keys(full).map((name) => [name, null]));
    const { data } = await add([row('full.bulk', full), row('empty.bulk', { ...nulls, unknown: 1 })]);
    for (const [n, body] of [full, {}].entries()) {
      const single = await admin.createUser({ userName: `single${n}`, ...body });
      const [stored, other] = await Promise.all([data.userIds[n], single].map((id) => read(admin, `${USERS}/${id}`)));
      assert.deepEqual(
        { ...stored, userId: 0, userName: '', createTime: '' },
        { ...other, userId: 0, userName: '', createTime: '' },
      );
    }
    await service.logIn(admin.tenantId, 'EMPTY.bulk');
  });

  test('departments are created with their users, who name them by ref', async () => {
    const top = await admin.createDepartment();
    const response = await add(
      [row('lead', { deptRef: 'rd' }), row('dev', { deptRef: 'web', deptRefs: ['rd'], deptIds: [top] })],
      {
        parentId: top,
        departments: [
          { ref: 'web', parentRef: 'rd' },
          { ref: 'rd', deptName: '研发部' },
        ],
      },
    );
    const { userIds, deptIds } = response.data;
    expectOk(response, { userIds, deptIds });
    assert.equal((await readDept(admin, deptIds[0])).ancestors, `0,${top},${deptIds[1]}`);
    const [lead, dev] = await Promise.all(userIds.map((id: number) => read(admin, `${USERS}/${id}`)));
    assert.deepEqual([lead.deptId, lead.deptIds], [deptIds[1], []]);
    assert.deepEqual([dev.deptId, dev.deptIds], [deptIds[0], [Number(top), deptIds[1]]]);
  });

  test('one revert removes all users and departments of a request', async () => {
    const before = await read(admin, `${USERS}/list`);
    const { data } = await add([row('one', { deptRef: 'd' }), row('two')], { departments: [{ ref: 'd' }] });
    const { rows } = await read(admin, `${CHANGES}/list?resource=user&resourceId=${data.userIds[1]}`);
    expectOk(await admin.post(`${CHANGES}/${rows[0].id}/revert`));
    assert.equal((await read(admin, `${USERS}/list`)).total, before.total);
    expectError(await admin.get(`${DEPTS}/${data.deptIds[0]}`), 404, 'DEPT_NOT_FOUND');
  });

  test('an administrator creates users in a tenant below', async () => {
    const query = `?tenantId=${neighbour.tenantId}`;
    const { data } = await add(
      [row('below', { tenantId: neighbour.tenantId, deptRef: 'd' })],
      { departments: [{ ref: 'd' }] },
      root,
      query,
    );
    const user = await read(neighbour, `${USERS}/${data.userIds[0]}`);
    assert.deepEqual([user.tenantId, user.deptId], [neighbour.tenantId, data.deptIds[0]]);
    expectError(await add([row('x')], {}, admin, query), 403, 'OTHER_TENANT');
  });

  test('with an Idempotency-Key the users are created once, and another password is another request', async () => {
    const options = { headers: { 'idempotency-key': 'many users' } };
    const body = { users: [row('once')] };
    const first = await admin.post(`${USERS}/bulk`, body, options);
    const again = await admin.post(`${USERS}/bulk`, body, options);
    assert.deepEqual(again.data, first.data);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    const other = { users: [row('once', { password: 'another password' })] };
    expectError(await admin.post(`${USERS}/bulk`, other, options), 409, 'KEY_REUSED');
    const kept = await service.superuser`select * from banyan.idempotency_keys where key = 'many users'`;
    assert.ok(!JSON.stringify(kept).includes(PASSWORD));
  });
});
