import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, expectOk, read, USERS } from '../support/expect.ts';
import { PASSWORD, shareService } from '../support/service.ts';

const service = await shareService();

test('an administrator reads and changes the departments of a tenant below', async () => {
  const { root } = service;
  const child = await service.createTenant();
  const grandchild = await service.createTenant({}, child);
  for (const { tenantId } of [child, grandchild]) {
    const query = `?tenantId=${tenantId}`;
    const created = expectOk(await root.post(`${DEPTS}${query}`, { deptName: '总部', tenantId }));
    const deptId = Number(String(created.headers.location).split('/').at(-1));
    const readDept = () => read(root, `${DEPTS}/${deptId}${query}`);
    assert.equal((await readDept()).tenantId, tenantId);
    expectOk(await root.put(`${DEPTS}${query}`, { deptId, deptName: '研发部' }));
    assert.equal((await readDept()).deptName, '研发部');
    const bulk = await root.post(`${DEPTS}/bulk${query}`, {
      parentId: deptId,
      departments: [{ ref: 'a' }, { ref: 'b' }],
    });
    const [a, b] = bulk.data.deptIds;
    expectOk(await root.put(`${DEPTS}/order${query}`, { parentId: deptId, deptIds: [b, a] }));
    const children = await root.get(`${DEPTS}/${deptId}/children${query}`);
    assert.deepEqual(
      children.data.rows.map((row: { deptId: number }) => row.deptId),
      [b, a],
    );
    assert.equal((await root.get(`${DEPTS}/tree${query}`)).data[0].children.length, 2);
    assert.equal((await root.get(`${DEPTS}/list${query}`)).data.total, 3);
    assert.equal((await root.post(`${DEPTS}/batch-read${query}`, { ids: [a, b] })).data.rows.length, 2);
    assert.equal((await root.get(`${DEPTS}/${deptId}/users${query}`)).data.total, 0);
    expectOk(await root.delete(`${DEPTS}/${deptId}${query}&subtree=true`));
    expectOk(await root.post(`${DEPTS}/${deptId}/restore${query}`, {}));
    const history = await root.get(`${DEPTS}/${deptId}/history${query}`);
    assert.deepEqual(
      history.data.rows.map(({ by, action }: { by: string; action: string }) => [by, action]),
      [
        ['admin', 'restored'],
        ['admin', 'deleted'],
        ['admin', 'updated'],
        ['admin', 'created'],
      ],
    );
    // Without tenantId, the department of the other tenant does not exist.
    expectError(await root.get(`${DEPTS}/${deptId}`), 404, 'DEPT_NOT_FOUND');
  }
});

test('a write with an empty tenantId is rejected and writes nothing to the tenant of the caller', async () => {
  const admin = await service.createTenant();
  const field = { field: 'tenantId' };
  expectError(await admin.post(`${DEPTS}?tenantId=`, { deptName: '总部' }), 400, 'INVALID_FIELD', field);
  const deptId = await admin.createDepartment();
  expectError(await admin.delete(`${DEPTS}/${deptId}?tenantId=`), 400, 'INVALID_FIELD', field);
  assert.equal((await admin.get(`${DEPTS}/list?tenantId=`)).data.total, 1);
});

test('the audit log of the tenant in which a department was created names the caller and their tenant', async () => {
  const { root } = service;
  const { tenantId } = await service.createTenant();
  expectOk(await root.post(`${DEPTS}?tenantId=${tenantId}`, { deptName: '总部' }));
  const { data } = await root.get(`/system/change-api/list?tenantId=${tenantId}&resource=department`);
  assert.deepEqual(
    data.rows.map(({ tenantId, by, byTenantId }: Record<string, string>) => [tenantId, by, byTenantId]),
    [[tenantId, 'admin', '000000']],
  );
});

test('a tenantId in the body must be the tenant that the request acts in', async () => {
  const { root } = service;
  const { tenantId } = await service.createTenant();
  expectError(await root.post(`${DEPTS}?tenantId=${tenantId}`, { tenantId: '000000' }), 403, 'OTHER_TENANT');
  expectError(await root.post(DEPTS, { tenantId }), 403, 'OTHER_TENANT');
});

test('deleting departments together with their users works in a tenant below', async () => {
  const { root } = service;
  const child = await service.createTenant();
  const query = `?tenantId=${child.tenantId}`;
  const deptId = await child.createDepartment({});
  const user = { userName: 'zhang', password: PASSWORD, deptId };
  expectOk(await child.post(USERS, user));
  expectOk(await root.delete(`${DEPTS}/${deptId}${query}&users=delete`));
  assert.equal((await child.get(`${USERS}/list?userName=zhang`)).data.total, 0);
});

test('a repeated write with an Idempotency-Key in a tenant below runs once', async () => {
  const { root } = service;
  const { tenantId } = await service.createTenant();
  const create = () =>
    root.call(
      'POST',
      `${DEPTS}?tenantId=${tenantId}`,
      { deptName: '总部' },
      { headers: { 'idempotency-key': `k${tenantId}` } },
    );
  const [first, second] = [expectOk(await create()), expectOk(await create())];
  assert.equal(second.headers.location, first.headers.location);
  assert.equal((await root.get(`${DEPTS}/list?tenantId=${tenantId}`)).data.total, 1);
});
