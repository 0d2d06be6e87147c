import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectOk, read, TENANTS, USERS } from '../support/expect.ts';
import { type Client, startService } from '../support/service.ts';

/** The decisions on tenants that speak of their tree: who manages what, where a tenant may be, and its end. */

const service = await startService();
const { root, superuser } = service;
const NO_TENANT = '999999999999';

type Boss = Awaited<ReturnType<typeof service.createTenant>>;
const below = (boss: Client) => service.createTenant({}, boss);
const readBy = (boss: Client, { id }: Boss) => boss.get(`${TENANTS}/${id}`);
/** Codes from 000000 down to the tenant, as the database has them. */
const pathOf = async ({ tenantId }: { tenantId: string }): Promise<string[]> =>
  (await superuser`select path from tenants where tenant_id = ${tenantId}`)[0]?.path;
const codes = (...tenants: Client[]) => ['000000', ...tenants.map(({ tenantId }) => tenantId)];

// 000000 ─ north ─ city ─ shop ─ stall
//        │       └ town
//        └ south ─ port
const north = await below(root);
const city = await below(north);
const shop = await below(city);
const stall = await below(shop);
const town = await below(north);
const south = await below(root);
const port = await below(south);

describe('one tree of tenants: whom an administrator manages', () => {
  const may = { read: 200, change: 200 };
  const own = { read: 200, change: 403 };
  const not = { read: 404, change: 404 };
  const rows: [who: string, caller: Client, whom: string, tenant: Boss, allowed: typeof may][] = [
    ['city', city, 'its own', city, own],
    ['city', city, 'the one below', shop, may],
    ['city', city, 'the one deep below', stall, may],
    ['city', city, 'a sibling', town, not],
    ['city', city, 'the one above', north, not],
    ['city', city, "another branch's", south, not],
    ['city', city, 'one deep in another branch', port, not],
    ['north', north, 'its own', north, own],
    ['north', north, 'the one deep below', stall, may],
    ['north', north, 'a sibling', south, not],
    ['north', north, 'the child of a sibling', port, not],
    ['stall', stall, 'its own', stall, own],
    ['stall', stall, 'the one above', shop, not],
    ['stall', stall, 'the one high above', north, not],
    ['000000', root, 'the one deep below', stall, may],
    ['000000', root, 'one of each branch', port, may],
  ];
  for (const [who, caller, whom, tenant, allowed] of rows) {
    const say = (code: number) => (code === 200 ? 'may' : 'may not');
    test(`${who}, ${whom}: ${say(allowed.read)} read, ${say(allowed.change)} change`, async () => {
      const before = await read(root, `${TENANTS}/${tenant.id}`);
      assert.equal((await readBy(caller, tenant)).code, allowed.read);
      const change = await caller.put(TENANTS, { ...before, companyName: `changed by ${who}` });
      const after = await read(root, `${TENANTS}/${tenant.id}`);
      if (allowed.change === 200) {
        expectOk(change);
        assert.deepEqual(after, { ...before, companyName: `changed by ${who}` });
        return;
      }
      const reason = allowed.change === 403 ? 'OWN_TENANT' : 'TENANT_NOT_FOUND';
      expectError(change, allowed.change, reason);
      expectError(await caller.delete(`${TENANTS}/${tenant.id}`), allowed.change, reason);
      assert.deepEqual(await read(root, `${TENANTS}/${tenant.id}`), before);
    });
  }

  test('a tenant out of reach is never told apart from a missing one', async () => {
    const missing = '1234567890123456789';
    for (const tenant of [north, town, port]) {
      assert.equal((await readBy(city, tenant)).text, (await city.get(`${TENANTS}/${missing}`)).text);
      const answers = [tenant.id, missing].map(async (id) => (await city.put(TENANTS, { id })).text);
      assert.equal(await answers[0], await answers[1]);
    }
  });

  test('no one widens his own quotas, not even in 000000', async () => {
    const { rows } = await read(root, `${TENANTS}/list?tenantId=000000`);
    expectError(await root.put(TENANTS, { ...rows[0], accountCount: 5 }), 403, 'OWN_TENANT');
    assert.deepEqual(await read(root, `${TENANTS}/${rows[0].id}`), rows[0]);
  });

  test('every administrator of a tenant is alike, whether its first or a later one', async () => {
    await south.createUser({ userName: 'second', roles: ['admin'] });
    const second = await service.logIn(south.tenantId, 'second');
    const id = await second.create(TENANTS, {});
    expectOk(await second.put(TENANTS, { id, tenantName: 'x' }));
    expectOk(await second.delete(`${TENANTS}/${id}`));
    expectError(await second.put(TENANTS, { id: south.id }), 403, 'OWN_TENANT');
  });

  test('he manages its departments and users', async () => {
    const deptId = await city.createDepartment({ deptName: 'x' });
    const userId = await city.createUser({ userName: 'worker', deptId });
    expectOk(await city.delete(`${USERS}/${userId}`));
    expectOk(await city.delete(`${DEPTS}/${deptId}`));
  });
});

