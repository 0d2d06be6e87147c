import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { readConfig } from '../../server/config.ts';
import { serve } from '../../server/process/serve.ts';
import { after, afterFile } from '../support/cleanup.ts';
import { CHEAP_HASH, connectWithoutDeadline, createDatabase, NO_DEADLINES } from '../support/database.ts';
import { csv, importFile } from '../support/import.ts';
import { type Run, startOnDatabase } from '../support/process.ts';
import { request, sendAndDisconnect, sendRaw } from '../support/raw.ts';
import { isLong } from '../support/scale.ts';
import { Client, PASSWORD, RELAXED_TIMING } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

/** Serves in this process, because starting another one is slow. */
async function serveHere(timing = {}) {
  const config = readConfig({ DATABASE_URL: databaseUrl, PORT: '0', BANYAN_LOG_LEVEL: 'trace' });
  const db = await openDatabase({ ...config, timing: NO_DEADLINES });
  const output = { stdout: '', stderr: '', write: (line: string) => (output.stdout += line) };
  const options = { db, config, output, passwordCost: CHEAP_HASH };
  const { port, close } = await serve({ ...options, timing: { ...RELAXED_TIMING, shutdownMs: 600_000, ...timing } });
  let stopping: Promise<number> | undefined;
  const stop = () =>
    (stopping ??= close()
      .then(() => db.close())
      .then(() => 0));
  afterFile(stop);
  return Object.assign(output, { ready: async () => new Client(`http://127.0.0.1:${port}`), stop });
}

/** The tests read the output of one service with the most verbose log level. With test:long it is a process. */
const { databaseUrl, superuserUrl } = await createDatabase();
const superuser = connectWithoutDeadline({ url: superuserUrl });
after(() => superuser.end());
const run = isLong ? startOnDatabase(databaseUrl, { BANYAN_LOG_LEVEL: 'trace' }) : await serveHere();
const anonymous = await run.ready();
const { base } = anonymous;

/** All secrets that were sent or received. None may appear in the output. */
const secrets: string[] = [PASSWORD, new URL(databaseUrl).password];

async function logIn(username: string, password: string, tenantId = '000000') {
  secrets.push(password);
  const { data } = await anonymous.post('/auth/login', { tenantId, username, password });
  if (!data.access_token) return anonymous;
  secrets.push(data.access_token, data.refresh_token, data.refresh_token.split('.').at(-1));
  return new Client(base, data.access_token, data.refresh_token);
}

/** Returns the log lines of one request, once its last line is there. */
const linesOf = (requestId: string, of: Pick<Run, 'stdout'> = run) =>
  waitFor(`${requestId} is in the log`, () => {
    const found = lines(of).filter((line) => line.requestId === requestId);
    return found.some((line) => /^request (completed|aborted)$/.test(line.msg)) ? found : undefined;
  });

const lines = ({ stdout }: Pick<Run, 'stdout'>) =>
  stdout
    .slice(0, stdout.lastIndexOf('\n'))
    .split('\n')
    .map((line) => JSON.parse(line));

const withId = (id: string, more: Record<string, string> = {}) => ({ headers: { 'x-request-id': id, ...more } });

test('each request has one line with its id, method, path without query, status, duration, caller and address', async () => {
  await anonymous.get('/system/dept-api/list?deptName=somebody', withId('read-1'));
  const found = await linesOf('read-1');
  assert.equal(found.length, 1);
  const { time, pid, hostname, ms, ...line } = found[0];
  const expected = {
    level: 30,
    method: 'GET',
    path: '/system/dept-api/list',
    from: '127.0.0.1',
    msg: 'request completed',
  };
  assert.deepEqual(line, { ...expected, status: 401, requestId: 'read-1' });
  assert.deepEqual([typeof time, typeof ms], ['number', 'number']);
  const admin = await logIn('admin', PASSWORD);
  const { data } = await admin.get('/auth/me');
  await admin.get('/system/dept-api/list', withId('read-2'));
  const [{ tenantId, userId }] = await linesOf('read-2');
  assert.deepEqual([tenantId, userId], ['000000', String(data.user.userId)]);
  const { keyId, key } = (await admin.post('/system/key-api', { keyName: 'key', permissions: ['dept:read'] })).data;
  secrets.push(key);
  await new Client(base, key).get('/system/dept-api/list', withId('read-3'));
  const [byKey] = await linesOf('read-3');
  assert.deepEqual([byKey.tenantId, byKey.keyId, byKey.userId], ['000000', String(keyId), undefined]);
  assert.doesNotMatch(run.stdout, /somebody/);
});

test('requests that the router or the parser rejects are logged too', async () => {
  const rejected: [id: string, path: string, status: number][] = [
    ['rejected-1', '/nope', 404],
    ['rejected-2', '/%ff', 400],
    ['rejected-3', '/version?a=%ff', 400],
  ];
  for (const [id, path, status] of rejected) {
    await anonymous.get(path, withId(id));
    assert.equal((await linesOf(id)).at(-1).status, status);
  }
  await anonymous.post('/auth/login', undefined, { raw: '{', ...withId('rejected-4') });
  assert.equal((await linesOf('rejected-4')).at(-1).status, 400);
});

