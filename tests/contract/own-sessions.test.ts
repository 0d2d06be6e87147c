import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { CHANGES, expectError, expectOk, read } from '../support/expect.ts';
import { Client, PASSWORD, shareService } from '../support/service.ts';

const service = await shareService();
const sessionOf = ({ token }: Client) => String(decodeJwt(String(token)).sid);

async function logInWith(userAgent: string, tenantId: string, username: string): Promise<Client> {
  const headers = { 'user-agent': userAgent };
  const { data } = await service.anonymous.post('/auth/login', { tenantId, username, password: PASSWORD }, { headers });
  return new Client(service.base, data.access_token, data.refresh_token, tenantId);
}

test('a user sees their own sessions, the current one first, then the newest', async () => {
  const admin = await service.createTenant();
  await service.createMember(admin);
  await service.createTenant();
  const phone = await logInWith('Phone/1.0 x', admin.tenantId, 'boss');
  const tablet = await logInWith('a'.repeat(600), admin.tenantId, 'boss');
  await service.superuser`
    update banyan.sessions set create_time = '2026-01-02 03:04:05+08' where session_id = ${sessionOf(phone)}`;
  const { data } = await phone.get('/auth/sessions');
  assert.equal(data.total, 3);
  assert.deepEqual(
    data.rows.map(({ sessionId, current }: { sessionId: string; current: boolean }) => [sessionId, current]),
    [
      [sessionOf(phone), true],
      [sessionOf(tablet), false],
      [sessionOf(admin), false],
    ],
  );
  const [first, second, third] = data.rows;
  assert.deepEqual(Object.keys(first), ['sessionId', 'address', 'userAgent', 'createTime', 'lastUsedTime', 'current']);
  assert.deepEqual(
    [first.address, first.userAgent, first.createTime],
    ['127.0.0.1', 'Phone/1.0 x', '2026-01-02 03:04:05'],
  );
  assert.equal(second.userAgent, 'a'.repeat(500));
  assert.equal(third.userAgent, '');
});

test('a refresh updates lastUsedTime, and an expired session is not listed', async () => {
  const admin = await service.createTenant();
  const other = await service.logIn(admin.tenantId, 'boss');
  await service.superuser`
    update banyan.sessions set last_used = '2026-01-02 03:04:05+08' where tenant_id = ${admin.tenantId}`;
  const lastUsed = async () => (await admin.get('/auth/sessions')).data.rows[0].lastUsedTime;
  assert.equal(await lastUsed(), '2026-01-02 03:04:05');
  await service.anonymous.post('/auth/refresh', { refresh_token: admin.refreshToken });
  assert.ok((await lastUsed()) > '2026-01-03');
  await service.superuser`update banyan.sessions set expires = now() where session_id = ${sessionOf(other)}`;
  const { rows, total } = (await admin.get('/auth/sessions')).data;
  assert.deepEqual([rows.map(({ sessionId }: { sessionId: string }) => sessionId), total], [[sessionOf(admin)], 1]);
});

test('the newest 100 sessions are listed, and total counts all', async () => {
  const admin = await service.createTenant();
  await service.superuser`
    insert into banyan.sessions (tenant_id, user_id, refresh_hash, address, user_agent, create_time, expires)
    select tenant_id, user_id, refresh_hash, address, n::text, create_time - n * interval '1 minute', expires
    from banyan.sessions cross join generate_series(1, 150) n where session_id = ${sessionOf(admin)}`;
  const { data } = await admin.get('/auth/sessions');
  assert.deepEqual([data.rows.length, data.total, data.rows[0].current], [100, 151, true]);
  const others = data.rows.slice(1).map(({ userAgent }: { userAgent: string }) => userAgent);
  assert.deepEqual(
    others,
    Array.from({ length: 99 }, (_, n) => String(n + 1)),
  );
});

