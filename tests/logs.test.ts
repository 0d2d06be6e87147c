import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectOwner } from '../db/sql.ts';
import { Client, makeDatabase, PASSWORD } from './harness.ts';
import { request, sendAndLeave, sendRaw } from './raw.ts';
import { countWaiting, until } from './waiting.ts';

/** The real process, as npm start runs it, saying all it can: what it prints is what an operator keeps. */
const { databaseUrl, superuserUrl } = await makeDatabase();
const superuser = connectOwner({ url: superuserUrl });
const start = fileURLToPath(new URL('../../scripts/start.js', import.meta.url));
const printed = { stdout: '', stderr: '' };
const child: ChildProcess = spawn(process.execPath, [start], {
  env: {
    PATH: process.env.PATH,
    PORT: '0',
    DATABASE_URL: databaseUrl,
    BANYAN_ADMIN_PASSWORD: PASSWORD,
    BANYAN_LOG_LEVEL: 'trace',
  },
});
for (const name of ['stdout', 'stderr'] as const) child[name]?.on('data', (text) => (printed[name] += text));
after(async () => {
  child.kill('SIGKILL');
  await superuser.end();
});
/** Looks again and again; so many seconds are more than anything here takes, a start on a busy machine included. */
async function eventually<T>(find: () => T | false | undefined): Promise<T> {
  for (const end = Date.now() + 60_000; Date.now() < end && child.exitCode === null; await setTimeout(10)) {
    const found = find();
    if (found) return found;
  }
  throw new Error(`Not seen in what was printed: ${printed.stdout.slice(-2000)}${printed.stderr}`);
}

await eventually(() => /Ready at/.test(printed.stderr));
const base = (/Ready at\s+(\S+)/.exec(printed.stderr)?.[1] ?? assert.fail(printed.stderr)).replace(
  'localhost',
  '127.0.0.1',
);
const nobody = new Client(base);

/** Everything secret that was sent or given; none of it may be found in what was printed. */
const secrets: string[] = [PASSWORD, new URL(databaseUrl).password];

async function logIn(username: string, password: string, tenantId = '000000') {
  secrets.push(password);
  const { data } = await nobody.post('/auth/login', { tenantId, username, password });
  if (!data.access_token) return nobody;
  secrets.push(data.access_token, data.refresh_token, data.refresh_token.split('.').at(-1));
  return new Client(base, data.access_token, data.refresh_token);
}

/** The log lines of one request, once the one that ends them is there. */
const linesOf = (requestId: string) =>
  eventually(() => {
    const found = lines().filter((line) => line.requestId === requestId);
    return found.some((line) => line.msg === 'answered') && found;
  });

const lines = () =>
  printed.stdout
    .slice(0, printed.stdout.lastIndexOf('\n'))
    .split('\n')
    .map((line) => JSON.parse(line));

const withId = (id: string, more: Record<string, string> = {}) => ({ headers: { 'x-request-id': id, ...more } });

test('each request is one line: its id, method, path without the query, status, time, and who sent it from where', async () => {
  await nobody.get('/system/dept-api/list?deptName=somebody', withId('read-1'));
  const found = await linesOf('read-1');
  assert.equal(found.length, 1);
  const { time, pid, hostname, ms, ...line } = found[0];
  const asked = { level: 30, method: 'GET', path: '/system/dept-api/list', from: '127.0.0.1', msg: 'answered' };
  assert.deepEqual(line, { ...asked, status: 401, requestId: 'read-1' });
  assert.deepEqual([typeof time, typeof ms], ['number', 'number']);
  const admin = await logIn('admin', PASSWORD);
  const { data } = await admin.get('/auth/me');
  await admin.get('/system/dept-api/list', withId('read-2'));
  const [{ tenantId, userId }] = await linesOf('read-2');
  assert.deepEqual([tenantId, userId], ['000000', String(data.user.userId)]);
  assert.doesNotMatch(printed.stdout, /somebody/);
});

test('what the router and the parser refuse has its line too', async () => {
  const refused: [id: string, path: string, status: number][] = [
    ['gone-1', '/nope', 404],
    ['gone-2', '/%ff', 400],
    ['gone-3', '/version?a=%ff', 400],
  ];
  for (const [id, path, status] of refused) {
    await nobody.get(path, withId(id));
    assert.equal((await linesOf(id)).at(-1).status, status);
  }
  await nobody.post('/auth/login', undefined, { raw: '{', ...withId('gone-4') });
  assert.equal((await linesOf('gone-4')).at(-1).status, 400);
});