describe('tenantParent on create', () => {
  test("absent or null: the caller's tenant", async () => {
    for (const tenantParent of [undefined, null]) {
      const id = await city.create(TENANTS, { tenantParent });
      assert.equal((await read(city, `${TENANTS}/${id}`)).tenantParent, city.tenantId);
    }
  });

  for (const [where, parent] of [
    ['his own', city] as const,
    ['below', shop] as const,
    ['deep below', stall] as const,
  ]) {
    test(`${where}: a child of that tenant`, async () => {
      const id = await city.create(TENANTS, { tenantParent: parent.tenantId });
      const { tenantId, tenantParent } = await read(city, `${TENANTS}/${id}`);
      assert.equal(tenantParent, parent.tenantId);
      assert.deepEqual(await pathOf({ tenantId }), [...(await pathOf(parent)), tenantId]);
    });
  }

  const foreign = { 'above him': north.tenantId, 'a sibling': town.tenantId, elsewhere: port.tenantId };
  for (const [where, tenantParent] of Object.entries({ ...foreign, '000000': '000000' })) {
    test(`${where}: 403, it exists but is not his`, async () => {
      expectError(await city.post(TENANTS, { tenantParent }), 403, 'TENANT_PARENT_FORBIDDEN');
    });
  }

  test('none of that code, or a deleted one: 400', async () => {
    const gone = await below(city);
    expectOk(await city.delete(`${TENANTS}/${gone.id}`));
    for (const tenantParent of [NO_TENANT, gone.tenantId]) {
      expectError(await city.post(TENANTS, { tenantParent }), 400, 'TENANT_PARENT_NOT_FOUND');
      expectError(await port.post(TENANTS, { tenantParent }), 400, 'TENANT_PARENT_NOT_FOUND');
    }
    for (const tenantParent of ['', 'x', '1', 100000]) {
      expectError(await city.post(TENANTS, { tenantParent }), 400, 'INVALID_FIELD', { field: 'tenantParent' });
    }
  });
});

describe('tenantParent on update', () => {
  test('absent, null or the same: the tenant stays', async () => {
    for (const tenantParent of [undefined, null, city.tenantId]) {
      expectOk(await north.put(TENANTS, { id: shop.id, tenantParent }));
      assert.equal((await readBy(north, shop)).data.tenantParent, city.tenantId);
      assert.deepEqual(await pathOf(shop), codes(north, city, shop));
    }
  });

  test('sent: moves the tenant with all below it, deleted ones too; nothing else moves', async () => {
    const [from, to] = [await below(north), await below(south)];
    const moved = await below(from);
    const [left, right] = [await below(moved), await below(moved)];
    const leaf = await below(left);
    const gone = await below(right);
    const stays = await below(from);
    expectOk(await root.delete(`${TENANTS}/${gone.id}`));

    expectOk(await root.put(TENANTS, { id: moved.id, tenantName: 'moved', tenantParent: to.tenantId }));

    const { tenantParent, tenantName } = (await readBy(root, moved)).data;
    assert.deepEqual([tenantParent, tenantName], [to.tenantId, 'moved']);
    assert.deepEqual(await pathOf(moved), codes(south, to, moved));
    assert.deepEqual(await pathOf(left), codes(south, to, moved, left));
    assert.deepEqual(await pathOf(leaf), codes(south, to, moved, left, leaf));
    assert.deepEqual(await pathOf(right), codes(south, to, moved, right));
    assert.deepEqual(await pathOf(gone), codes(south, to, moved, right, gone));
    assert.deepEqual(await pathOf(stays), codes(north, from, stays));
    assert.equal((await readBy(root, leaf)).data.tenantParent, left.tenantId);
  });

  test('sent: reach follows at once, for the old parent, the new one, and those above both', async () => {
    const [from, to] = [await below(north), await below(south)];
    const moved = await below(from);
    const leaf = await below(moved);
    const reaches = (boss: Client) =>
      Promise.all([moved, leaf].map(async (tenant) => (await readBy(boss, tenant)).code)).then((codes) => codes.join());
    const users = async (boss: Client) => (await boss.get(`${USERS}/list?tenantId=${leaf.tenantId}`)).code;

    expectOk(await root.put(TENANTS, { id: moved.id, tenantParent: to.tenantId }));

    for (const old of [from, north]) assert.deepEqual([await reaches(old), await users(old)], ['404,404', 403]);
    for (const now of [to, south, root]) assert.deepEqual([await reaches(now), await users(now)], ['200,200', 200]);
    assert.equal(await reaches(moved), '200,200');
    expectOk(await to.put(TENANTS, { id: leaf.id, tenantName: 'ours now' }));
    expectError(await from.put(TENANTS, { id: leaf.id }), 404, 'TENANT_NOT_FOUND');
  });

  test("sent: up and down within the caller's reach, to his own tenant too", async () => {
    const boss = await below(north);
    const [one, two] = [await below(boss), await below(boss)];
    expectOk(await boss.put(TENANTS, { id: two.id, tenantParent: one.tenantId }));
    assert.deepEqual(await pathOf(two), codes(north, boss, one, two));
    expectOk(await boss.put(TENANTS, { id: two.id, tenantParent: boss.tenantId }));
    assert.deepEqual(await pathOf(two), codes(north, boss, two));
    expectOk(await boss.put(TENANTS, { id: one.id, tenantParent: two.tenantId }));
    assert.deepEqual(await pathOf(one), codes(north, boss, two, one));
  });

  const refusals: [what: string, parent: string, status: number, reason: string][] = [
    ['itself: never into a cycle', shop.tenantId, 409, 'TENANT_CYCLE'],
    ['its child: never into a cycle', stall.tenantId, 409, 'TENANT_CYCLE'],
    ["one above the caller: never out of the caller's reach", north.tenantId, 403, 'TENANT_PARENT_FORBIDDEN'],
    ["000000: never out of the caller's reach", '000000', 403, 'TENANT_PARENT_FORBIDDEN'],
    ["a sibling of the caller: never out of the caller's reach", town.tenantId, 403, 'TENANT_PARENT_FORBIDDEN'],
    ["one of another branch: never out of the caller's reach", port.tenantId, 403, 'TENANT_PARENT_FORBIDDEN'],
    ['a tenant that is not', NO_TENANT, 400, 'TENANT_PARENT_NOT_FOUND'],
  ];
  for (const [what, tenantParent, status, reason] of refusals) {
    test(`under ${what}: ${status}, and nothing has changed`, async () => {
      const before = (await readBy(city, shop)).data;
      expectError(await city.put(TENANTS, { id: shop.id, tenantName: 'x', tenantParent }), status, reason);
      assert.deepEqual((await readBy(city, shop)).data, before);
      assert.deepEqual(await pathOf(shop), codes(north, city, shop));
    });
  }

  test('under one deep below it: never into a cycle', async () => {
    const leaf = await below(stall);
    for (const { tenantId: tenantParent } of [shop, stall, leaf]) {
      expectError(await root.put(TENANTS, { id: city.id, tenantParent }), 409, 'TENANT_CYCLE');
    }
    assert.deepEqual(await pathOf(leaf), codes(north, city, shop, stall, leaf));
  });

  test('under a deleted tenant: 400', async () => {
    const gone = await below(city);
    expectOk(await city.delete(`${TENANTS}/${gone.id}`));
    expectError(await city.put(TENANTS, { id: shop.id, tenantParent: gone.tenantId }), 400, 'TENANT_PARENT_NOT_FOUND');
  });
});

