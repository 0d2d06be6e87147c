import assert from 'node:assert/strict';
import net from 'node:net';
import { after, test } from 'node:test';
import { connectOwner } from '../../db/sql.ts';
import { createDatabase } from '../support/database.ts';
import { type Run, startServed } from '../support/process.ts';
import { request, sendAndLeave, sendRaw } from '../support/raw.ts';
import { Client, PASSWORD } from '../support/service.ts';
import { countWaiting, waitFor } from '../support/wait.ts';

/** A process that logs all it can: what it prints is what an operator keeps. */
const { databaseUrl, superuserUrl } = await createDatabase();
const superuser = connectOwner({ url: superuserUrl });
after(() => superuser.end());
const run = startServed(databaseUrl, { BANYAN_LOG_LEVEL: 'trace' });
const anonymous = await run.ready();
const { base } = anonymous;

/** Everything secret that was sent or given; none of it may be found in what was printed. */
const secrets: string[] = [PASSWORD, new URL(databaseUrl).password];

async function logIn(username: string, password: string, tenantId = '000000') {
  secrets.push(password);
  const { data } = await anonymous.post('/auth/login', { tenantId, username, password });
  if (!data.access_token) return anonymous;
  secrets.push(data.access_token, data.refresh_token, data.refresh_token.split('.').at(-1));
  return new Client(base, data.access_token, data.refresh_token);
}

/** The log lines of one request, once the one that ends them is there. */
const linesOf = (requestId: string, of = run) =>
  waitFor(`${requestId} is in the log`, () => {
    const found = lines(of).filter((line) => line.requestId === requestId);
    return found.some((line) => /^answered$|^the connection ended/.test(line.msg)) ? found : undefined;
  });

const lines = ({ stdout }: Run) =>
  stdout
    .slice(0, stdout.lastIndexOf('\n'))
    .split('\n')
    .map((line) => JSON.parse(line));

const withId = (id: string, more: Record<string, string> = {}) => ({ headers: { 'x-request-id': id, ...more } });

test('each request is one line: its id, method, path without the query, status, time, and who sent it from where', async () => {
  await anonymous.get('/system/dept-api/list?deptName=somebody', withId('read-1'));
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
  assert.doesNotMatch(run.stdout, /somebody/);
});

test('what the router and the parser refuse has its line too', async () => {
  const refused: [id: string, path: string, status: number][] = [
    ['gone-1', '/nope', 404],
    ['gone-2', '/%ff', 400],
    ['gone-3', '/version?a=%ff', 400],
  ];
  for (const [id, path, status] of refused) {
    await anonymous.get(path, withId(id));
    assert.equal((await linesOf(id)).at(-1).status, status);
  }
  await anonymous.post('/auth/login', undefined, { raw: '{', ...withId('gone-4') });
  assert.equal((await linesOf('gone-4')).at(-1).status, 400);
});

