import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES, DEPTS, expectError, expectOk, USERS } from '../support/expect.ts';
import { type Client, shareService } from '../support/service.ts';

/** Deleting departments that have users: `?users=move` and `?users=delete`. */

const service = await shareService();

const latestChange = async (client: Client) => (await client.get(`${CHANGES}/list?limit=1&below=false`)).data.rows[0];
const revertLatest = async (client: Client) => client.post(`${CHANGES}/${(await latestChange(client)).id}/revert`);

/** Returns the departments of each user by name: the main one, then the others. Deleted users are missing. */
async function membershipsOf(client: Client): Promise<Record<string, (number | null)[]>> {
  const { rows } = (await client.get(`${USERS}/list?pageSize=500`)).data;
  return Object.fromEntries(
    rows.map(({ userName, deptId, deptIds }: { userName: string; deptId: number | null; deptIds: number[] }) => [
      userName,
      [deptId, ...deptIds],
    ]),
  );
}

/** Creates a tenant with the departments `sales`, `other` and `third`, and users in them. */
async function createCompany(accountCount = -1) {
  const admin = await service.createTenant({ accountCount });
  const [sales, other, third] = [
    await admin.createDepartment({ deptName: 'sales' }),
    await admin.createDepartment({ deptName: 'other' }),
    await admin.createDepartment({ deptName: 'third' }),
  ].map(Number) as [number, number, number];
  await admin.createUser({ userName: 'main', deptId: sales, nickName: '主', phone: '1' });
  await admin.createUser({ userName: 'both', deptId: sales, deptIds: [other, third] });
  await admin.createUser({ userName: 'further', deptId: other, deptIds: [sales] });
  await admin.createUser({ userName: 'loose', deptIds: [sales, third] });
  return { admin, sales, other, third };
}

test('users=move moves all users, and one revert brings back the department and every membership', async () => {
  const { admin, sales, other, third } = await createCompany();
  const before = await membershipsOf(admin);
  const dept = (await admin.get(`${DEPTS}/${sales}`)).data;
  expectOk(await admin.delete(`${DEPTS}/${sales}?users=move&toDeptId=${other}`));
  assert.equal((await admin.get(`${DEPTS}/${sales}`)).code, 404);
  const moved = { boss: [null], main: [other], both: [other, third], further: [other], loose: [null, other, third] };
  assert.deepEqual(await membershipsOf(admin), moved);
  const { batch } = await latestChange(admin);
  const { rows } = (await admin.get(`${CHANGES}/list?limit=10&below=false`)).data;
  assert.deepEqual(
    rows.slice(0, 6).map((row: { batch: number }) => row.batch === batch),
    [true, true, true, true, true, false],
    'the department and four users are one batch',
  );

  expectOk(await revertLatest(admin));
  assert.deepEqual(await membershipsOf(admin), before);
  assert.deepEqual(
    { ...(await admin.get(`${DEPTS}/${sales}`)).data, updateBy: '', updateTime: null },
    { ...dept, updateBy: '', updateTime: null },
  );
  // The revert is a batch of its own and can be reverted as well.
  expectOk(await revertLatest(admin));
  assert.deepEqual(await membershipsOf(admin), moved);
  expectOk(await revertLatest(admin));
  assert.deepEqual(await membershipsOf(admin), before);
});

test('users=delete deletes the users whose main department is deleted, and ends their sessions; a revert brings all of them back', async () => {
  const { admin, sales, other, third } = await createCompany();
  const before = await membershipsOf(admin);
  const main = await service.logIn(admin.tenantId, 'main');
  expectOk(await admin.delete(`${DEPTS}/${sales}?users=delete`));
  assert.deepEqual(await membershipsOf(admin), { boss: [null], further: [other], loose: [null, third] });
  assert.equal((await main.get('/auth/me')).code, 401);
  expectOk(await revertLatest(admin));
  assert.deepEqual(await membershipsOf(admin), before);
  await service.logIn(admin.tenantId, 'main');
});

test('users=move works with a subtree and users=delete with several departments, and a revert undoes both', async () => {
  const admin = await service.createTenant();
  const [top, away] = [await admin.createDepartment(), await admin.createDepartment()];
  const child = await admin.createDepartment({ parentId: top });
  await admin.createUser({ userName: 'a', deptId: top, deptIds: [child] });
  await admin.createUser({ userName: 'b', deptId: child });
  const before = await membershipsOf(admin);
  const trees = async () => (await admin.get(`${DEPTS}/tree`)).data;
  const tree = await trees();
  expectError(await admin.delete(`${DEPTS}/${top}?users=delete`), 409, 'DEPT_HAS_CHILDREN');
  expectError(await admin.delete(`${DEPTS}/${top}?subtree=true&users=move&toDeptId=${child}`), 400, 'INVALID_FIELD', {
    field: 'toDeptId',
  });
  expectOk(await admin.delete(`${DEPTS}/${top}?subtree=true&users=move&toDeptId=${away}`));
  assert.deepEqual(await membershipsOf(admin), { boss: [null], a: [Number(away)], b: [Number(away)] });
  expectOk(await revertLatest(admin));
  assert.deepEqual([await membershipsOf(admin), await trees()], [before, tree]);
  expectOk(await admin.delete(`${DEPTS}/${child},${away}?users=delete`));
  assert.deepEqual(await membershipsOf(admin), { boss: [null], a: [Number(top)] });
  expectOk(await revertLatest(admin));
  assert.deepEqual([await membershipsOf(admin), await trees()], [before, tree]);
});

