import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { decodeProtectedHeader } from 'jose';
import { report, scale, Tally } from '../support/scale.ts';
import { type ApiResponse, Client, PASSWORD, startService } from '../support/service.ts';
import { encode } from '../support/tokens.ts';
import { waitFor } from '../support/wait.ts';

/** Two nodes with one database: a change at one node takes effect at the other on the next request. */

const here = await startService();
const there = await startService({ DATABASE_URL: here.databaseUrl });
/** The same caller at the other node. */
const atOtherNode = (client: Client) => new Client(there.base, client.token, client.refreshToken, client.tenantId);

const users = '/system/user-api';
const tenants = '/system/tenant-api';
const outcomeOf = ({ status, data }: ApiResponse) => `${status} ${data?.reason ?? ''}`.trim();

type LoggedIn = Client & { id: string };
interface Fixture {
  /** The administrator of the parent tenant. */
  above: LoggedIn;
  /** Another administrator of the tenant of the victim. */
  boss: LoggedIn;
  victim: LoggedIn;
}

/** An action at one node, and the response to the next request of the victim at the other. */
const cases: [what: string, act: (fixture: Fixture) => Promise<ApiResponse>, expected: string][] = [
  [
    'an administrator who was demoted',
    ({ boss, victim }) => boss.put(users, { userId: victim.id, roles: ['member'] }),
    '403 NOT_ALLOWED',
  ],
  [
    'a user who was disabled',
    ({ boss, victim }) => boss.put(users, { userId: victim.id, roles: ['admin'], status: '1' }),
    '403 USER_DISABLED',
  ],
  ['a user who was deleted', ({ boss, victim }) => boss.delete(`${users}/${victim.id}`), '401 USER_DELETED'],
  [
    'a user who was deleted by an administrator of the parent tenant',
    ({ above, boss, victim }) => above.delete(`${users}/${victim.id}?tenantId=${boss.tenantId}`),
    '401 USER_DELETED',
  ],
  ['a user who logged out', ({ victim }) => victim.post('/auth/logout'), '401 SESSION_ENDED'],
  [
    'a user whose password was reset',
    ({ boss, victim }) => boss.put(users, { userId: victim.id, roles: ['admin'], password: 'another horse' }),
    '401 SESSION_ENDED',
  ],
  [
    'a user who changed their password in another session',
    async ({ victim }) => {
      const other = await here.logIn(victim.tenantId, 'victim');
      return other.put('/auth/password', { oldPassword: PASSWORD, newPassword: 'another horse' });
    },
    '401 SESSION_ENDED',
  ],
  [
    'a user whose old refresh token was reused',
    async ({ victim }) => {
      const body = { refresh_token: victim.refreshToken };
      assert.equal((await here.anonymous.post('/auth/refresh', body)).code, 200);
      const again = await here.anonymous.post('/auth/refresh', body);
      assert.equal(outcomeOf(again), '401 REFRESH_REFUSED');
      return { ...again, code: 200 };
    },
    '401 SESSION_ENDED',
  ],
  [
    'a user whose tenant was disabled',
    ({ above, boss }) => above.put(tenants, { id: boss.id, status: '1' }),
    '403 TENANT_DISABLED',
  ],
  [
    'a user whose parent tenant was disabled',
    ({ above }) => here.root.put(tenants, { id: above.id, status: '1' }),
    '403 TENANT_DISABLED',
  ],
  [
    'a user whose parent tenant has ended',
    ({ above }) => here.root.put(tenants, { id: above.id, endTime: '2020-01-01' }),
    '403 TENANT_ENDED',
  ],
  [
    'a user whose parent tenant has not started',
    ({ above }) => here.root.put(tenants, { id: above.id, startTime: '2999-01-01' }),
    '403 TENANT_NOT_STARTED',
  ],
  ['a user whose tenant was deleted', ({ above, boss }) => above.delete(`${tenants}/${boss.id}`), '401 TENANT_DELETED'],
];

const shared = await here.createTenant();

for (const [what, act, expected] of cases) {
  test(`${what} is rejected at the other node on the next request`, async () => {
    // Cases that change the parent tenant use a parent of their own.
    const above = /whose parent tenant/.test(what) ? await here.createTenant() : shared;
    const boss = await here.createTenant({}, above);
    const victim = await here.createMember(boss, { userName: 'victim', roles: ['admin'] });
    const there = atOtherNode(victim);
    const calls = () =>
      Promise.all([
        there.get(`${users}/list`),
        there.post('/system/dept-api', {}),
        there.get(`${tenants}/list`),
        there.delete('/system/dept-api/7'),
      ]);
    // Call the other node first, so that anything it might cache is cached.
    assert.deepEqual((await calls()).map(outcomeOf), ['200', '200', '200', '404 DEPT_NOT_FOUND']);
    const done = await act({ above, boss, victim });
    assert.equal(done.code, 200, done.text);
    for (const response of await calls()) assert.equal(outcomeOf(response), expected, response.text);
    const refreshed = await there.post('/auth/refresh', { refresh_token: victim.refreshToken });
    if (expected !== '403 NOT_ALLOWED') assert.notEqual(refreshed.code, 200, 'the refresh token must not work either');
  });
}

test('no request is rejected while signing keys are rotated and four clients call both nodes', async (t) => {
  const rounds = scale(2, 20);
  const tally = new Tally();
  const keys = new Set<string>();
  /** The key that signed the current token of each client. */
  const currentKeys: string[] = [];
  let isRunning = true;
  const nodes = [here, there];
  const clients = Array.from({ length: 4 }, async (_, n) => {
    let client: Client = await here.createTenant();
    for (let step = n; isRunning; step++) {
      const node = nodes[step % 2] as typeof here;
      const response = await new Client(node.base, client.token).get('/auth/me');
      tally.add(outcomeOf(response));
      if (step % 3) continue;
      const { data, status } = await node.anonymous.post('/auth/refresh', { refresh_token: client.refreshToken });
      tally.add(`refresh ${status}`);
      client = new Client(node.base, data.access_token, data.refresh_token);
      currentKeys[n] = String(decodeProtectedHeader(data.access_token).kid);
      keys.add(currentKeys[n]);
    }
  });
  try {
    for (let round = 0; round < rounds; round++) {
      // A retired key stays valid for days, but this test skips a month at once, so no client may hold a token of an old key.
      await waitFor(
        'all clients hold tokens of one key',
        () => currentKeys.length === 4 && new Set(currentKeys).size === 1,
      );
      const before = keys.size;
      await here.superuser`update banyan.signing_keys set create_time = create_time - interval '31 days'
        where create_time > now() - interval '30 days'`;
      // A token with an unknown key makes the node reload the keys and notice that the newest is too old.
      const node = nodes[round % 2] as typeof here;
      const unknownKeyToken = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: randomUUID() })}.${encode({})}.${encode('x')}`;
      assert.equal((await new Client(node.base, unknownKeyToken).get('/auth/me')).status, 401);
      await waitFor('a new key is used', () => keys.size > before);
    }
  } finally {
    isRunning = false;
    await Promise.all(clients);
  }
  report(t, { rounds, keys: keys.size, ...tally.counts });
  assert.deepEqual(Object.keys(tally.counts).sort(), ['200', 'refresh 200']);
});
