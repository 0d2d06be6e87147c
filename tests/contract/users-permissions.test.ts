import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, me, read, USERS } from '../support/expect.ts';
import { type Client, PASSWORD, shareService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

/** Permissions to manage users, and the rules for deleting users. */

const service = await shareService();
const { root, superuser } = service;
const NO_TENANT = '999999999999';

// 000000 ─ north ─ city ─ shop
//        │       └ town
//        └ south
const north = await service.createTenant();
const city = await service.createTenant({}, north);
const shop = await service.createTenant({}, city);
const town = await service.createTenant({}, north);
const south = await service.createTenant();
let count = 0;
const createUser = (client: Client, body: Record<string, unknown> = {}) =>
  client.createUser({ userName: `user${++count}`, ...body });
const { tenantId } = city;

describe('Permissions', () => {
  for (const [tenant, caller] of Object.entries({ 'that tenant': city, 'its parent': north, '000000': root })) {
    test(`the users of a tenant can be managed by administrators of ${tenant}, with tenantId in the body or query`, async () => {
      const id = await createUser(caller, { tenantId, nickName: 'new' });
      const [theirs, ours] = [`${USERS}/${id}?tenantId=${tenantId}`, `${USERS}/${id}`];
      assert.deepEqual(await read(caller, theirs), await read(city, ours));
      assert.equal((await read(city, ours)).tenantId, tenantId);
      assert.ok((await read(caller, `${USERS}/list?tenantId=${tenantId}&pageSize=500`)).total > 0);
      expectOk(await caller.put(USERS, { userId: id, tenantId, nickName: 'changed' }));
      assert.equal((await read(city, ours)).nickName, 'changed');
      expectOk(await caller.delete(theirs));
      expectError(await city.get(ours), 404, 'USER_NOT_FOUND');
    });
  }

  test('POST and PUT accept tenantId in the query instead of the body', async () => {
    const body = { userName: 'queried', password: PASSWORD };
    const { headers } = expectOk(await north.post(`${USERS}?tenantId=${tenantId}`, body));
    assert.equal((await read(north, `${USERS}/list?userName=queried`)).total, 0);
    const { nickName, userId } = await read(city, String(headers.location));
    assert.equal(nickName, null);
    expectOk(await north.put(`${USERS}?tenantId=${tenantId}`, { userId, nickName: 'changed' }));
    assert.equal((await read(city, `${USERS}/${userId}`)).nickName, 'changed');
  });

  test('a tenantId in the query that differs from that in the body is rejected, and nothing is written', async () => {
    const id = await createUser(city, { nickName: 'as before' });
    const query = `${USERS}?tenantId=${tenantId}`;
    const other = { tenantId: north.tenantId };
    for (const response of [
      await north.post(query, { userName: 'nowhere', password: PASSWORD, ...other }),
      await north.put(query, { userId: id, nickName: 'changed', ...other }),
      await north.patch(`${USERS}/${id}?tenantId=${tenantId}`, { nickName: 'changed', ...other }),
    ]) {
      expectError(response, 400, 'INVALID_FIELD', { field: 'tenantId' });
    }
    assert.equal((await read(north, `${USERS}/list?userName=nowhere`)).total, 0);
    assert.equal((await read(city, `${USERS}/${id}`)).nickName, 'as before');
    expectOk(await north.put(query, { userId: id, nickName: 'changed', tenantId }));
  });

  test('a user of a child tenant is not found without tenantId', async () => {
    const id = await createUser(city);
    for (const above of [north, root]) {
      expectError(await above.get(`${USERS}/${id}`), 404, 'USER_NOT_FOUND');
      expectError(await above.put(USERS, { userId: id }), 404, 'USER_NOT_FOUND');
      expectError(await above.delete(`${USERS}/${id}`), 404, 'USER_NOT_FOUND');
    }
    expectError(await north.get(`${USERS}/${id}?tenantId=${town.tenantId}`), 404, 'USER_NOT_FOUND');
    assert.equal((await read(north, `${USERS}/${await createUser(north)}`)).tenantId, north.tenantId);
  });

  const foreign = { 'a sibling': town, 'a child': shop, 'another subtree': south };
  for (const [tenant, caller] of Object.entries(foreign)) {
    test(`administrators of ${tenant} get the same 403 as for an unknown tenant`, async () => {
      const id = await createUser(city);
      const before = await read(city, `${USERS}/${id}`);
      const { total } = await read(city, `${USERS}/list`);
      const calls: ((tenantId: string) => ReturnType<Client['get']>)[] = [
        (tenantId) => caller.post(USERS, { tenantId, userName: 'intruder', password: PASSWORD }),
        (tenantId) => caller.get(`${USERS}/${id}?tenantId=${tenantId}`),
        (tenantId) => caller.get(`${USERS}/list?tenantId=${tenantId}`),
        (tenantId) => caller.put(USERS, { tenantId, userId: id, nickName: 'changed' }),
        (tenantId) => caller.delete(`${USERS}/${id}?tenantId=${tenantId}`),
      ];
      for (const call of calls) {
        const response = await call(tenantId);
        expectError(response, 403, 'OTHER_TENANT');
        assert.equal(response.text, (await call(NO_TENANT)).text);
      }
      expectError(await caller.get(`${USERS}/${id}`), 404, 'USER_NOT_FOUND');
      expectError(await caller.put(USERS, { userId: id }), 404, 'USER_NOT_FOUND');
      expectError(await caller.delete(`${USERS}/${id}`), 404, 'USER_NOT_FOUND');
      assert.deepEqual(await read(city, `${USERS}/${id}`), before);
      assert.equal((await read(city, `${USERS}/list`)).total, total);
    });
  }

  test('a user may read their own record', async () => {
    const member = await service.createMember(city);
    const own = await read(member, `${USERS}/${member.id}`);
    assert.deepEqual(own, await read(city, `${USERS}/${member.id}`));
    assert.deepEqual(own, await read(member, `${USERS}/${member.id}?tenantId=${tenantId}`));
  });

  test('a member can read no other user and change no user, not even themselves', async () => {
    const member = await service.createMember(city);
    const others = [await createUser(city), (await me(city)).userId, '4000000000000'];
    for (const id of others) expectError(await member.get(`${USERS}/${id}`), 403, 'NOT_ALLOWED');
    expectError(await member.get(`${USERS}/${member.id}?tenantId=${shop.tenantId}`), 403, 'NOT_ALLOWED');
    expectError(await member.get(`${USERS}/list`), 403, 'NOT_ALLOWED');
    expectError(await member.put(USERS, { userId: member.id, roles: ['admin'] }), 403, 'NOT_ALLOWED');
    expectError(await member.delete(`${USERS}/${member.id}`), 403, 'NOT_ALLOWED');
    assert.deepEqual((await me(member)).roles, ['member']);
  });

  test('a member of 000000 has no more permissions than any other member', async () => {
    const member = await service.createMember(root);
    expectError(await member.get(`${USERS}/list?tenantId=${tenantId}`), 403, 'NOT_ALLOWED');
    const body = { tenantId, userName: 'intruder', password: PASSWORD };
    expectError(await member.post(USERS, body), 403, 'NOT_ALLOWED');
  });
});

describe('Deleting users', () => {
  const pathOf = (...ids: (string | number)[]) => `${USERS}/${ids}`;
  const exists = async (id: string) => (await city.get(`${USERS}/${id}`)).code === 200;

  test('a deleted user is hidden from callers, but the row is kept', async () => {
    const id = await createUser(city);
    expectOk(await city.delete(pathOf(id)));
    expectError(await city.get(pathOf(id)), 404, 'USER_NOT_FOUND');
    expectError(await city.put(USERS, { userId: id }), 404, 'USER_NOT_FOUND');
    expectError(await city.delete(pathOf(id)), 404, 'USER_NOT_FOUND');
    const [row] = await superuser`select del_flag, update_by from users where user_id = ${id}`;
    assert.deepEqual(row, { del_flag: '2', update_by: 'boss' });
  });

  test('several users can be deleted in one request, and a repeated id counts once', async () => {
    const [one, two] = [await createUser(city), await createUser(city)];
    expectOk(await city.delete(pathOf(one, two, one, `0${two}`)));
    assert.deepEqual([await exists(one), await exists(two)], [false, false]);
  });

  test('a batch with an unknown or deleted id or one of another tenant deletes nobody', async () => {
    const [one, deleted, elsewhere] = [await createUser(city), await createUser(city), await createUser(town)];
    expectOk(await city.delete(pathOf(deleted)));
    for (const bad of [4_000_000_000_000, Number(deleted), Number(elsewhere)]) {
      expectError(await city.delete(pathOf(one, bad)), 404, 'USER_NOT_FOUND', { userIds: [bad] });
    }
    assert.ok(await exists(one));
    assert.equal((await town.get(pathOf(elsewhere))).code, 200);
  });

  test('malformed ids and more than 500 ids are rejected', async () => {
    const id = await createUser(city);
    for (const path of [`${id},`, `,${id}`, `${id},,${id}`, `${id},x`, `${id};1`]) {
      expectError(await city.delete(`${USERS}/${path}`), 400, 'INVALID_FIELD');
    }
    const many = Array.from({ length: 501 }, (_, index) => 5_000_000 + index);
    expectError(await city.delete(pathOf(...many)), 400, 'TOO_MANY_IDS', { limit: 500 });
    expectError(await city.delete(pathOf(...many.slice(1))), 404, 'USER_NOT_FOUND');
    assert.ok(await exists(id));
  });

  test('a user cannot delete themselves, alone or in a batch', async () => {
    const other = await createUser(city, { roles: ['admin'] });
    const { userId } = await me(city);
    expectError(await city.delete(pathOf(userId)), 409, 'OWN_USER');
    expectError(await city.delete(pathOf(other, userId)), 409, 'OWN_USER');
    expectError(await city.delete(`${pathOf(userId)}?tenantId=${tenantId}`), 409, 'OWN_USER');
    assert.ok(await exists(other));
    expectOk(await city.delete(pathOf(other)));
  });
});

describe('The last administrator of a tenant', () => {
  /** Creates a tenant with these administrators besides boss. */
  async function createTenantWith(...others: string[]) {
    const admin = await service.createTenant();
    const more = await Promise.all(others.map((userName) => admin.createUser({ userName, roles: ['admin'] })));
    return { admin, first: String((await me(admin)).userId), more, at: { tenantId: admin.tenantId } };
  }
  const query = ({ tenantId }: { tenantId: string }) => `?tenantId=${tenantId}`;

  test('the last administrator cannot be deleted', async () => {
    const { admin, first, at } = await createTenantWith();
    expectError(await root.delete(`${USERS}/${first}${query(at)}`), 409, 'LAST_ADMINISTRATOR');
    const member = await createUser(admin);
    expectError(await root.delete(`${USERS}/${member},${first}${query(at)}`), 409, 'LAST_ADMINISTRATOR');
    assert.equal((await admin.get(`${USERS}/${member}`)).code, 200);
  });

  test('the last administrator cannot be disabled, not even by themselves', async () => {
    const { admin, first, at } = await createTenantWith();
    const disabled = { ...at, userId: first, status: '1', roles: ['admin'] };
    for (const caller of [root, admin]) expectError(await caller.put(USERS, disabled), 409, 'LAST_ADMINISTRATOR');
    assert.equal((await me(admin)).status, '0');
  });

  test('the last administrator cannot be demoted, not even by omitting roles', async () => {
    const { admin, first, at } = await createTenantWith();
    for (const roles of [['member'], undefined, null]) {
      expectError(await admin.put(USERS, { userId: first, roles }), 409, 'LAST_ADMINISTRATOR');
      expectError(await root.put(USERS, { ...at, userId: first, roles }), 409, 'LAST_ADMINISTRATOR');
    }
    expectOk(await admin.put(USERS, { userId: first, nickName: 'still here', roles: ['admin'] }));
    assert.deepEqual((await me(admin)).roles, ['admin']);
  });

  test('one of two administrators can be deleted, disabled or demoted, and then the other is the last', async () => {
    const ways: ((admin: Client, userId: string) => ReturnType<Client['get']>)[] = [
      (admin, userId) => admin.delete(`${USERS}/${userId}`),
      (admin, userId) => admin.put(USERS, { userId, status: '1', roles: ['admin'] }),
      (admin, userId) => admin.put(USERS, { userId, roles: ['member'] }),
    ];
    for (const remove of ways) {
      const { admin, first, more, at } = await createTenantWith('second');
      expectOk(await remove(admin, String(more[0])));
      expectError(await root.delete(`${USERS}/${first}${query(at)}`), 409, 'LAST_ADMINISTRATOR');
    }
  });

  test('deleting all administrators in one batch is rejected and deletes nobody', async () => {
    const { admin, first, more, at } = await createTenantWith('second', 'third');
    expectError(await root.delete(`${USERS}/${[first, ...more]}${query(at)}`), 409, 'LAST_ADMINISTRATOR');
    assert.equal((await read(admin, `${USERS}/list`)).total, 3);
    expectOk(await root.delete(`${USERS}/${more}${query(at)}`));
  });

  test('a disabled administrator does not count, and can be deleted', async () => {
    const { admin, first, more, at } = await createTenantWith('second');
    expectOk(await admin.put(USERS, { userId: more[0], status: '1', roles: ['admin'] }));
    expectError(await root.delete(`${USERS}/${first}${query(at)}`), 409, 'LAST_ADMINISTRATOR');
    expectOk(await admin.delete(`${USERS}/${more[0]}`));
  });

  test('when two administrators demote each other concurrently, one stays', async () => {
    const { admin, first, more } = await createTenantWith('second');
    const second = await service.logIn(admin.tenantId, 'second');
    // Lock the users so that both requests start before either has committed.
    const responses = await superuser.begin(async (tx) => {
      await tx`select from users where tenant_id = ${admin.tenantId} for update`;
      const both = [
        admin.put(USERS, { userId: more[0], roles: ['member'] }),
        second.put(USERS, { userId: first, roles: ['member'] }),
      ];
      await waitFor('both requests wait for the lock', async () => (await countLockWaits(service.owner)) === 2);
      return { both }; // not awaited here: they wait for this transaction
    });
    const codes = (await Promise.all(responses.both)).map(({ code }) => code);
    assert.deepEqual(codes.sort(), [200, 409]);
    const rows = await superuser`select from users where tenant_id = ${admin.tenantId} and administrator`;
    assert.equal(rows.length, 1);
  });
});
