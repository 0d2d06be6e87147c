import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { decodeProtectedHeader } from 'jose';
import { outcomeOf } from '../support/expect.ts';
import { report, scale, Tally } from '../support/scale.ts';
import { type ApiResponse, Client, PASSWORD, startService } from '../support/service.ts';
import { encode } from '../support/tokens.ts';
import { waitFor } from '../support/wait.ts';

/** Two nodes with one database: a change at one node takes effect at the other on the next request. */

const here = await startService();
const there = await startService({ DATABASE_URL: here.databaseUrl });
const atOtherNode = (client: Client) => new Client(there.base, client.token, client.refreshToken, client.tenantId);

const users = '/system/user-api';
const tenants = '/system/tenant-api';

type LoggedIn = Client & { id: string };
interface Fixture {
  /** The administrator of the parent tenant. */
  above: LoggedIn;
  /** Another administrator of the tenant of the victim. */
  admin: LoggedIn;
  victim: LoggedIn;
}

interface Case {
  what: string;
  /** The action at one node. */
  act: (fixture: Fixture) => Promise<ApiResponse>;
  /** The response to the next request of the victim at the other node. */
  expected: string;
  /** The action changes the parent tenant, so the case needs a parent that no other case uses. */
  changesParent?: true;
}

const cases: Case[] = [
  {
    what: 'an administrator who was demoted',
    act: ({ admin, victim }) => admin.put(users, { userId: victim.id, roles: ['member'] }),
    expected: '403 NOT_ALLOWED',
  },
  {
    what: 'a user who was disabled',
    act: ({ admin, victim }) => admin.put(users, { userId: victim.id, roles: ['admin'], status: '1' }),
    expected: '403 USER_DISABLED',
  },
  {
    what: 'a user who was deleted',
    act: ({ admin, victim }) => admin.delete(`${users}/${victim.id}`),
    expected: '401 USER_DELETED',
  },
  {
    what: 'a user who was deleted by an administrator of the parent tenant',
    act: ({ above, admin, victim }) => above.delete(`${users}/${victim.id}?tenantId=${admin.tenantId}`),
    expected: '401 USER_DELETED',
  },
  {
    what: 'a user who logged out',
    act: ({ victim }) => victim.post('/auth/logout'),
    expected: '401 SESSION_ENDED',
  },
  {
    what: 'a user whose password was reset',
    act: ({ admin, victim }) => admin.put(users, { userId: victim.id, roles: ['admin'], password: 'another horse' }),
    expected: '401 SESSION_ENDED',
  },
  {
    what: 'a user who changed their password in another session',
    async act({ victim }) {
      const other = await here.logIn(victim.tenantId, 'victim');
      return other.put('/auth/password', { oldPassword: PASSWORD, newPassword: 'another horse' });
    },
    expected: '401 SESSION_ENDED',
  },
  {
    what: 'a user whose old refresh token was reused',
    async act({ victim }) {
      const body = { refresh_token: victim.refreshToken };
      const refreshed = await here.anonymous.post('/auth/refresh', body);
      assert.equal(outcomeOf(await here.anonymous.post('/auth/refresh', body)), '401 REFRESH_REFUSED');
      return refreshed;
    },
    expected: '401 SESSION_ENDED',
  },
  {
    what: 'a user whose tenant was disabled',
    act: ({ above, admin }) => above.put(tenants, { id: admin.id, status: '1' }),
    expected: '403 TENANT_DISABLED',
  },
  {
    what: 'a user whose parent tenant was disabled',
    act: ({ above }) => here.root.put(tenants, { id: above.id, status: '1' }),
    expected: '403 TENANT_DISABLED',
    changesParent: true,
  },
  {
    what: 'a user whose parent tenant has ended',
    act: ({ above }) => here.root.put(tenants, { id: above.id, endTime: '2020-01-01' }),
    expected: '403 TENANT_ENDED',
    changesParent: true,
  },
  {
    what: 'a user whose parent tenant has not started',
    act: ({ above }) => here.root.put(tenants, { id: above.id, startTime: '2999-01-01' }),
    expected: '403 TENANT_NOT_STARTED',
    changesParent: true,
  },
  {
    what: 'a user whose tenant was deleted',
    act: ({ above, admin }) => above.delete(`${tenants}/${admin.id}`),
    expected: '401 TENANT_DELETED',
  },
];

const sharedParent = await here.createTenant();

for (const { what, act, expected, changesParent } of cases) {
  test(`${what} is rejected at the other node on the next request`, async () => {
    const above = changesParent ? await here.createTenant() : sharedParent;
    const admin = await here.createTenant({}, above);
    const victim = await here.createMember(admin, { userName: 'victim', roles: ['admin'] });
    const victimThere = atOtherNode(victim);
    const calls = () =>
      Promise.all([
        victimThere.get(`${users}/list`),
        victimThere.post('/system/dept-api', {}),
        victimThere.get(`${tenants}/list`),
        victimThere.delete('/system/dept-api/7'),
      ]);
    // Call the other node first, so that anything it might cache is cached.
    assert.deepEqual((await calls()).map(outcomeOf), ['200 OK', '200 OK', '200 OK', '404 DEPT_NOT_FOUND']);
    const done = await act({ above, admin, victim });
    assert.equal(done.code, 200, done.text);
    for (const response of await calls()) assert.equal(outcomeOf(response), expected, response.text);
    const refreshed = await victimThere.post('/auth/refresh', { refresh_token: victim.refreshToken });
    if (expected !== '403 NOT_ALLOWED') assert.notEqual(refreshed.code, 200, 'the refresh token must not work either');
  });
}

/** A token with an unknown key makes a node reload the keys, and add one if it notices that the newest is too old. */
async function reloadKeys({ base }: typeof here): Promise<void> {
  const token = `${encode({ alg: 'EdDSA', typ: 'at+jwt', kid: randomUUID() })}.${encode({})}.${encode('x')}`;
  assert.equal((await new Client(base, token).get('/auth/me')).status, 401);
}

test('no request is rejected while signing keys are rotated and four clients call both nodes', async (t) => {
  const rounds = scale(1, 20);
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
      await here.superuser`update banyan.signing_keys set create_time = create_time - interval '31 days'`;
      const node = nodes[round % 2] as typeof here;
      await reloadKeys(node);
      // The new key is published for an hour before it signs: this test skips the hour too.
      const published = await here.superuser`
        update banyan.signing_keys set create_time = create_time - interval '1 hour'
        where create_time > now() - interval '1 hour' returning key_id`;
      assert.equal(published.length, 1, 'the node has added one key');
      for (const each of nodes) await reloadKeys(each);
      await waitFor('a new key is used', () => keys.size > before);
    }
  } finally {
    isRunning = false;
    await Promise.all(clients);
  }
  report(t, { rounds, keys: keys.size, ...tally.counts });
  assert.deepEqual(Object.keys(tally.counts).sort(), ['200 OK', 'refresh 200']);
});
