import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, me, read, USERS } from '../support/expect.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';
import { countWaiting, waitFor } from '../support/wait.ts';

/** The decisions on users: the rows "Who" and "Delete". */

const service = await startService();
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
const make = (of: Client, body: Record<string, unknown> = {}) => of.createUser({ userName: `user${++count}`, ...body });
const { tenantId } = city;

describe('who', () => {
  for (const [who, caller] of Object.entries({ 'that tenant': city, 'the one above': north, '000000': root })) {
    test(`administrators of ${who} say tenantId in the body or ?tenantId=`, async () => {
      const id = await make(caller, { tenantId, nickName: 'new' });
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

  test('on POST and PUT too, ?tenantId= is as good as tenantId in the body', async () => {
    const body = { userName: 'queried', password: PASSWORD };
    const { headers } = expectOk(await north.post(`${USERS}?tenantId=${tenantId}`, body));
    assert.equal((await read(north, `${USERS}/list?userName=queried`)).total, 0);
    const { nickName, userId } = await read(city, String(headers.location));
    assert.equal(nickName, null);
    expectOk(await north.put(`${USERS}?tenantId=${tenantId}`, { userId, nickName: 'changed' }));
    assert.equal((await read(city, `${USERS}/${userId}`)).nickName, 'changed');
  });

  test('absent means their own: a user of a tenant below is not found without saying which', async () => {
    const id = await make(city);
    for (const above of [north, root]) {
      expectError(await above.get(`${USERS}/${id}`), 404, 'USER_NOT_FOUND');
      expectError(await above.put(USERS, { userId: id }), 404, 'USER_NOT_FOUND');
      expectError(await above.delete(`${USERS}/${id}`), 404, 'USER_NOT_FOUND');
    }
    expectError(await north.get(`${USERS}/${id}?tenantId=${town.tenantId}`), 404, 'USER_NOT_FOUND');
    assert.equal((await read(north, `${USERS}/${await make(north)}`)).tenantId, north.tenantId);
  });

  const foreign = { 'a sibling': town, 'one below': shop, 'another branch': south };
  for (const [who, caller] of Object.entries(foreign)) {
    test(`not administrators of ${who}: 403, and the same where there is no such tenant`, async () => {
      const id = await make(city);
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
        const answer = await call(tenantId);
        expectError(answer, 403, 'OTHER_TENANT');
        assert.equal(answer.text, (await call(NO_TENANT)).text);
      }
      expectError(await caller.get(`${USERS}/${id}`), 404, 'USER_NOT_FOUND');
      expectError(await caller.put(USERS, { userId: id }), 404, 'USER_NOT_FOUND');
      expectError(await caller.delete(`${USERS}/${id}`), 404, 'USER_NOT_FOUND');
      assert.deepEqual(await read(city, `${USERS}/${id}`), before);
      assert.equal((await read(city, `${USERS}/list`)).total, total);
    });
  }

  test('a user may read himself', async () => {
    const member = await service.createMember(city);
    const himself = await read(member, `${USERS}/${member.id}`);
    assert.deepEqual(himself, await read(city, `${USERS}/${member.id}`));
    assert.deepEqual(himself, await read(member, `${USERS}/${member.id}?tenantId=${tenantId}`));
  });

  test('a member reads nobody else, and changes nobody, himself neither', async () => {
    const member = await service.createMember(city);
    const others = [await make(city), (await me(city)).userId, '4000000000000'];
    for (const id of others) expectError(await member.get(`${USERS}/${id}`), 403, 'NOT_ALLOWED');
    expectError(await member.get(`${USERS}/${member.id}?tenantId=${shop.tenantId}`), 403, 'NOT_ALLOWED');
    expectError(await member.get(`${USERS}/list`), 403, 'NOT_ALLOWED');
    expectError(await member.put(USERS, { userId: member.id, roles: ['admin'] }), 403, 'NOT_ALLOWED');
    expectError(await member.delete(`${USERS}/${member.id}`), 403, 'NOT_ALLOWED');
    assert.deepEqual((await me(member)).roles, ['member']);
  });

  test('a member of 000000 is a member like any other', async () => {
    const member = await service.createMember(root);
    expectError(await member.get(`${USERS}/list?tenantId=${tenantId}`), 403, 'NOT_ALLOWED');
    const body = { tenantId, userName: 'intruder', password: PASSWORD };
    expectError(await member.post(USERS, body), 403, 'NOT_ALLOWED');
  });
});

describe('delete', () => {
  const ids = (...of: (string | number)[]) => `${USERS}/${of}`;
  const exists = async (id: string) => (await city.get(`${USERS}/${id}`)).code === 200;

  test('logical: gone for callers, kept in the record', async () => {
    const id = await make(city);
    expectOk(await city.delete(ids(id)));
    expectError(await city.get(ids(id)), 404, 'USER_NOT_FOUND');
    expectError(await city.put(USERS, { userId: id }), 404, 'USER_NOT_FOUND');
    expectError(await city.delete(ids(id)), 404, 'USER_NOT_FOUND');
    const [row] = await superuser`select del_flag, update_by from users where user_id = ${id}`;
    assert.deepEqual(row, { del_flag: '2', update_by: 'boss' });
  });

  test('several at once, a repeated id counts once', async () => {
    const [one, two] = [await make(city), await make(city)];
    expectOk(await city.delete(ids(one, two, one, `0${two}`)));
    assert.deepEqual([await exists(one), await exists(two)], [false, false]);
  });

  test('all or nothing: an id that is unknown, deleted or of another tenant refuses them all', async () => {
    const [one, gone, elsewhere] = [await make(city), await make(city), await make(town)];
    expectOk(await city.delete(ids(gone)));
    for (const bad of [4_000_000_000_000, Number(gone), Number(elsewhere)]) {
      expectError(await city.delete(ids(one, bad)), 404, 'USER_NOT_FOUND', { userIds: [bad] });
    }
    assert.ok(await exists(one));
    assert.equal((await town.get(ids(elsewhere))).code, 200);
  });

  test('ids that are none: 400; more than 500: a clear refusal', async () => {
    const id = await make(city);
    for (const path of [`${id},`, `,${id}`, `${id},,${id}`, `${id},x`, `${id};1`]) {
      expectError(await city.delete(`${USERS}/${path}`), 400, 'INVALID_FIELD');
    }
    const many = Array.from({ length: 501 }, (_, index) => 5_000_000 + index);
    expectError(await city.delete(ids(...many)), 400, 'TOO_MANY_IDS', { limit: 500 });
    expectError(await city.delete(ids(...many.slice(1))), 404, 'USER_NOT_FOUND');
    assert.ok(await exists(id));
  });

  test('nobody deletes himself, alone or among others', async () => {
    const other = await make(city, { roles: ['admin'] });
    const { userId } = await me(city);
    expectError(await city.delete(ids(userId)), 409, 'OWN_USER');
    expectError(await city.delete(ids(other, userId)), 409, 'OWN_USER');
    expectError(await city.delete(`${ids(userId)}?tenantId=${tenantId}`), 409, 'OWN_USER');
    assert.ok(await exists(other));
    expectOk(await city.delete(ids(other)));
  });
});

describe('the last administrator of a tenant', () => {
  /** A tenant with these administrators besides boss, and the id of boss. */
  async function tenantWith(...others: string[]) {
    const boss = await service.createTenant();
    const more = await Promise.all(others.map((userName) => boss.createUser({ userName, roles: ['admin'] })));
    return { boss, first: String((await me(boss)).userId), more, at: { tenantId: boss.tenantId } };
  }
  const query = ({ tenantId }: { tenantId: string }) => `?tenantId=${tenantId}`;

  test('cannot be deleted', async () => {
    const { boss, first, at } = await tenantWith();
    expectError(await root.delete(`${USERS}/${first}${query(at)}`), 409, 'LAST_ADMINISTRATOR');
    const member = await make(boss);
    expectError(await root.delete(`${USERS}/${member},${first}${query(at)}`), 409, 'LAST_ADMINISTRATOR');
    assert.equal((await boss.get(`${USERS}/${member}`)).code, 200);
  });

  test('cannot be disabled, not even by himself', async () => {
    const { boss, first, at } = await tenantWith();
    const disabled = { ...at, userId: first, status: '1', roles: ['admin'] };
    for (const caller of [root, boss]) expectError(await caller.put(USERS, disabled), 409, 'LAST_ADMINISTRATOR');
    assert.equal((await me(boss)).status, '0');
  });

  test('cannot be demoted, not even by leaving roles out', async () => {
    const { boss, first, at } = await tenantWith();
    for (const roles of [['member'], undefined, null]) {
      expectError(await boss.put(USERS, { userId: first, roles }), 409, 'LAST_ADMINISTRATOR');
      expectError(await root.put(USERS, { ...at, userId: first, roles }), 409, 'LAST_ADMINISTRATOR');
    }
    expectOk(await boss.put(USERS, { userId: first, nickName: 'still here', roles: ['admin'] }));
    assert.deepEqual((await me(boss)).roles, ['admin']);
  });

  test('of two, one may go, in any of these ways; then the other is the last', async () => {
    const ways: ((boss: Client, userId: string) => ReturnType<Client['get']>)[] = [
      (boss, userId) => boss.delete(`${USERS}/${userId}`),
      (boss, userId) => boss.put(USERS, { userId, status: '1', roles: ['admin'] }),
      (boss, userId) => boss.put(USERS, { userId, roles: ['member'] }),
    ];
    for (const goes of ways) {
      const { boss, first, more, at } = await tenantWith('second');
      expectOk(await goes(boss, String(more[0])));
      expectError(await root.delete(`${USERS}/${first}${query(at)}`), 409, 'LAST_ADMINISTRATOR');
    }
  });

  test('all of them in one batch: refused, and all are still there', async () => {
    const { boss, first, more, at } = await tenantWith('second', 'third');
    expectError(await root.delete(`${USERS}/${[first, ...more]}${query(at)}`), 409, 'LAST_ADMINISTRATOR');
    assert.equal((await read(boss, `${USERS}/list`)).total, 3);
    expectOk(await root.delete(`${USERS}/${more}${query(at)}`));
  });

  test('a disabled administrator keeps nobody in, and goes himself', async () => {
    const { boss, first, more, at } = await tenantWith('second');
    expectOk(await boss.put(USERS, { userId: more[0], status: '1', roles: ['admin'] }));
    expectError(await root.delete(`${USERS}/${first}${query(at)}`), 409, 'LAST_ADMINISTRATOR');
    expectOk(await boss.delete(`${USERS}/${more[0]}`));
  });

  test('two who demote each other at once: one stays', async () => {
    const { boss, first, more } = await tenantWith('second');
    const second = await service.logIn(boss.tenantId, 'second');
    // Both are held back until neither can have seen what the other does.
    const answers = await superuser.begin(async (tx) => {
      await tx`select from users where tenant_id = ${boss.tenantId} for update`;
      const both = [
        boss.put(USERS, { userId: more[0], roles: ['member'] }),
        second.put(USERS, { userId: first, roles: ['member'] }),
      ];
      await waitFor('both wait', async () => (await countWaiting(service.owner)) === 2);
      return { both }; // not awaited in here, where they could never end
    });
    const codes = (await Promise.all(answers.both)).map(({ code }) => code);
    assert.deepEqual(codes.sort(), [200, 409]);
    const rows = await superuser`select from users where tenant_id = ${boss.tenantId} and administrator`;
    assert.equal(rows.length, 1);
  });
});
