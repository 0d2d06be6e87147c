import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectOk, read, TENANTS, USERS } from '../support/expect.ts';
import { type Client, shareService } from '../support/service.ts';

/** The tree of tenants: which tenants an administrator manages, how tenants move, and how they are deleted. */

const service = await shareService();
const { root, superuser } = service;
const NO_TENANT = '999999999999';

type Tenant = Awaited<ReturnType<typeof service.createTenant>>;
const createBelow = (admin: Client) => service.createTenant({}, admin);
const readBy = (admin: Client, { id }: Tenant) => admin.get(`${TENANTS}/${id}`);
/** The codes from 000000 down to the tenant, as stored in the database. */
const pathOf = async ({ tenantId }: { tenantId: string }): Promise<string[]> =>
  (await superuser`select path from tenants where tenant_id = ${tenantId}`)[0]?.path;
const codes = (...tenants: Client[]) => ['000000', ...tenants.map(({ tenantId }) => tenantId)];

// 000000 ─ north ─ city ─ shop ─ stall
//        │       └ town
//        └ south ─ port
const north = await createBelow(root);
const city = await createBelow(north);
const shop = await createBelow(city);
const stall = await createBelow(shop);
const town = await createBelow(north);
const south = await createBelow(root);
const port = await createBelow(south);

describe('Tenants that an administrator manages', () => {
  const full = { read: 200, change: 200 };
  const readOnly = { read: 200, change: 403 };
  const none = { read: 404, change: 404 };
  const rows: [callerName: string, caller: Client, relation: string, tenant: Tenant, allowed: typeof full][] = [
    ['city', city, 'its own tenant', city, readOnly],
    ['city', city, 'its child', shop, full],
    ['city', city, 'a deep descendant', stall, full],
    ['city', city, 'a sibling', town, none],
    ['city', city, 'its parent', north, none],
    ['city', city, 'the root of another subtree', south, none],
    ['city', city, 'a tenant deep in another subtree', port, none],
    ['north', north, 'its own tenant', north, readOnly],
    ['north', north, 'a deep descendant', stall, full],
    ['north', north, 'a sibling', south, none],
    ['north', north, 'the child of a sibling', port, none],
    ['stall', stall, 'its own tenant', stall, readOnly],
    ['stall', stall, 'its parent', shop, none],
    ['stall', stall, 'a distant ancestor', north, none],
    ['000000', root, 'a deep descendant', stall, full],
    ['000000', root, 'a descendant in another subtree', port, full],
  ];
  for (const [callerName, caller, relation, tenant, allowed] of rows) {
    const can = (code: number) => (code === 200 ? 'can' : 'cannot');
    test(`${callerName} ${can(allowed.read)} read and ${can(allowed.change)} change ${relation}`, async () => {
      const before = await read(root, `${TENANTS}/${tenant.id}`);
      assert.equal((await readBy(caller, tenant)).code, allowed.read);
      const change = await caller.put(TENANTS, { ...before, companyName: `changed by ${callerName}` });
      const after = await read(root, `${TENANTS}/${tenant.id}`);
      if (allowed.change === 200) {
        expectOk(change);
        assert.deepEqual(after, { ...before, companyName: `changed by ${callerName}` });
        return;
      }
      const reason = allowed.change === 403 ? 'OWN_TENANT' : 'TENANT_NOT_FOUND';
      expectError(change, allowed.change, reason);
      expectError(await caller.delete(`${TENANTS}/${tenant.id}`), allowed.change, reason);
      assert.deepEqual(await read(root, `${TENANTS}/${tenant.id}`), before);
    });
  }

  test('a tenant that the caller does not manage and an unknown tenant return the same error', async () => {
    const missing = '1234567890123456789';
    for (const tenant of [north, town, port]) {
      assert.equal((await readBy(city, tenant)).text, (await city.get(`${TENANTS}/${missing}`)).text);
      const responses = [tenant.id, missing].map(async (id) => (await city.put(TENANTS, { id })).text);
      assert.equal(await responses[0], await responses[1]);
    }
  });

  test('an administrator cannot change their own tenant, not even in 000000', async () => {
    const { rows } = await read(root, `${TENANTS}/list?tenantId=000000&fields=ruleBo`);
    expectError(await root.put(TENANTS, { ...rows[0], accountCount: 5 }), 403, 'OWN_TENANT');
    assert.deepEqual(await read(root, `${TENANTS}/${rows[0].id}`), rows[0]);
  });

  test('a later administrator of a tenant has the same permissions as the first', async () => {
    await south.createUser({ userName: 'second', roles: ['admin'] });
    const second = await service.logIn(south.tenantId, 'second');
    const id = await second.create(TENANTS, {});
    expectOk(await second.put(TENANTS, { id, tenantName: 'x' }));
    expectOk(await second.delete(`${TENANTS}/${id}`));
    expectError(await second.put(TENANTS, { id: south.id }), 403, 'OWN_TENANT');
  });

  test('an administrator manages the departments and users of their tenant', async () => {
    const deptId = await city.createDepartment({ deptName: 'x' });
    const userId = await city.createUser({ userName: 'worker', deptId });
    expectOk(await city.delete(`${USERS}/${userId}`));
    expectOk(await city.delete(`${DEPTS}/${deptId}`));
  });
});

