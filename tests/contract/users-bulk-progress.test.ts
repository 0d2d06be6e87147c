import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, mock, test } from 'node:test';
import { apiError } from '../../server/http/errors.ts';
import { DEPTS, expectError, expectInvalid, expectOk, storedState, USERS } from '../support/expect.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';
import { idsOf, row, startUsersBulk } from './users-bulk.ts';

const { service, admin, neighbour, add } = await startUsersBulk();

describe('Progress of a bulk creation', () => {
  const accept = { headers: { accept: 'text/event-stream' } };
  const eventsOf = (text: string) =>
    text
      .trim()
      .split('\n\n')
      .map((event) => /^event: (\w+)\ndata: (.*)$/.exec(event))
      .map((match) => ({ name: match?.[1], data: JSON.parse(match?.[2] ?? 'null') }));

  test('events report how many passwords are hashed, and the last one is the response', async () => {
    const users = Array.from({ length: 20 }, (_, n) => row(`p${n}`));
    const response = await admin.post(`${USERS}/bulk`, { users }, accept);
    assert.equal(response.headers['content-type'], 'text/event-stream; charset=utf-8');
    const events = eventsOf(response.text);
    const progress = events.filter(({ name }) => name === 'progress').map(({ data }) => data);
    assert.deepEqual(
      [progress[0], progress.at(-1)],
      [
        { done: 0, total: 20 },
        { done: 20, total: 20 },
      ],
    );
    const { name, data } = events.at(-1) as (typeof events)[number];
    assert.deepEqual([name, data.code, data.data.userIds.length], ['result', 200, 20]);
  });

  /** Holds the hashes of one password until `release` is called; then they fail if `fails` is set. */
  function holdHashes(password: string, { fails = false } = {}) {
    const { passwords } = service.app;
    const original = passwords.hash;
    const hold = { calls: 0, release: () => {} };
    const released = new Promise<void>((release) => {
      hold.release = release;
    });
    passwords.hash = async (text, share) => {
      if (text === password) {
        hold.calls++;
        await released;
        if (fails) throw apiError('TOO_BUSY');
      }
      return original(text, share);
    };
    return hold;
  }

  test('an error before hashing is a regular response, and a later one an event', async () => {
    expectInvalid(await admin.post(`${USERS}/bulk`, { users: [row('a b')] }, accept), 'users[0].userName');
    const password = 'held until the name is taken';
    const hold = holdHashes(password);
    const bulk = admin.post(`${USERS}/bulk`, { users: [row('early'), row('late', { password })] }, accept);
    await waitFor('the password is being hashed', () => hold.calls > 0);
    await admin.createUser({ userName: 'Late' });
    hold.release();
    const last = eventsOf((await bulk).text).at(-1);
    assert.deepEqual([last?.name, last?.data.code, last?.data.data.ref], ['refused', 409, 'ref late']);
    assert.equal(last?.data.data.reason, 'USER_NAME_TAKEN');
    expectOk(await add([row('early')]), { userIds: (await idsOf(admin)).slice(-1), deptIds: [] });
  });

  /** Sets the clock forward until the service has checked its deadlines: it then rejects a read that waits for a lock. */
  const passDeadlines = () =>
    service.superuser.begin(async (tx) => {
      await tx`lock table departments in access exclusive mode`;
      const read = admin.get(`${DEPTS}/list`);
      await waitFor('the read waits for the lock', async () => (await countLockWaits(tx, 'relation')) > 0);
      const now = performance.now.bind(performance);
      const clock = mock.method(performance, 'now', () => now() + 3_600_000);
      expectError(await read, 503, 'TOO_BUSY');
      clock.mock.restore();
    });

  test('hashing in a bulk creation has no deadline, and other users can log in during it', async () => {
    const password = 'hashed after the deadline';
    const hold = holdHashes(password);
    const bulk = add([row('slow', { password })]);
    await waitFor('the password is being hashed', () => hold.calls > 0);
    await service.logIn(admin.tenantId, 'boss');
    await passDeadlines();
    hold.release();
    assert.equal((await bulk).code, 200);
    await service.logIn(admin.tenantId, 'slow', password);
  });

  test('hashing ends when the client disconnects, and nothing is written', async () => {
    const password = 'held until the client is gone';
    const hold = holdHashes(password);
    const body = JSON.stringify({ users: Array.from({ length: 50 }, (_, n) => row(`gone${n}`, { password })) });
    const { hostname, port } = new URL(admin.base);
    const headers = {
      authorization: `Bearer ${admin.token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const closed = new Promise<void>((resolve) => {
      service.app.server.prependOnceListener('request', (_request, response) => response.once('close', resolve));
    });
    const before = await storedState(service);
    const request = http.request({ method: 'POST', path: `${USERS}/bulk`, hostname, port, headers, agent: false });
    request.on('error', () => {});
    request.end(body);
    await waitFor('the first passwords are being hashed', () => hold.calls === 2);
    request.destroy();
    await closed;
    hold.release();
    await waitFor('a later request is done', async () => (await add([row('a b')])).code === 400);
    // This hash starts after one of those in flight has ended. A request that continued would have hashed more by then.
    await waitFor('a later hash is done', async () =>
      service.app.passwords.hash('another text', { owner: 'a', group: 'b' }),
    );
    assert.equal(hold.calls, 2);
    assert.deepEqual(await storedState(service), before);
  });

  test('at most 20,000 users of a tenant are being created at a time, and a failed hash ends a request', async () => {
    const password = 'held until another request was rejected';
    const hold = holdHashes(password, { fails: true });
    const rows = (name: string) => Array.from({ length: 10_000 }, (_, n) => row(`${name}${n}`, { password }));
    const first = add(rows('b'));
    await waitFor('passwords of the first request are being hashed', () => hold.calls === 2);
    const second = add(rows('c'));
    await waitFor('passwords of the second request are being hashed', () => hold.calls === 4);
    expectError(await add([row('more')]), 503, 'TOO_BUSY');
    // Another tenant is not affected.
    assert.equal((await add([row('free')], {}, neighbour)).code, 200);
    hold.release();
    for (const response of await Promise.all([first, second])) expectError(response, 503, 'TOO_BUSY');
    assert.equal(hold.calls, 4);
    assert.equal((await add([row('more')])).code, 200);
  });
});