test('a session ended by its user stops working at once, and the others continue', async () => {
  const admin = await service.createTenant();
  const [ended, other] = [await service.logIn(admin.tenantId, 'boss'), await service.logIn(admin.tenantId, 'boss')];
  const response = await admin.delete(`/auth/sessions/${sessionOf(ended).toUpperCase()}`);
  assert.deepEqual([response.code, response.data], [200, null]);
  expectError(await ended.get('/auth/me'), 401, 'SESSION_ENDED');
  expectError(
    await service.anonymous.post('/auth/refresh', { refresh_token: ended.refreshToken }),
    401,
    'REFRESH_REFUSED',
  );
  assert.equal((await other.get('/auth/me')).code, 200);
  expectError(await admin.delete(`/auth/sessions/${sessionOf(ended)}`), 404, 'SESSION_NOT_FOUND');
  assert.equal((await admin.delete(`/auth/sessions/${sessionOf(admin)}`)).code, 200);
  expectError(await admin.get('/auth/me'), 401, 'SESSION_ENDED');
});

test('DELETE /auth/sessions/{id} does not end the session of another user, and rejects an invalid id', async () => {
  const admin = await service.createTenant();
  const member = await service.createMember(admin);
  for (const [client, id] of [
    [admin, sessionOf(member)],
    [member, sessionOf(admin)],
    [service.root, sessionOf(admin)],
    [admin, randomUUID()],
  ] as const) {
    expectError(await client.delete(`/auth/sessions/${id}`), 404, 'SESSION_NOT_FOUND');
  }
  for (const client of [admin, member]) assert.equal((await client.get('/auth/me')).code, 200);
  for (const id of ['7', 'x', `${randomUUID()}0`, '%20']) {
    expectError(await admin.delete(`/auth/sessions/${id}`), 400, 'INVALID_FIELD', { field: 'id' });
  }
});

/** GET and DELETE /system/user-api/{id}/sessions: administrators see and end the sessions of their users. */
const sessionsPath = (userId: string) => `/system/user-api/${userId}/sessions`;

test('an administrator lists the sessions of a user and ends one of them', async () => {
  const admin = await service.createTenant();
  const member = await service.createMember(admin);
  const { userName } = (await admin.get(`/system/user-api/${member.id}`)).data;
  const phone = await logInWith('Phone/1.0', admin.tenantId, userName);
  const listed = (await admin.get(sessionsPath(member.id))).data;
  const idsOf = ({ rows }: { rows: { sessionId: string }[] }) => rows.map(({ sessionId }) => sessionId);
  assert.deepEqual(idsOf(listed), [sessionOf(phone), sessionOf(member)]);
  assert.deepEqual([listed.total, listed.rows[0].userAgent, listed.rows[0].current], [2, 'Phone/1.0', false]);
  const end = (id: string) => admin.delete(`${sessionsPath(member.id)}?sessionId=${id}`);
  assert.deepEqual((await end(sessionOf(phone).toUpperCase())).data, null);
  expectError(await phone.get('/auth/me'), 401, 'SESSION_ENDED');
  assert.equal((await member.get('/auth/me')).code, 200);
  // A session that has ended and one of another user are not found.
  for (const id of [sessionOf(phone), sessionOf(admin), randomUUID()]) {
    expectError(await end(id), 404, 'SESSION_NOT_FOUND');
  }
  expectError(await end('7'), 400, 'INVALID_FIELD', { field: 'sessionId' });
  assert.deepEqual(idsOf((await admin.get(sessionsPath(member.id))).data), [sessionOf(member)]);
});

test('an administrator ends all sessions of a user, and of nobody else', async () => {
  const admin = await service.createTenant();
  const [ended, other] = [await service.createMember(admin), await service.createMember(admin)];
  assert.equal((await admin.delete(sessionsPath(ended.id))).code, 200);
  expectError(await ended.get('/auth/me'), 401, 'SESSION_ENDED');
  assert.equal((await admin.get(sessionsPath(ended.id))).data.total, 0);
  for (const client of [admin, other]) assert.equal((await client.get('/auth/me')).code, 200);
  const { userId } = (await admin.get('/auth/me')).data.user;
  assert.equal((await admin.get(sessionsPath(userId))).data.rows[0].current, true);
  assert.equal((await admin.delete(sessionsPath(userId))).code, 200);
  expectError(await admin.get('/auth/me'), 401, 'SESSION_ENDED');
});