describe('tenantParent on create', () => {
  test('a missing or null tenantParent means the tenant of the caller', async () => {
    for (const tenantParent of [undefined, null]) {
      const id = await city.create(TENANTS, { tenantParent });
      assert.equal((await read(city, `${TENANTS}/${id}`)).tenantParent, city.tenantId);
    }
  });

  for (const [where, parent] of [
    ['the tenant of the caller', city] as const,
    ['a child', shop] as const,
    ['a descendant', stall] as const,
  ]) {
    test(`a tenant can be created below ${where}`, async () => {
      const id = await city.create(TENANTS, { tenantParent: parent.tenantId });
      const { tenantId, tenantParent } = await read(city, `${TENANTS}/${id}`);
      assert.equal(tenantParent, parent.tenantId);
      assert.deepEqual(await pathOf({ tenantId }), [...(await pathOf(parent)), tenantId]);
    });
  }

  const foreign = { 'the parent': north.tenantId, 'a sibling': town.tenantId, 'another subtree': port.tenantId };
  for (const [where, tenantParent] of Object.entries({ ...foreign, '000000': '000000' })) {
    test(`creating a tenant below ${where} is rejected with TENANT_PARENT_FORBIDDEN`, async () => {
      expectError(await city.post(TENANTS, { tenantParent }), 403, 'TENANT_PARENT_FORBIDDEN');
    });
  }

  test('creating a tenant below an unknown, deleted or malformed code is rejected with 400', async () => {
    const deleted = await createBelow(city);
    expectOk(await city.delete(`${TENANTS}/${deleted.id}`));
    for (const tenantParent of [NO_TENANT, deleted.tenantId]) {
      expectError(await city.post(TENANTS, { tenantParent }), 400, 'TENANT_PARENT_NOT_FOUND');
      expectError(await port.post(TENANTS, { tenantParent }), 400, 'TENANT_PARENT_NOT_FOUND');
    }
    for (const tenantParent of ['', 'x', '1', 100000]) {
      expectError(await city.post(TENANTS, { tenantParent }), 400, 'INVALID_FIELD', { field: 'tenantParent' });
    }
  });
});

