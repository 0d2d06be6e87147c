import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError } from '../support/expect.ts';
import { type ApiResponse, PASSWORD, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

// Disable background work: only the requests of a test open connections, so none is being opened once they are answered.
const service = await startService({}, { timing: { sealMs: 600_000, webhookPollMs: 600_000, feedPollMs: 600_000 } });
const { superuser } = service;
const admin = await service.createTenant();
const id = await admin.createDepartment({ deptName: 'still here' });
const [{ database, role }] = await superuser<[{ database: string; role: string }]>`
  select datname as database, 'banyan_service_' || oid as role from pg_database where datname = current_database()`;

/** Renames a table while `work` runs, to cause an internal error. */
async function withoutTable<T>(table: string, work: () => Promise<T>): Promise<T> {
  await superuser.unsafe(`alter table ${table} rename to temporarily_renamed`);
  try {
    return await work();
  } finally {
    await superuser.unsafe(`alter table temporarily_renamed rename to ${table}`);
  }
}

/** Ways in which a database can be unavailable while its server runs: the statement that causes it and the one that reverts it. */
const outages: [name: string, disable: string, enable: string][] = [
  [
    'accepts no more connections',
    `alter database ${database} connection limit 0`,
    `alter database ${database} connection limit -1`,
  ],
  [
    'is closed for maintenance',
    'update pg_database set datallowconn = false where datname = current_database()',
    'update pg_database set datallowconn = true where datname = current_database()',
  ],
  ['rejects the login of the service', `alter role ${role} nologin`, `alter role ${role} login`],
  [
    'has revoked the right to connect',
    `revoke connect on database ${database} from public`,
    `grant connect on database ${database} to public`,
  ],
];

/** Closes the connections of the service and prevents new ones while `work` runs. */
async function duringOutage<T>([, disable, enable]: (typeof outages)[number], work: () => Promise<T>): Promise<T> {
  await superuser.unsafe(disable);
  try {
    await closeConnections();
    return await work();
  } finally {
    await superuser.unsafe(enable);
  }
}

/** Terminates all connections of the service. Asserts that there were some. */
async function closeConnections(): Promise<void> {
  const closed = await superuser`
    select pg_terminate_backend(pid, 600000) as ended from pg_stat_activity where usename = ${role}`;
  assert.ok(closed.length > 0 && closed.every(({ ended }) => ended));
}

/** Retries until the response is 200. Until then it must be DATABASE_AWAY. */
const retryUntilOk = (send: () => Promise<ApiResponse>): Promise<ApiResponse> =>
  waitFor('the database is available again', async () => {
    const response = await send();
    if (response.code === 200) return response;
    expectError(response, 503, 'DATABASE_AWAY');
    return undefined;
  });

const faults: [name: string, table: string, send: (headers: Record<string, string>) => Promise<ApiResponse>][] = [
  ['a read', 'departments', (headers) => admin.get(`/system/dept-api/${id}`, { headers })],
  ['a list', 'departments', (headers) => admin.get('/system/dept-api/list', { headers })],
  ['a write', 'departments', (headers) => admin.post('/system/dept-api', { deptName: 'lost' }, { headers })],
  ['a token check', 'sessions', (headers) => admin.get('/auth/me', { headers })],
  [
    'a login',
    'users',
    (headers) =>
      service.anonymous.post('/auth/login', { tenantId: '000000', username: 'admin', password: PASSWORD }, { headers }),
  ],
];
for (const [name, table, send] of faults) {
  test(`${name} that fails with an internal error shows the request id and no internals`, async () => {
    const responses = await withoutTable(table, async () => ({
      zh: await send({ 'x-request-id': 'test-request' }),
      en: await send({ 'accept-language': 'en' }),
      problem: await send({ accept: 'application/problem+json', 'x-request-id': 'test-request' }),
    }));
    const { zh, en, problem } = responses;
    expectError(zh, 500, 'INTERNAL', { requestId: 'test-request' });
    assert.equal(zh.headers['x-request-id'], 'test-request');
    assert.equal(zh.msg, '系统内部错误，请联系管理员（请求编号 test-request）');
    expectError(en, 500, 'INTERNAL', { requestId: en.headers['x-request-id'] });
    assert.match(en.msg, new RegExp(`request id ${en.headers['x-request-id']}\\.$`));
    for (const response of [zh, en]) assert.deepEqual(Object.keys(response.data), ['reason', 'requestId']);
    assert.equal(problem.status, 500);
    for (const { text } of [zh, en, problem]) {
      assert.doesNotMatch(text, new RegExp(`${table}|relation|select|insert|42P01|stack|banyan\\.`, 'i'));
    }
    assert.equal((await send({})).code, 200, 'the request succeeds once the table is back');
  });
}

for (const outage of outages) {
  test(`a database that ${outage[0]} is reported as DATABASE_AWAY with Retry-After`, async () => {
    // Make sure that a connection is open.
    await retryUntilOk(() => service.anonymous.get('/health/ready'));
    await duringOutage(outage, async () => {
      const login = { tenantId: '000000', username: 'admin', password: PASSWORD };
      const responses = await Promise.all([
        admin.get(`/system/dept-api/${id}`),
        admin.post('/system/dept-api', {}),
        admin.delete(`/system/dept-api/${id}`),
        admin.get('/system/tenant-api/list'),
        admin.get('/auth/me'),
        service.anonymous.post('/auth/login', login),
        service.anonymous.get('/health/ready'),
      ]);
      for (const response of responses) {
        expectError(response, 503, 'DATABASE_AWAY');
        assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
        assert.equal(response.msg, '数据库暂时不可用，请稍后重试');
      }
      // Requests that need no database are served.
      assert.equal((await service.anonymous.get('/health/live')).code, 200);
      assert.equal((await service.anonymous.get('/version')).code, 200);
      expectError(await admin.get('/system/dept-api/x'), 400, 'INVALID_FIELD');
      expectError(await service.anonymous.get('/system/dept-api/1'), 401, 'NO_TOKEN');
    });
    // The service reconnects by itself, and the data is still there.
    const { data } = await retryUntilOk(() => admin.get(`/system/dept-api/${id}`));
    assert.equal(data.deptName, 'still here');
    await retryUntilOk(() => service.anonymous.get('/health/ready'));
  });
}

test('the service reconnects when its connections break between two requests', async () => {
  await retryUntilOk(() => admin.get(`/system/dept-api/${id}`));
  await closeConnections();
  await retryUntilOk(() => admin.get(`/system/dept-api/${id}`));
});
