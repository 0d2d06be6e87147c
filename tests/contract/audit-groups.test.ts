import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES, DEPTS, expectError, expectInvalid, expectOk, read, USERS } from '../support/expect.ts';
import { type Client, startService } from '../support/service.ts';

/** The audit log grouped by request, the lists of deleted records, and the feed that is read after `latest`. */

const service = await startService();

interface Row {
  id: number;
  resource: string;
  resourceId: string;
  action: string;
  batch: number;
  counts?: { resource: string; action: string; count: number }[];
}

const list = async (client: Client, query: string): Promise<{ rows: Row[]; next: string | null }> =>
  read(client, `${CHANGES}/list?below=false&${query}`);

/** Creates a department with two below it, which have three users, and deletes all of them with one request. */
async function deleteSubtree() {
  const admin = await service.createTenant();
  const top = await admin.createDepartment({ deptName: 'top' });
  const [a, b] = [await admin.createDepartment({ parentId: top }), await admin.createDepartment({ parentId: top })];
  const users = await Promise.all([a, a, b].map((deptId, n) => admin.createUser({ userName: `user${n}`, deptId })));
  expectOk(await admin.delete(`${DEPTS}/${top}?subtree=true&users=delete`));
  return { admin, top, departments: [top, a, b], users };
}

test('a grouped audit log has one row for each request, which counts all of its changes', async () => {
  const { admin } = await deleteSubtree();
  const { rows } = await list(admin, 'grouped=true');
  const [deletion] = rows;
  assert.deepEqual(
    deletion?.counts?.toSorted((a, b) => a.count - b.count || a.resource.localeCompare(b.resource)),
    [
      { resource: 'department', action: 'deleted', count: 3 },
      { resource: 'user', action: 'deleted', count: 3 },
    ],
  );
  assert.equal(new Set(rows.map(({ batch }) => batch)).size, rows.length);
  const { rows: single } = await list(admin, '');
  assert.equal(new Set(single.map(({ batch }) => batch)).size, rows.length);
  assert.ok(single.every(({ counts }) => counts === undefined));
});

test('a filter finds the requests that made a matching change, and each row counts all changes of its request', async () => {
  const { admin, top } = await deleteSubtree();
  const { rows } = await list(admin, `grouped=true&resource=department&resourceId=${top}`);
  assert.deepEqual(
    rows.map(({ resourceId, action }) => [resourceId, action]),
    [
      [String(top), 'deleted'],
      [String(top), 'created'],
    ],
  );
  assert.equal(
    rows[0]?.counts?.reduce((sum, { count }) => sum + count, 0),
    6,
  );
  assert.deepEqual(rows[1]?.counts, [{ resource: 'department', action: 'created', count: 1 }]);
});

test('a request that caused a notice is represented by what it changed, and its row counts the notice', async () => {
  const admin = await service.createTenant();
  expectOk(await service.root.put(`/system/quota-api/storage?tenantId=${admin.tenantId}`, { total: 10, used: 9 }));
  const {
    rows: [row],
  } = await list(admin, 'grouped=true');
  assert.deepEqual(
    [row?.resource, row?.counts?.map(({ resource, count }) => `${count} ${resource}`).sort()],
    ['quota', ['1 notice', '1 quota']],
  );
  const { rows: notices } = await list(admin, 'grouped=true&resource=notice');
  assert.deepEqual(
    notices.map(({ resource }) => resource),
    ['notice'],
  );
});

test('pages of a grouped audit log neither repeat nor omit a request', async () => {
  const { admin } = await deleteSubtree();
  const all = (await list(admin, 'grouped=true')).rows.map(({ id }) => id);
  const paged: number[] = [];
  for (let cursor = ''; ; ) {
    const { rows, next } = await list(admin, `grouped=true&limit=2&cursor=${cursor}`);
    paged.push(...rows.map(({ id }) => id));
    if (next === null) break;
    cursor = next;
  }
  assert.deepEqual(paged, all);
});