test('passwords and tokens are in no line, however a request ends', async () => {
  const admin = await logIn('admin', PASSWORD);
  await logIn('admin', 'wrong-password-1');
  await logIn('nobody', 'wrong-password-2');
  await logIn('admin', 'wrong-password-3', '123456');
  secrets.push('first-password', 'users-password', 'next-password', 'broken-password', 'short-1', 'long-password');
  await admin.post('/system/tenant-api', { username: 'first', password: 'first-password' });
  const userId = await admin.create('/system/user-api', { userName: 'u', password: 'users-password' });
  await admin.put('/system/user-api', { userId, password: 'next-password' });
  await admin.post('/system/user-api', { userName: 'v', password: 'short-1' });
  await admin.post('/system/user-api', { userName: 'v', password: 'long-password'.repeat(20) });
  // Node's own message about broken JSON repeats a part of it.
  await anonymous.post('/auth/login', undefined, { raw: '{"password":"broken-password"' });
  await anonymous.post('/auth/login', undefined, { raw: '"broken-password"' });
  const user = await logIn('u', 'next-password');
  secrets.push('newest-password', 'guessed-password', 'bearer.of.nonsense', 'token-in-query');
  await user.put('/auth/password', { oldPassword: 'guessed-password', newPassword: 'newest-password' });
  await user.put('/auth/password', { oldPassword: 'next-password', newPassword: 'newest-password' });
  const { data } = await anonymous.post('/auth/refresh', { refresh_token: user.refreshToken });
  secrets.push(data.access_token, data.refresh_token);
  await anonymous.post('/auth/refresh', { refresh_token: user.refreshToken });
  await user.get('/auth/me');
  await anonymous.get('/auth/me', { headers: { authorization: 'Bearer bearer.of.nonsense' } });
  await anonymous.get('/auth/me?access_token=token-in-query');
  await sendRaw(base, request('GET /auth/me', 'Authorization: Bearer bearer.of.nonsense', 'broken header'));

  // A fault of ours is logged whole, but for what its caller sent in confidence.
  await superuser`alter table sessions rename to gone_for_the_moment`;
  const login = { tenantId: '000000', username: 'admin', password: PASSWORD };
  await anonymous.post('/auth/login', login, withId('fault-1'));
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

  await anonymous.get('/version', withId('last-1'));
  await linesOf('last-1');
  for (const secret of new Set(secrets)) {
    assert.ok(secret.length > 5);
    for (const text of [run.stdout, run.stderr]) assert.ok(!text.includes(secret), `printed: ${secret}`);
  }
  assert.doesNotMatch(run.stdout, /argon2|bearer|authorization/i);
});

test('a response that misses its deadline is logged, without what was searched for', async () => {
  const { token } = await logIn('admin', PASSWORD);
  const hurried = startServed(databaseUrl, { BANYAN_LOG_LEVEL: 'trace' }, { timing: { responseMs: 1_000 } });
  const { base } = await hurried.ready();
  await superuser.begin(async (tx) => {
    await tx`lock table banyan.departments in access exclusive mode`;
    const late = await new Client(base, token).get('/system/dept-api/list?deptName=redundancies', withId('late-1'));
    assert.equal(late.status, 503);
    const [warned, answered] = await linesOf('late-1', hurried);
    assert.equal(warned.msg, 'a request was not answered in time');
    assert.equal(answered.status, 503);
  });
  // Now the table is free, and its own response comes, to nobody. The process ends after that.
  assert.equal(await hurried.stop(), 0, hurried.stderr);
  assert.ok(!hurried.stdout.includes('redundancies'), hurried.stdout);
});

test('a client that hangs up before it has sent everything is not logged as an error', async () => {
  const head = request(
    'POST /auth/login',
    'Content-Type: application/json',
    'Content-Length: 999',
    'X-Request-Id: cut-1',
  );
  await sendAndLeave(base, `${head}{"tenantId":`);
  const found = await linesOf('cut-1');
  assert.deepEqual(
    found.map(({ level, status }) => [level, status]),
    [[30, 499]],
  );
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
    await waitFor('it waits for the table', async () => (await countWaiting(tx)) === 1);
    socket.destroy();
    const [line] = await linesOf('left-1');
    assert.deepEqual([line.msg, line.status], ['the connection ended before the answer', 499]);
    assert.deepEqual([line.path, line.tenantId], ['/system/dept-api', '000000']);
  });
  await waitFor('it is done', async () => {
    const { data } = await admin.get('/system/dept-api/list?deptName=left%20behind');
    return data.total === 1;
  });
});

test('a stop is heard, and every line was JSON: of a request, with its id', async () => {
  assert.equal(await run.stop(), 0, run.stderr);
  for (const line of run.stdout.trimEnd().split('\n')) {
    const { level, time, msg, requestId, ...rest } = JSON.parse(line);
    assert.ok(level && time && msg, line);
    if (!/^Server listening at/.test(msg)) assert.match(String(requestId ?? ''), /^[\w.-]{1,64}$/, line);
    assert.equal(rest.body, undefined);
    assert.equal(rest.headers, undefined);
    if (level >= 50) assert.match(requestId, /^fault-/, line);
  }
});