test('no line contains a password or token, however a request ends', async () => {
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
  // The message of a JSON syntax error in Node.js repeats a part of the input.
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
  const newKey = { keyName: 'key', permissions: ['dept:read'] };
  const { key } = (await admin.post('/system/key-api', newKey, withId('key-1', { 'idempotency-key': 'key' }))).data;
  secrets.push(key);
  for (const sent of [key, `${key}x`, `${key.slice(0, -1)}?`]) {
    await anonymous.get('/system/dept-api/list', { headers: { authorization: `Bearer ${sent}` } });
  }
  await sendRaw(base, request('GET /auth/me', `Authorization: Bearer ${key}`, 'broken header'));
  await admin.get(`/system/dept-api/${key}`);
  assert.equal((await importFile(admin, 'dept', 'preview', csv([['部门路径'], ['总部']]))).status, 200);

  // An internal error is logged with its stack, but without secrets of the request.
  await superuser`alter table sessions rename to temporarily_renamed`;
  const login = { tenantId: '000000', username: 'admin', password: PASSWORD };
  await anonymous.post('/auth/login', login, withId('fault-1'));
  await admin.get('/auth/me', withId('fault-2'));
  await superuser`alter table temporarily_renamed rename to sessions`;
  await superuser`alter table users add constraint reject_nick_name check (nick_name <> 'rejected') not valid`;
  await admin.post('/system/user-api', { userName: 'w', nickName: 'rejected', password: PASSWORD }, withId('fault-3'));
  await superuser`alter table users drop constraint reject_nick_name`;
  await superuser`alter table api_key_secrets rename to temporarily_renamed`;
  await anonymous.get('/system/dept-api/list', withId('fault-4', { authorization: `Bearer ${key}` }));
  await admin.post('/system/key-api', newKey, withId('fault-5'));
  await superuser`alter table temporarily_renamed rename to api_key_secrets`;
  for (const id of ['fault-1', 'fault-2', 'fault-3', 'fault-4', 'fault-5']) {
    const [fault, completed] = await linesOf(id);
    assert.equal(fault.level, 50);
    assert.equal(fault.msg, 'internal error');
    assert.match(fault.err.stack, /at .*[jt]s:\d+/);
    assert.equal(completed.status, 500);
  }

  await anonymous.get('/version', withId('last-1'));
  await linesOf('last-1');
  for (const secret of new Set(secrets)) {
    assert.ok(secret.length > 5);
    for (const text of [run.stdout, run.stderr]) assert.ok(!text.includes(secret), `the output contains ${secret}`);
  }
  assert.doesNotMatch(run.stdout, /argon2|bearer|authorization/i);
});

test('a request that exceeds its deadline is logged without its search text', async () => {
  const { token } = await logIn('admin', PASSWORD);
  const output = await serveHere({ responseMs: 1_000 });
  const late = new Client((await output.ready()).base, token);
  await superuser.begin(async (tx) => {
    await tx`lock table banyan.departments in access exclusive mode`;
    const { status } = await late.get('/system/dept-api/list?deptName=redundancies', withId('late-1'));
    assert.equal(status, 503);
    const [warned, completed] = await linesOf('late-1', output);
    assert.equal(warned.msg, 'request timed out');
    assert.equal(completed.status, 503);
  });
  // The lock is released and the query completes after the deadline. Then the service stops.
  await output.stop();
  assert.ok(!output.stdout.includes('redundancies'), output.stdout);
});

test('a client that disconnects before it has sent its whole request is not logged as an error', async () => {
  const head = request(
    'POST /auth/login',
    'Content-Type: application/json',
    'Content-Length: 999',
    'X-Request-Id: cut-1',
  );
  await sendAndDisconnect(base, `${head}{"tenantId":`);
  const found = await linesOf('cut-1');
  assert.deepEqual(
    found.map(({ level, status }) => [level, status]),
    [[30, 499]],
  );
});

test('a request whose client disconnects before the response is logged with status 499 and executed', async () => {
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
    await waitFor('the request waits for the table', async () => (await countLockWaits(tx)) === 1);
    socket.destroy();
    const [line] = await linesOf('left-1');
    assert.deepEqual([line.msg, line.status], ['request aborted', 499]);
    assert.deepEqual([line.path, line.tenantId], ['/system/dept-api', '000000']);
  });
  await waitFor('the department is created', async () => {
    const { data } = await admin.get('/system/dept-api/list?deptName=left%20behind');
    return data.total === 1;
  });
});

// This test comes last, because it stops the service.
test('the service stops cleanly, and every log line is JSON and has the id of its request', async () => {
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