test('ancestors list and end the sessions of a user, keys with user:read only list them, and members do neither', async () => {
  const admin = await service.createTenant();
  const member = await service.createMember(admin);
  const path = sessionsPath(member.id);
  for (const method of ['get', 'delete'] as const) {
    expectError(await member[method](path), 403, 'NOT_ALLOWED');
    expectError(await (await service.createTenant())[method](path), 404, 'USER_NOT_FOUND');
    expectError(await admin[method](`${path}?tenantId=000000`), 403, 'OTHER_TENANT');
  }
  const { data } = await admin.post('/system/key-api', { keyName: 'reads users', permissions: ['user:read'] });
  const key = new Client(service.base, data.key);
  assert.equal((await key.get(path)).data.total, 1);
  expectError(await key.delete(path), 403, 'NOT_ALLOWED');
  assert.equal((await service.root.get(`${path}?tenantId=${admin.tenantId}`)).data.total, 1);
  assert.equal((await service.root.delete(`${path}?tenantId=${admin.tenantId}`)).code, 200);
  expectError(await member.get('/auth/me'), 401, 'SESSION_ENDED');
  await admin.delete(`/system/user-api/${member.id}`);
  for (const method of ['get', 'delete'] as const) expectError(await admin[method](path), 404, 'USER_NOT_FOUND');
});

test('the audit log shows who ended whose sessions, and neither logouts from one session nor requests that ended none', async () => {
  const admin = await service.createTenant();
  const { tenantId } = admin;
  const member = await service.createMember(admin);
  const { userName } = (await admin.get(`/system/user-api/${member.id}`)).data;
  const { userId: adminId } = (await admin.get('/auth/me')).data.user;
  const { next } = await read(admin, CHANGES);
  const logIn = () => service.logIn(tenantId, userName);
  const readEnded = async () => (await read(admin, `${CHANGES}/list?resource=login&action=ended`)).rows;

  // Logouts of one session, in both forms.
  expectOk(await (await logIn()).post('/auth/logout'));
  const single = await logIn();
  expectOk(await single.delete(`/auth/sessions/${sessionOf(single)}`));
  assert.deepEqual(await readEnded(), []);

  const headers = { 'x-request-id': 'end-1' };
  expectOk(await member.delete(`/auth/sessions/${sessionOf(await logIn())}`));
  await logIn();
  expectOk(await admin.delete(sessionsPath(member.id), { headers, from: '127.0.0.9' }));
  expectOk(await admin.delete(sessionsPath(member.id)));
  expectOk(await (await logIn()).post('/auth/logout?everywhere=true'));
  await logIn();
  expectOk(await (await logIn()).post('/auth/logout?everywhere=true'));
  await logIn();
  expectOk(await service.root.delete(`${sessionsPath(member.id)}?tenantId=${tenantId}`));
  // An expired session cannot be ended, so neither request is recorded.
  const expired = sessionOf(await logIn());
  await service.superuser`
    update banyan.sessions set expires = now() - interval '1 hour' where tenant_id = ${tenantId} and session_id = ${expired}`;
  expectError(await admin.delete(`${sessionsPath(member.id)}?sessionId=${expired}`), 404, 'SESSION_NOT_FOUND');
  expectOk(await admin.delete(sessionsPath(member.id)));

  const rows = await readEnded();
  assert.deepEqual(
    rows.map(({ by, byTenantId }: Record<string, unknown>) => [by, byTenantId]),
    [
      ['admin', '000000'],
      [userName, tenantId],
      ['boss', tenantId],
      [userName, tenantId],
    ],
  );
  for (const { resourceId, before, after } of rows)
    assert.deepEqual([resourceId, before, after], [String(member.id), null, { userName, reason: null }]);
  const { byUserId, address, requestId } = rows[2];
  assert.deepEqual([byUserId, address, requestId], [adminId, '127.0.0.9', 'end-1']);
  assert.deepEqual((await read(admin, `${CHANGES}?after=${next}`)).rows, []);
  expectError(await admin.post(`${CHANGES}/${rows[2].id}/revert`), 409, 'CHANGE_IRREVERSIBLE');
});