test('a grouped audit log counts a change of a tenant once, although its parent has a copy', async () => {
  const parent = await service.createTenant();
  const child = await service.createTenant({ tenantName: 'child' }, parent);
  expectOk(await parent.patch(`/system/tenant-api/${child.id}`, { tenantName: 'renamed' }));
  for (const below of [true, false]) {
    const { rows } = await read(parent, `${CHANGES}/list?below=${below}&grouped=true&resource=tenant&action=updated`);
    assert.deepEqual(
      rows.map(({ resourceId, counts }: Row) => [resourceId, counts]),
      [[child.id, [{ resource: 'tenant', action: 'updated', count: 1 }]]],
    );
  }
});

test('action=deleted with latest=true lists the records that are deleted now, without those that were restored', async () => {
  const { admin, departments, users } = await deleteSubtree();
  const deleted = async (resource: string) =>
    (await list(admin, `resource=${resource}&action=deleted&latest=true`)).rows
      .map(({ resourceId }) => Number(resourceId))
      .toSorted((a, b) => a - b);
  const sorted = (ids: (string | number)[]) => ids.map(Number).toSorted((a, b) => a - b);
  assert.deepEqual(await deleted('department'), sorted(departments));
  assert.deepEqual(await deleted('user'), sorted(users));
  expectOk(await admin.post(`${USERS}/${users[0]}/restore`));
  assert.deepEqual(await deleted('user'), sorted(users.slice(1)));
  expectOk(await admin.delete(`${USERS}/${users[0]}`));
  assert.deepEqual(await deleted('user'), sorted(users));
});

test('a deleted department stays listed when a user with the same id changes later', async () => {
  const admin = await service.createTenant();
  const { superuser } = service;
  await superuser`select setval('banyan.dept_serial', 8000000), setval('banyan.user_serial', 8000000)`;
  const [dept, user] = [await admin.createDepartment(), await admin.createUser({ userName: 'same-id' })];
  assert.equal(dept, user);
  expectOk(await admin.delete(`${DEPTS}/${dept}`));
  expectOk(await admin.patch(`${USERS}/${user}`, { nickName: 'changed' }));
  const { rows } = await list(admin, 'resource=department&action=deleted&latest=true');
  assert.deepEqual(
    rows.map(({ resourceId }) => resourceId),
    [dept],
  );
});

test('a deleted child tenant is listed for its parent, and not for an unrelated tenant', async () => {
  const [parent, outsider] = [await service.createTenant(), await service.createTenant()];
  const child = await service.createTenant({ tenantName: 'child' }, parent);
  expectOk(await parent.delete(`/system/tenant-api/${child.id}`));
  const deleted = async (client: Client) =>
    (await list(client, 'resource=tenant&action=deleted&latest=true')).rows.map(({ resourceId }) => resourceId);
  assert.deepEqual(await deleted(parent), [child.id]);
  assert.deepEqual(await deleted(outsider), []);
  expectError(
    await outsider.get(`${CHANGES}/list?tenantId=${parent.tenantId}&action=deleted&latest=true&grouped=true`),
    403,
    'OTHER_TENANT',
  );
});

test('the feed after `latest` begins with the next change, also with below=true, and other words are rejected', async () => {
  const { admin } = await deleteSubtree();
  for (const below of ['', '&below=true']) {
    const { rows, next } = await read(admin, `${CHANGES}?after=latest${below}`);
    assert.deepEqual(rows, []);
    const id = await admin.createDepartment({ deptName: 'next' });
    const { rows: later } = await read(admin, `${CHANGES}?after=${next}${below}`);
    assert.deepEqual(
      later.map(({ resource, resourceId }: Row) => [resource, resourceId]),
      [['department', String(id)]],
    );
  }
  expectInvalid(await admin.get(`${CHANGES}?after=now`), 'after');
  expectInvalid(await admin.get(`${CHANGES}/stream?after=now`), 'after');
});