describe('tenantParent on update', () => {
  test('a tenant does not move when tenantParent is missing, null or unchanged', async () => {
    for (const tenantParent of [undefined, null, city.tenantId]) {
      expectOk(await north.put(TENANTS, { id: shop.id, tenantParent }));
      assert.equal((await readBy(north, shop)).data.tenantParent, city.tenantId);
      assert.deepEqual(await pathOf(shop), codes(north, city, shop));
    }
  });

  test('a new tenantParent moves the tenant with all its descendants, including deleted ones', async () => {
    const [from, to] = [await createBelow(north), await createBelow(south)];
    const moved = await createBelow(from);
    const [left, right] = [await createBelow(moved), await createBelow(moved)];
    const leaf = await createBelow(left);
    const deleted = await createBelow(right);
    const stays = await createBelow(from);
    expectOk(await root.delete(`${TENANTS}/${deleted.id}`));

    expectOk(await root.put(TENANTS, { id: moved.id, tenantName: 'moved', tenantParent: to.tenantId }));

    const { tenantParent, tenantName } = (await readBy(root, moved)).data;
    assert.deepEqual([tenantParent, tenantName], [to.tenantId, 'moved']);
    assert.deepEqual(await pathOf(moved), codes(south, to, moved));
    assert.deepEqual(await pathOf(left), codes(south, to, moved, left));
    assert.deepEqual(await pathOf(leaf), codes(south, to, moved, left, leaf));
    assert.deepEqual(await pathOf(right), codes(south, to, moved, right));
    assert.deepEqual(await pathOf(deleted), codes(south, to, moved, right, deleted));
    assert.deepEqual(await pathOf(stays), codes(north, from, stays));
    assert.equal((await readBy(root, leaf)).data.tenantParent, left.tenantId);
  });

  test('a move takes effect at once for the permissions of the old and new parents and their ancestors', async () => {
    const [from, to] = [await createBelow(north), await createBelow(south)];
    const moved = await createBelow(from);
    const leaf = await createBelow(moved);
    const readableBy = (admin: Client) =>
      Promise.all([moved, leaf].map(async (tenant) => (await readBy(admin, tenant)).code)).then((codes) =>
        codes.join(),
      );
    const listUsers = async (admin: Client) => (await admin.get(`${USERS}/list?tenantId=${leaf.tenantId}`)).code;

    expectOk(await root.put(TENANTS, { id: moved.id, tenantParent: to.tenantId }));

    for (const former of [from, north])
      assert.deepEqual([await readableBy(former), await listUsers(former)], ['404,404', 403]);
    for (const current of [to, south, root])
      assert.deepEqual([await readableBy(current), await listUsers(current)], ['200,200', 200]);
    assert.equal(await readableBy(moved), '200,200');
    expectOk(await to.put(TENANTS, { id: leaf.id, tenantName: 'ours now' }));
    expectError(await from.put(TENANTS, { id: leaf.id }), 404, 'TENANT_NOT_FOUND');
  });

  test('an administrator can move tenants anywhere below their own tenant', async () => {
    const admin = await createBelow(north);
    const [one, two] = [await createBelow(admin), await createBelow(admin)];
    expectOk(await admin.put(TENANTS, { id: two.id, tenantParent: one.tenantId }));
    assert.deepEqual(await pathOf(two), codes(north, admin, one, two));
    expectOk(await admin.put(TENANTS, { id: two.id, tenantParent: admin.tenantId }));
    assert.deepEqual(await pathOf(two), codes(north, admin, two));
    expectOk(await admin.put(TENANTS, { id: one.id, tenantParent: two.tenantId }));
    assert.deepEqual(await pathOf(one), codes(north, admin, two, one));
  });

  const rejected: [what: string, parent: string, status: number, reason: string][] = [
    ['itself', shop.tenantId, 409, 'TENANT_CYCLE'],
    ['its child', stall.tenantId, 409, 'TENANT_CYCLE'],
    ['a parent of the caller', north.tenantId, 403, 'TENANT_PARENT_FORBIDDEN'],
    ['000000', '000000', 403, 'TENANT_PARENT_FORBIDDEN'],
    ['a sibling of the caller', town.tenantId, 403, 'TENANT_PARENT_FORBIDDEN'],
    ['a tenant of another subtree', port.tenantId, 403, 'TENANT_PARENT_FORBIDDEN'],
    ['an unknown tenant', NO_TENANT, 400, 'TENANT_PARENT_NOT_FOUND'],
  ];
  for (const [what, tenantParent, status, reason] of rejected) {
    test(`moving a tenant below ${what} is rejected with ${reason} and changes nothing`, async () => {
      const before = (await readBy(city, shop)).data;
      expectError(await city.put(TENANTS, { id: shop.id, tenantName: 'x', tenantParent }), status, reason);
      assert.deepEqual((await readBy(city, shop)).data, before);
      assert.deepEqual(await pathOf(shop), codes(north, city, shop));
    });
  }

  test('moving a tenant below a descendant is rejected with TENANT_CYCLE', async () => {
    const leaf = await createBelow(stall);
    for (const { tenantId: tenantParent } of [shop, stall, leaf]) {
      expectError(await root.put(TENANTS, { id: city.id, tenantParent }), 409, 'TENANT_CYCLE');
    }
    assert.deepEqual(await pathOf(leaf), codes(north, city, shop, stall, leaf));
  });

  test('moving a tenant below a deleted tenant is rejected', async () => {
    const deleted = await createBelow(city);
    expectOk(await city.delete(`${TENANTS}/${deleted.id}`));
    expectError(
      await city.put(TENANTS, { id: shop.id, tenantParent: deleted.tenantId }),
      400,
      'TENANT_PARENT_NOT_FOUND',
    );
  });
});

