import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, read, readDept, TENANTS } from '../support/expect.ts';
import { scrape } from '../support/metrics.ts';
import { type ApiResponse, Client, PASSWORD, startService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';
import { databaseOf, startNode } from './node.ts';

/** Requests that wait for row locks or for a database connection. */

// Disable background work: it may wait for locks too, and tests count all waits.
const service = await startService({}, { timing: { sealMs: 600_000, webhookPollMs: 600_000 } });
const { owner, superuser } = service;
const database = await databaseOf(service);

/** Creates a tenant with two departments: one that the test will lock, and one that stays free. */
async function createTenant() {
  const admin = await service.createTenant();
  return { admin, locked: await admin.createDepartment({ deptName: 'locked' }), free: await admin.createDepartment() };
}

const rename = (client: Client, deptId: string, deptName: string) => client.put(DEPTS, { deptId, deptName });

/** Locks departments while `work` runs. */
const withLocked = <T>(ids: string[], work: () => Promise<T>): Promise<T> =>
  superuser.begin(async (tx) => {
    await tx`select from departments where dept_id = any(${ids}::bigint[]) for update`;
    return work();
  }) as Promise<T>;

const waitForLockWaits = (count: number) =>
  waitFor(`${count} connections wait for a lock`, async () => (await countLockWaits(owner)) === count);

/** Expects that all calls succeed while other requests are blocked. A blocked call fails the test instead of hanging it. */
async function expectServed(calls: Record<string, () => Promise<ApiResponse>>): Promise<void> {
  const blocked = new Set(Object.keys(calls));
  const responses = Object.entries(calls).map(async ([name, call]) => {
    const response = await call();
    blocked.delete(name);
    return response;
  });
  await waitFor('all other requests are served', () => blocked.size === 0).catch((cause) => {
    throw new Error(`Blocked: ${[...blocked]}`, { cause });
  });
  for (const response of await Promise.all(responses)) assert.equal(response.code, 200, response.text);
}

/** Counts the requests that arrive at the service from now on. */
function countArrivals(): () => number {
  let arrivals = 0;
  service.app.server.on('request', () => arrivals++);
  return () => arrivals;
}

function expectTooBusy(response: ApiResponse): void {
  expectError(response, 503, 'TOO_BUSY');
  assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
}

test('requests that queue up on two locked rows block no other requests, even of their own tenants', async () => {
  const [few, many, neighbour] = [await createTenant(), await createTenant(), await createTenant()];
  const queued = await withLocked([few.locked, many.locked], async () => {
    const arrivals = countArrivals();
    let completed = 0;
    const updates = [few, few, few, ...Array(20).fill(many)].map(async ({ admin, locked }, n) => {
      const response = await rename(admin, locked, `changed ${n}`);
      completed++;
      return response as ApiResponse;
    });
    await waitFor('all requests have arrived', () => arrivals() === 23);
    await waitFor('updates wait for both rows', async () => (await countLockWaits(owner)) >= 4);
    await expectServed({
      'list of a neighbour': () => neighbour.admin.get(`${DEPTS}/list`),
      'create of a neighbour': () => neighbour.admin.post(DEPTS, {}),
      'update of a neighbour': () => rename(neighbour.admin, neighbour.free, 'changed'),
      'read of a locked row': () => many.admin.get(`${DEPTS}/${many.locked}`),
      'read of the other locked row': () => few.admin.get(`${DEPTS}/${few.locked}`),
      'update where few requests wait': () => rename(few.admin, few.free, 'changed'),
      'update where many requests wait': () => rename(many.admin, many.free, 'changed'),
      'create where many requests wait': () => many.admin.post(DEPTS, {}),
    });
    assert.equal(completed, 0, 'all updates are still blocked');
    return { updates };
  });
  for (const response of await Promise.all(queued.updates)) assert.equal(response.code, 200, response.text);
});

test('two tenants with many requests on locked rows do not block a third tenant', async () => {
  const [one, other] = [await service.createTenant(), await service.createTenant()];
  const neighbour = await createTenant();
  const locked: [Client, string][] = [];
  for (const admin of [one, other])
    for (let n = 0; n < 6; n++) locked.push([admin, await admin.createDepartment({ deptName: `locked too ${n}` })]);
  const queued = await withLocked(
    locked.map(([, id]) => id),
    async () => {
      const arrivals = countArrivals();
      let completed = 0;
      const updates = locked.map(async ([admin, deptId]) => {
        const response = await rename(admin, deptId, 'changed');
        completed++;
        return response;
      });
      await waitFor('all requests have arrived', () => arrivals() === 12);
      await waitFor('the allowed number of requests wait for a row', async () => (await countLockWaits(owner)) >= 6);
      await expectServed({
        'list of a neighbour': () => neighbour.admin.get(`${DEPTS}/list`),
        'update of a neighbour': () => rename(neighbour.admin, neighbour.free, 'changed'),
        'create of a neighbour': () => neighbour.admin.post(DEPTS, {}),
        'read of a locked row': () => one.get(`${DEPTS}/${locked[0]?.[1]}`),
        'list of a waiting tenant': () => one.get(`${DEPTS}/list`),
      });
      assert.equal(completed, 0, 'all updates are still blocked');
      return { updates };
    },
  );
  for (const response of await Promise.all(queued.updates)) assert.equal(response.code, 200, response.text);
});

test('anonymous requests do not use the connections of a tenant that they name, and do not count as activity of that tenant', async () => {
  const { admin } = await createTenant();
  const { tenantId = '', refreshToken = '' } = admin;
  const sessionId = refreshToken.split('.')[1] ?? '';
  // The secret is wrong, but the service has to lock the session before it knows.
  const refreshAs = (tenant: string) => ({ refresh_token: `${tenant}.${sessionId}.${'x'.repeat(43)}` });
  const node = await startNode(database);
  const caller = node.as(await service.createMember(admin, { roles: ['admin'] }));
  const anonymous = new Client(node.base);
  const responses = await superuser.begin(async (tx) => {
    await tx`select from sessions where session_id = ${sessionId} for update`;
    const refreshes = Array.from({ length: 20 }, () =>
      anonymous.post('/auth/refresh', refreshAs(tenantId), { from: '127.0.0.7' }),
    );
    await waitFor('refreshes wait for the session', async () => (await countLockWaits(owner)) >= 2);
    await expectServed(
      Object.fromEntries(
        Array.from({ length: 5 }, (_, n) => [`write ${n} of the tenant`, () => caller.post(DEPTS, {})]),
      ),
    );
    return { refreshes };
  });
  for (const response of await Promise.all(responses.refreshes)) expectError(response, 401, 'REFRESH_REFUSED');

  const quiet = await startNode(database);
  const unknown = '999999999';
  const stranger = new Client(quiet.base);
  expectError(await stranger.post('/auth/refresh', refreshAs(unknown)), 401, 'REFRESH_REFUSED');
  const login = { tenantId: unknown, username: 'boss', password: 'a wrong password' };
  expectError(await stranger.post('/auth/login', login), 401, 'LOGIN_FAILED');
  assert.ok(quiet.db.activeTenants.othersActiveMs('a real tenant') <= 0);
});

test('a statement that waits too long for a lock is cancelled, and its request fails with TOO_BUSY', async () => {
  const { admin, locked } = await createTenant();
  const node = await startNode(database, { connectionTiming: { statementMs: 200 } });
  await withLocked([locked], async () => {
    const responses = Array.from({ length: 5 }, (_, n) => rename(node.as(admin), locked, `changed ${n}`));
    for (const response of await Promise.all(responses)) expectTooBusy(response);
    assert.equal(await countLockWaits(owner), 0, 'no statement is left waiting in the database');
  });
  assert.equal((await readDept(admin, locked)).deptName, 'locked');
});

test('a login that waits too long for a lock fails with TOO_BUSY, and metrics count it as busy', async () => {
  const { admin } = await createTenant();
  const node = await startNode(database, {
    connectionTiming: { statementMs: 200 },
    settings: { BANYAN_METRICS: '1' },
  });
  const { tenantId } = admin;
  const before = await scrape(node.base);
  await superuser.begin(async (tx) => {
    await tx`select from users where tenant_id = ${tenantId} for update`;
    const login = { tenantId, username: 'boss', password: PASSWORD };
    expectTooBusy(await new Client(node.base).post('/auth/login', login));
  });
  const after = await scrape(node.base);
  assert.equal(after.growth(before, 'banyan_logins_total', { outcome: 'busy' }), 1);
  assert.equal(after.growth(before, 'banyan_logins_total', { outcome: 'error' }), 0);
});

test('a login fails like one of an unknown user if the user is deleted meanwhile', async () => {
  const { admin } = await createTenant();
  const { tenantId } = admin;
  const userId = await admin.createUser({ userName: 'leaving' });
  const logins = await superuser.begin(async (tx) => {
    await tx`select from users where tenant_id = ${tenantId} and user_id = ${userId} for update`;
    const login = service.anonymous.post('/auth/login', { tenantId, username: 'leaving', password: PASSWORD });
    await waitForLockWaits(1);
    await tx`update users set del_flag = '2' where tenant_id = ${tenantId} and user_id = ${userId}`;
    return [login];
  });
  for (const response of await Promise.all(logins)) expectError(response, 401, 'LOGIN_FAILED');
});

test('changes of a tenant whose row is locked fail with TOO_BUSY, and changes of other tenants succeed', async () => {
  const { root } = service;
  const [locked, other] = [await service.createTenant(), await service.createTenant()];
  const { id } = locked;
  const caller = (await startNode(database, { connectionTiming: { treeLockMs: 200 } })).as(root);
  const changes = {
    replacement: () => caller.put(TENANTS, { id, tenantName: 'changed' }),
    patch: () => caller.patch(`${TENANTS}/${id}`, { tenantName: 'changed' }),
    move: () => caller.put(TENANTS, { id, tenantParent: other.tenantId }),
    deletion: () => caller.delete(`${TENANTS}/${id}`),
    quota: () => caller.put(`/system/quota-api/riskReport?tenantId=${locked.tenantId}`, { total: 1 }),
  };
  await superuser.begin(async (tx) => {
    // An import holds this lock.
    await tx`select from tenants where tenant_id = ${locked.tenantId} for no key update`;
    for (const [name, change] of Object.entries(changes)) {
      let response: ApiResponse | undefined;
      change().then((received) => {
        response = received;
      });
      expectTooBusy(await waitFor(`the ${name} has failed`, () => response));
    }
    await expectServed({
      creation: () => root.post(TENANTS, { tenantName: 'new' }),
      'creation below the locked tenant': () =>
        root.post(TENANTS, { tenantName: 'new', tenantParent: locked.tenantId }),
      'replacement of another tenant': () => root.put(TENANTS, { id: other.id, tenantName: 'changed' }),
    });
  });
  assert.equal((await root.put(TENANTS, { id, tenantName: 'changed' })).code, 200);
});

test('requests that exceed the response deadline fail with TOO_BUSY and are not executed later', async () => {
  const { admin, locked, free } = await createTenant();
  // No statement is cancelled: the first request keeps the only connection until the lock is released.
  const node = await startNode(database, { connections: 1, timing: { responseMs: 200 } });
  const caller = node.as(admin);
  // Verifying a token takes most of the deadline on a busy machine.
  await waitFor('the token is known', async () => (await caller.get('/auth/me')).status === 200);
  const before = node.uses.begun;
  await withLocked([locked], async () => {
    const responses = [rename(caller, locked, 'first')];
    await waitForLockWaits(1);
    // With one connection one write runs at a time: a create, an update and a second update of the locked row wait for their turn.
    responses.push(caller.post(DEPTS, { deptName: 'new' }), rename(caller, free, 'changed'));
    responses.push(rename(caller, locked, 'second'));
    for (const response of await Promise.all(responses)) expectTooBusy(response);
    assert.equal(await countLockWaits(owner), 1, 'the first update still waits');
  });
  await waitFor('all four have ended', () => node.uses.begun - before === 4 && node.uses.ended - before === 4);
  const { rows } = await read(admin, `${DEPTS}/list`);
  assert.deepEqual(rows.map(({ deptName }: { deptName: string }) => deptName).sort(), ['', 'locked']);
});

test('work that waited too long for a connection is not started', async () => {
  const { admin } = await createTenant();
  const waitMs = 20;
  const node = await startNode(database, { connections: 1, connectionTiming: { waitMs } });
  const caller = node.as(admin);
  const before = node.uses.begun;
  let responses: Promise<ApiResponse>[] = [];
  await node.db.use(async () => {
    responses = [caller.post(DEPTS, { deptName: 'late' }), caller.get(`${DEPTS}/list`)];
    await waitFor('both requests wait for the only connection', () => node.uses.begun - before === 3);
    const since = performance.now();
    await waitFor('the wait limit has passed', () => performance.now() - since > waitMs);
  });
  for (const response of await Promise.all(responses)) expectTooBusy(response);
  assert.equal((await read(admin, `${DEPTS}/list?deptName=late`)).total, 0);
});

test('a request that may write many records has a longer response deadline', async () => {
  const { admin, locked, free } = await createTenant();
  const child = await admin.createDepartment({ parentId: free });
  const node = await startNode(database, { timing: { responseMs: 200 } });
  const caller = node.as(admin);
  const { reordering } = await withLocked([child, locked], async () => {
    const reordering = caller.put(`${DEPTS}/order`, { parentId: free, deptIds: [child] });
    await waitForLockWaits(1);
    // The update started later and exceeds its deadline earlier.
    expectTooBusy(await rename(caller, locked, 'changed'));
    return { reordering };
  });
  const { code, text } = await reordering;
  assert.equal(code, 200, text);
  assert.equal((await readDept(admin, child)).orderNum, 1);
});
