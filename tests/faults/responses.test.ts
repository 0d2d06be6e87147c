import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError } from '../support/expect.ts';
import { type Answer, PASSWORD, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

// Nothing runs in the background: only the requests of a test open connections, so all are open or refused once it is answered.
const service = await startService({}, { timing: { sealMs: 600_000, webhookPollMs: 600_000, feedPollMs: 600_000 } });
const { superuser } = service;
const boss = await service.createTenant();
const id = await boss.createDepartment({ deptName: 'still here' });
const [{ database, role }] = await superuser<[{ database: string; role: string }]>`
  select datname as database, 'banyan_service_' || oid as role from pg_database where datname = current_database()`;

/** Takes a table away while `work` runs: a fault that is truly ours. */
async function without<T>(table: string, work: () => Promise<T>): Promise<T> {
  await superuser.unsafe(`alter table ${table} rename to gone_for_the_moment`);
  try {
    return await work();
  } finally {
    await superuser.unsafe(`alter table gone_for_the_moment rename to ${table}`);
  }
}

/** Ways in which a database can be away while its server lives: what is done to it, and undone. */
const ways: [what: string, away: string, back: string][] = [
  [
    'takes no more connections',
    `alter database ${database} connection limit 0`,
    `alter database ${database} connection limit -1`,
  ],
  [
    'is closed for maintenance',
    'update pg_database set datallowconn = false where datname = current_database()',
    'update pg_database set datallowconn = true where datname = current_database()',
  ],
  ['shuts the service out', `alter role ${role} nologin`, `alter role ${role} login`],
  [
    'takes the right to connect',
    `revoke connect on database ${database} from public`,
    `grant connect on database ${database} to public`,
  ],
];

/** The service loses its connections, and gets no new ones while `work` runs. */
async function whileAway<T>([, away, back]: (typeof ways)[number], work: () => Promise<T>): Promise<T> {
  await superuser.unsafe(away);
  try {
    await cutConnections();
    return await work();
  } finally {
    await superuser.unsafe(back);
  }
}

/** Ends all connections of the service. Expects that there were some. */
async function cutConnections(): Promise<void> {
  const cut = await superuser`
    select pg_terminate_backend(pid, 600000) as ended from pg_stat_activity where usename = ${role}`;
  assert.ok(cut.length > 0 && cut.every(({ ended }) => ended));
}

/** Asks again until the answer is 200; until then it is told that the database is away. */
const untilFine = (ask: () => Promise<Answer>): Promise<Answer> =>
  waitFor('the database is back', async () => {
    const answer = await ask();
    if (answer.code === 200) return answer;
    expectError(answer, 503, 'DATABASE_AWAY');
    return undefined;
  });

const faults: [what: string, table: string, ask: (headers: Record<string, string>) => Promise<Answer>][] = [
  ['a read', 'departments', (headers) => boss.get(`/system/dept-api/${id}`, { headers })],
  ['a list', 'departments', (headers) => boss.get('/system/dept-api/list', { headers })],
  ['a write', 'departments', (headers) => boss.post('/system/dept-api', { deptName: 'lost' }, { headers })],
  ['the check of a token', 'sessions', (headers) => boss.get('/auth/me', { headers })],
  [
    'a login',
    'users',
    (headers) =>
      service.anonymous.post('/auth/login', { tenantId: '000000', username: 'admin', password: PASSWORD }, { headers }),
  ],
];
for (const [what, table, ask] of faults) {
  test(`${what} that fails on our side tells the id of the request, and nothing of the inside`, async () => {
    const answers = await without(table, async () => ({
      zh: await ask({ 'x-request-id': 'quote-me' }),
      en: await ask({ 'accept-language': 'en' }),
      problem: await ask({ accept: 'application/problem+json', 'x-request-id': 'quote-me' }),
    }));
    const { zh, en, problem } = answers;
    expectError(zh, 500, 'INTERNAL', { requestId: 'quote-me' });
    assert.equal(zh.headers['x-request-id'], 'quote-me');
    assert.equal(zh.msg, '系统内部错误，请联系管理员（请求编号 quote-me）');
    expectError(en, 500, 'INTERNAL', { requestId: en.headers['x-request-id'] });
    assert.match(en.msg, new RegExp(`request id ${en.headers['x-request-id']}\\.$`));
    for (const answer of [zh, en]) assert.deepEqual(Object.keys(answer.data), ['reason', 'requestId']);
    assert.equal(problem.status, 500);
    for (const { text } of [zh, en, problem]) {
      assert.doesNotMatch(text, new RegExp(`${table}|relation|select|insert|42P01|stack|banyan\\.`, 'i'));
    }
    assert.equal((await ask({})).code, 200, 'works again once the table is back');
  });
}

for (const way of ways) {
  test(`a database that ${way[0]} is told as away, with the time to come again`, async () => {
    // A connection is open.
    await untilFine(() => service.anonymous.get('/health/ready'));
    await whileAway(way, async () => {
      const login = { tenantId: '000000', username: 'admin', password: PASSWORD };
      const answers = await Promise.all([
        boss.get(`/system/dept-api/${id}`),
        boss.post('/system/dept-api', {}),
        boss.delete(`/system/dept-api/${id}`),
        boss.get('/system/tenant-api/list'),
        boss.get('/auth/me'),
        service.anonymous.post('/auth/login', login),
        service.anonymous.get('/health/ready'),
      ]);
      for (const answer of answers) {
        expectError(answer, 503, 'DATABASE_AWAY');
        assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
        assert.equal(answer.msg, '数据库暂时不可用，请稍后重试');
      }
      // What needs no database goes on.
      assert.equal((await service.anonymous.get('/health/live')).code, 200);
      assert.equal((await service.anonymous.get('/version')).code, 200);
      expectError(await boss.get('/system/dept-api/x'), 400, 'INVALID_FIELD');
      expectError(await service.anonymous.get('/system/dept-api/1'), 401, 'NO_TOKEN');
    });
    // And it comes back by itself, with what it had.
    const { data } = await untilFine(() => boss.get(`/system/dept-api/${id}`));
    assert.equal(data.deptName, 'still here');
    await untilFine(() => service.anonymous.get('/health/ready'));
  });
}

test('connections that break between two requests are made anew', async () => {
  await untilFine(() => boss.get(`/system/dept-api/${id}`));
  await cutConnections();
  await untilFine(() => boss.get(`/system/dept-api/${id}`));
});
