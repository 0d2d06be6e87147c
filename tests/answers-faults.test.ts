import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, PASSWORD, startService } from './harness.ts';
import { assertRefused } from './refused.ts';

const service = await startService();
const { superuser } = service;
const boss = await service.tenant();
const id = await boss.dept({ deptName: 'still here' });
const [{ database, role }] = await superuser<[{ database: string; role: string }]>`
  select current_database() as database, role from service_login`;

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
    // One that was just being let in is not seen among those that are cut.
    do await cutConnections();
    while ((await service.nobody.get('/health/ready')).status === 200);
    return await work();
  } finally {
    await superuser.unsafe(back);
  }
}

const cutConnections = () => superuser`
  select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = ${role}`;

/** Asks again until the answer is 200; the test's own time limit ends it otherwise. */
async function untilFine(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.code === 200) return answer;
    assertRefused(answer, 503, 'DATABASE_AWAY');
  }
}

const faults: [what: string, table: string, ask: (headers: Record<string, string>) => Promise<Answer>][] = [
  ['a read', 'departments', (headers) => boss.get(`/system/dept-api/${id}`, { headers })],
  ['a list', 'departments', (headers) => boss.get('/system/dept-api/list', { headers })],
  ['a write', 'departments', (headers) => boss.post('/system/dept-api', { deptName: 'lost' }, { headers })],
  ['the check of a token', 'sessions', (headers) => boss.get('/auth/me', { headers })],
  [
    'a login',
    'users',
    (headers) =>
      service.nobody.post('/auth/login', { tenantId: '000000', username: 'admin', password: PASSWORD }, { headers }),
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
    assertRefused(zh, 500, 'INTERNAL', { requestId: 'quote-me' });
    assert.equal(zh.headers['x-request-id'], 'quote-me');
    assert.equal(zh.msg, '系统内部错误，请联系管理员（请求编号 quote-me）');
    assertRefused(en, 500, 'INTERNAL', { requestId: en.headers['x-request-id'] });
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
  test(`a database that ${way[0]} is told as away, with the time to come again`, { timeout: 60_000 }, async () => {
    await whileAway(way, async () => {
      const login = { tenantId: '000000', username: 'admin', password: PASSWORD };
      const answers = await Promise.all([
        boss.get(`/system/dept-api/${id}`),
        boss.post('/system/dept-api', {}),
        boss.delete(`/system/dept-api/${id}`),
        boss.get('/system/tenant-api/list'),
        boss.get('/auth/me'),
        service.nobody.post('/auth/login', login),
        service.nobody.get('/health/ready'),
      ]);
      for (const answer of answers) {
        assertRefused(answer, 503, 'DATABASE_AWAY');
        assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
        assert.equal(answer.msg, '数据库暂时不可用，请稍后重试');
      }
      // What needs no database goes on.
      assert.equal((await service.nobody.get('/health/live')).code, 200);
      assert.equal((await service.nobody.get('/version')).code, 200);
      assertRefused(await boss.get('/system/dept-api/x'), 400, 'INVALID_FIELD');
      assertRefused(await service.nobody.get('/system/dept-api/1'), 401, 'NO_TOKEN');
    });
    // And it comes back by itself, with what it had.
    const { data } = await untilFine(() => boss.get(`/system/dept-api/${id}`));
    assert.equal(data.deptName, 'still here');
    await untilFine(() => service.nobody.get('/health/ready'));
  });
}

test('connections that break between two requests are made anew', { timeout: 60_000 }, async () => {
  await untilFine(() => boss.get(`/system/dept-api/${id}`));
  await cutConnections();
  await untilFine(() => boss.get(`/system/dept-api/${id}`));
});