describe('delete', () => {
  test('logical: gone for every caller, while the record and what it had are kept', async () => {
    const gone = await below(city);
    const deptId = await gone.createDepartment({ deptName: 'kept' });
    expectOk(await city.delete(`${TENANTS}/${gone.id}`));
    for (const boss of [city, north, root]) {
      expectError(await readBy(boss, gone), 404, 'TENANT_NOT_FOUND');
      expectError(await boss.put(TENANTS, { id: gone.id }), 404, 'TENANT_NOT_FOUND');
      expectError(await boss.delete(`${TENANTS}/${gone.id}`), 404, 'TENANT_NOT_FOUND');
      expectError(await boss.get(`${USERS}/list?tenantId=${gone.tenantId}`), 403, 'OTHER_TENANT');
    }
    const rows = await superuser`
      select t.del_flag, d.dept_id, u.user_name from tenants t join departments d using (tenant_id)
      join users u using (tenant_id) where t.id = ${gone.id}`;
    assert.deepEqual([...rows], [{ del_flag: '2', dept_id: Number(deptId), user_name: 'boss' }]);
  });

  test('409 with child tenants, disabled ones too; deleted and moved ones no longer count', async () => {
    const parent = await below(city);
    const child = await below(parent);
    expectOk(await city.put(TENANTS, { id: child.id, status: '1' }));
    expectError(await city.delete(`${TENANTS}/${parent.id}`), 409, 'TENANT_HAS_CHILDREN');
    assert.equal((await readBy(city, parent)).code, 200);
    expectOk(await city.delete(`${TENANTS}/${child.id}`));
    const other = await below(parent);
    expectError(await city.delete(`${TENANTS}/${parent.id}`), 409, 'TENANT_HAS_CHILDREN');
    expectOk(await city.put(TENANTS, { id: other.id, tenantParent: city.tenantId }));
    expectOk(await city.delete(`${TENANTS}/${parent.id}`));
    assert.equal((await readBy(city, other)).code, 200);
  });

  test("403 for 000000 and the caller's own", async () => {
    const { rows } = await read(root, `${TENANTS}/list?tenantId=000000`);
    expectError(await root.delete(`${TENANTS}/${rows[0].id}`), 403, 'OWN_TENANT');
    const alone = await below(south);
    expectError(await alone.delete(`${TENANTS}/${alone.id}`), 403, 'OWN_TENANT');
    assert.equal((await read(alone, `${TENANTS}/${alone.id}`)).id, alone.id);
  });
});