describe('Deleting a tenant', () => {
  test('a deleted tenant is hidden from every caller, but its rows are kept', async () => {
    const deleted = await createBelow(city);
    const deptId = await deleted.createDepartment({ deptName: 'kept' });
    expectOk(await city.delete(`${TENANTS}/${deleted.id}`));
    for (const admin of [city, north, root]) {
      expectError(await readBy(admin, deleted), 404, 'TENANT_NOT_FOUND');
      expectError(await admin.put(TENANTS, { id: deleted.id }), 404, 'TENANT_NOT_FOUND');
      expectError(await admin.delete(`${TENANTS}/${deleted.id}`), 404, 'TENANT_NOT_FOUND');
      expectError(await admin.get(`${USERS}/list?tenantId=${deleted.tenantId}`), 403, 'OTHER_TENANT');
    }
    const rows = await superuser`
      select t.del_flag, d.dept_id, u.user_name from tenants t join departments d using (tenant_id)
      join users u using (tenant_id) where t.id = ${deleted.id}`;
    assert.deepEqual([...rows], [{ del_flag: '2', dept_id: Number(deptId), user_name: 'boss' }]);
  });

  test('a tenant with children, also disabled ones, cannot be deleted until they are deleted or moved', async () => {
    const parent = await createBelow(city);
    const child = await createBelow(parent);
    expectOk(await city.put(TENANTS, { id: child.id, status: '1' }));
    expectError(await city.delete(`${TENANTS}/${parent.id}`), 409, 'TENANT_HAS_CHILDREN');
    assert.equal((await readBy(city, parent)).code, 200);
    expectOk(await city.delete(`${TENANTS}/${child.id}`));
    const other = await createBelow(parent);
    expectError(await city.delete(`${TENANTS}/${parent.id}`), 409, 'TENANT_HAS_CHILDREN');
    expectOk(await city.put(TENANTS, { id: other.id, tenantParent: city.tenantId }));
    expectOk(await city.delete(`${TENANTS}/${parent.id}`));
    assert.equal((await readBy(city, other)).code, 200);
  });

  test('an administrator cannot delete their own tenant, not even 000000', async () => {
    const { rows } = await read(root, `${TENANTS}/list?tenantId=000000`);
    expectError(await root.delete(`${TENANTS}/${rows[0].id}`), 403, 'OWN_TENANT');
    const alone = await createBelow(south);
    expectError(await alone.delete(`${TENANTS}/${alone.id}`), 403, 'OWN_TENANT');
    assert.equal((await read(alone, `${TENANTS}/${alone.id}`)).id, alone.id);
  });
});