test('passwords and tokens are in no line, however a request ends', { timeout: 60_000 }, async () => {
  const admin = await logIn('admin', PASSWORD);
  await logIn('admin', 'wrong-password-1');
  await logIn('nobody', 'wrong-password-2');
  await logIn('admin', 'wrong-password-3', '123456');
  secrets.push('first-password', 'users-password', 'next-password', 'broken-password', 'short-1', 'long-password');
  await admin.post('/system/tenant-api', { username: 'first', password: 'first-password' });
  const userId = await admin.make('/system/user-api', { userName: 'u', password: 'users-password' });
  await admin.put('/system/user-api', { userId, password: 'next-password' });
  await admin.post('/system/user-api', { userName: 'v', password: 'short-1' });
  await admin.post('/system/user-api', { userName: 'v', password: 'long-password'.repeat(20) });
  // Node's own message about broken JSON repeats a part of it.
  await nobody.post('/auth/login', undefined, { raw: '{"password":"broken-password"' });
  await nobody.post('/auth/login', undefined, { raw: '"broken-password"' });
  const user = await logIn('u', 'next-password');
  secrets.push('newest-password', 'guessed-password', 'bearer.of.nonsense', 'token-in-query');
  await user.put('/auth/password', { oldPassword: 'guessed-password', newPassword: 'newest-password' });
  await user.put('/auth/password', { oldPassword: 'next-password', newPassword: 'newest-password' });
  const { data } = await nobody.post('/auth/refresh', { refresh_token: user.refreshToken });
  secrets.push(data.access_token, data.refresh_token);
  await nobody.post('/auth/refresh', { refresh_token: user.refreshToken });
  await user.get('/auth/me');
  await nobody.get('/auth/me', { headers: { authorization: 'Bearer bearer.of.nonsense' } });
  await nobody.get('/auth/me?access_token=token-in-query');
  await sendRaw(base, request('GET /auth/me', 'Authorization: Bearer bearer.of.nonsense', 'broken header'));

  // A fault of ours is logged whole, but for what its caller sent in confidence.
  await superuser`alter table sessions rename to gone_for_the_moment`;
  const login = { tenantId: '000000', username: 'admin', password: PASSWORD };
  await nobody.post('/auth/login', login, withId('fault-1'));
  await admin.get('/auth/me', withId('fault-2'));
  await superuser`alter table gone_for_the_moment rename to sessions`;
  await superuser`alter table users add constraint refuse_him check (nick_name <> 'him') not valid`;
  await admin.post('/system/user-api', { userName: 'w', nickName: 'him', password: PASSWORD }, withId('fault-3'));
  await superuser`alter table users drop constraint refuse_him`;
  for (const id of ['fault-1', 'fault-2', 'fault-3']) {
    const [fault, answered] = await linesOf(id);
    assert.equal(fault.level, 50);
    assert.equal(fault.msg, 'a request failed on our side');
    assert.match(fault.err.stack, /at .*[jt]s:\d+/);
    assert.equal(answered.status, 500);
  }

  await nobody.get('/version', withId('last-1'));
  await linesOf('last-1');
  for (const secret of new Set(secrets)) {
    assert.ok(secret.length > 5);
    for (const text of Object.values(printed)) assert.ok(!text.includes(secret), `printed: ${secret}`);
  }
  assert.doesNotMatch(printed.stdout, /argon2|bearer|authorization/i);
});

test('of an answer that comes too late the log tells, but not what was searched for', async () => {
  const admin = await logIn('admin', PASSWORD);
  const other = connectOwner({ url: superuserUrl });
  await superuser.begin(async (tx) => {
    await tx`lock table banyan.departments in access exclusive mode`;
    // Neither takes too long by itself: first who asks is looked for, half of the time, then what he asks for.
    const asked = await other.begin(async (first) => {
      await first`lock table banyan.sessions in access exclusive mode`;
      const late = admin.get('/system/dept-api/list?deptName=redundancies', withId('late-1'));
      await until(async () => (await countWaiting(first)) === 1, 'who asks is looked for');
      await setTimeout(5_000);
      return { late };
    });
    assert.equal((await asked.late).status, 503);
    const [warned, answered] = await linesOf('late-1');
    assert.equal(warned.msg, 'a request was not answered in time');
    assert.equal(answered.status, 503);
  });
  await other.end();
  // Now its own answer comes, to nobody.
  await setTimeout(500);
  assert.ok(!printed.stdout.includes('redundancies'), printed.stdout.slice(-1000));
});

test('who hangs up before all has been sent is not reported as our fault', async () => {
  const head = request(
    'POST /auth/login',
    'Content-Type: application/json',
    'Content-Length: 999',
    'X-Request-Id: cut-1',
  );
  await sendAndLeave(base, `${head}{"tenantId":`);
  // Time for the service to notice; what it logged of it is read below, when all has been printed.
  for (let times = 0; times < 10; times++) await nobody.get('/health/ready');
});

test('who leaves before his answer has a line of his own, and what he asked for is done', async () => {
  const admin = await logIn('admin', PASSWORD);
  const body = JSON.stringify({ deptName: 'left behind' });
  const head = request(
    'POST /system/dept-api',
    `Authorization: Bearer ${admin.token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'X-Request-Id: left-1',
  );
  await superuser.begin(async (tx) => {
    await tx`lock table banyan.departments in share row exclusive mode`;
    const { port, hostname } = new URL(base);
    const socket = net.connect(Number(port), hostname, () => socket.write(head + body));
    await until(async () => (await countWaiting(tx)) === 1, 'it waits for the table');
    socket.destroy();
    const [line] = await eventually(() => {
      const found = lines().filter((one) => one.requestId === 'left-1');
      return found.length > 0 && found;
    });
    assert.deepEqual([line.msg, line.status], ['the connection ended before the answer', 499]);
    assert.deepEqual([line.path, line.tenantId], ['/system/dept-api', '000000']);
  });
  for (let total = 0; total === 0; await setTimeout(50)) {
    total = (await admin.get('/system/dept-api/list?deptName=left%20behind')).data.total;
  }
});

test('a stop is heard, and every line was JSON: of a request, with its id', async () => {
  child.kill('SIGTERM');
  // When all that it printed has been read, too.
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  for (const line of printed.stdout.trimEnd().split('\n')) {
    const { level, time, msg, requestId, ...rest } = JSON.parse(line);
    assert.ok(level && time && msg, line);
    if (!/^Server listening at/.test(msg)) assert.match(String(requestId ?? ''), /^[\w.-]{1,64}$/, line);
    assert.equal(rest.body, undefined);
    assert.equal(rest.headers, undefined);
    if (level >= 50) assert.match(requestId, /^fault-/, line);
  }
});