test('without users= a department with users is not deleted, and invalid parameters are named', async () => {
  const { admin, sales } = await createCompany();
  const outsider = await service.createTenant();
  const elsewhere = await outsider.createDepartment();
  const before = await membershipsOf(admin);
  const remove = (query: string) => admin.delete(`${DEPTS}/${sales}${query}`);
  expectError(await remove(''), 409, 'DEPT_HAS_USERS');
  expectError(await remove('?users=move'), 400, 'FIELD_REQUIRED', { field: 'toDeptId' });
  expectError(await remove('?users=delete&toDeptId=1'), 400, 'INVALID_FIELD', { field: 'toDeptId' });
  expectError(await remove('?users=keep'), 400, 'INVALID_FIELD', { field: 'users' });
  expectError(await remove(`?users=move&toDeptId=${sales}`), 400, 'INVALID_FIELD', { field: 'toDeptId' });
  for (const target of [elsewhere, '0', '999999', '9007199254740993']) {
    expectError(await remove(`?users=move&toDeptId=${target}`), 400, 'USER_DEPT_NOT_FOUND', {}, target);
  }
  expectError(await outsider.delete(`${DEPTS}/${sales}?users=delete`), 404, 'DEPT_NOT_FOUND');
  const member = await service.logIn(admin.tenantId, 'main');
  expectError(await member.delete(`${DEPTS}/${sales}?users=delete`), 403, 'NOT_ALLOWED');
  assert.deepEqual(await membershipsOf(admin), before);
});

test('callers cannot delete themselves with their department', async () => {
  const { admin, sales } = await createCompany();
  const me = (await admin.get('/auth/me')).data.user;
  expectOk(await admin.put(USERS, { ...me, deptId: sales }));
  const before = await membershipsOf(admin);
  expectError(await admin.delete(`${DEPTS}/${sales}?users=delete`), 409, 'OWN_USER');
  assert.deepEqual(await membershipsOf(admin), before);
});

test('an administrator of an ancestor cannot delete the last administrator of a tenant with their department', async () => {
  const { admin, sales } = await createCompany();
  const boss = (await admin.get('/auth/me')).data.user;
  expectOk(await admin.put(USERS, { ...boss, deptId: sales }));
  const before = await membershipsOf(admin);
  const path = `${DEPTS}/${sales}?users=delete&tenantId=${admin.tenantId}`;
  expectError(await service.root.delete(path), 409, 'LAST_ADMINISTRATOR');
  assert.deepEqual(await membershipsOf(admin), before);
});

test('a revert restores nothing if the account limit does not allow all users or one of them was changed later', async () => {
  const { admin, sales, other } = await createCompany(5);
  expectOk(await admin.delete(`${DEPTS}/${sales}?users=delete`));
  const change = await latestChange(admin);
  const revert = () => admin.post(`${CHANGES}/${change.id}/revert`);
  const newcomer = await admin.createUser({ userName: 'newcomer' });
  expectError(await revert(), 409, 'ACCOUNT_LIMIT');
  assert.equal((await admin.get(`${DEPTS}/${sales}`)).code, 404);
  expectOk(await admin.delete(`${USERS}/${newcomer}`));
  const { data } = await admin.get(`${USERS}/list?userName=further`);
  expectOk(await admin.put(USERS, { ...data.rows[0], nickName: 'later' }));
  expectError(await revert(), 409, 'CHANGE_CONTRADICTED');
  assert.deepEqual((await membershipsOf(admin)).further, [other]);
  expectOk(await admin.put(USERS, { ...data.rows[0] }));
  expectOk(await revert());
  assert.equal(Object.keys(await membershipsOf(admin)).length, 5);
});

test('a deletion that affects more than 2,000 users is rejected', async () => {
  const admin = await service.createTenant();
  const dept = await admin.createDepartment();
  await service.superuser.begin(async (tx) => {
    // Triggers would record changes, which this test does not need.
    await tx`set local session_replication_role = replica`;
    await tx`
      with added as (
        insert into users (tenant_id, user_name, user_key, password_hash, create_by)
        select ${admin.tenantId}, 'u' || n, 'u' || n, '', 'test' from generate_series(1, 2001) n returning user_id
      )
      insert into user_departments (tenant_id, user_id, dept_id, main)
      select ${admin.tenantId}, user_id, ${dept}, true from added`;
  });
  expectError(await admin.delete(`${DEPTS}/${dept}?users=delete`), 409, 'TOO_MANY_USERS', { limit: 2_000 });
});
