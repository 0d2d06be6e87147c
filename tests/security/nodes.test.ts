import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { decodeProtectedHeader } from 'jose';
import { report, scale, Tally } from '../support/scale.ts';
import { type Answer, Client, PASSWORD, startService } from '../support/service.ts';
import { encode } from '../support/tokens.ts';
import { waitFor } from '../support/wait.ts';

/** Two nodes on one database: who is shut out at one is out at the other, on the next request. */

const here = await startService();
const there = await startService({ DATABASE_URL: here.databaseUrl });
/** The same caller, at the other node. */
const elsewhere = (client: Client) => new Client(there.base, client.token, client.refreshToken, client.tenantId);

const users = '/system/user-api';
const tenants = '/system/tenant-api';
const reasonOf = ({ status, data }: Answer) => `${status} ${data?.reason ?? ''}`.trim();

type Victim = Client & { id: string };
interface Setting {
  /** Administrator of the tenant above. */
  above: Victim;
  /** Administrator of the victim's tenant; not the victim. */
  boss: Victim;
  victim: Victim;
}

/** What is done at one node, and what the victim's next request at the other is answered. */
const cases: [what: string, act: (all: Setting) => Promise<Answer>, expected: string][] = [
  [
    'an administrator who was demoted administers no more',
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
    'a user whom an administrator of the tenant above deleted',
    ({ above, boss, victim }) => above.delete(`${users}/${victim.id}?tenantId=${boss.tenantId}`),
    '401 USER_DELETED',
  ],
  ['a session that was logged out', ({ victim }) => victim.post('/auth/logout'), '401 SESSION_ENDED'],
  [
    'a user who was given another password',
    ({ boss, victim }) => boss.put(users, { userId: victim.id, roles: ['admin'], password: 'another horse' }),
    '401 SESSION_ENDED',
  ],
  [
    'a user who changed his password at another session',
    async ({ victim }) => {
      const other = await here.logIn(victim.tenantId, 'victim');
      return other.put('/auth/password', { oldPassword: PASSWORD, newPassword: 'another horse' });
    },
    '401 SESSION_ENDED',
  ],
  [
    'a session whose old refresh token came again',
    async ({ victim }) => {
      const body = { refresh_token: victim.refreshToken };
      assert.equal((await here.anonymous.post('/auth/refresh', body)).code, 200);
      const again = await here.anonymous.post('/auth/refresh', body);
      assert.equal(reasonOf(again), '401 REFRESH_REFUSED');
      return { ...again, code: 200 };
    },
    '401 SESSION_ENDED',
  ],
  [
    'a tenant that was disabled',
    ({ above, boss }) => above.put(tenants, { id: boss.id, status: '1' }),
    '403 TENANT_DISABLED',
  ],
  [
    'the tenant above was disabled',
    ({ above }) => here.root.put(tenants, { id: above.id, status: '1' }),
    '403 TENANT_DISABLED',
  ],
  [
    'the period of the tenant above has ended',
    ({ above }) => here.root.put(tenants, { id: above.id, endTime: '2020-01-01' }),
    '403 TENANT_ENDED',
  ],
  [
    'the tenant above begins later',
    ({ above }) => here.root.put(tenants, { id: above.id, startTime: '2999-01-01' }),
    '403 TENANT_NOT_STARTED',
  ],
  ['a tenant that was deleted', ({ above, boss }) => above.delete(`${tenants}/${boss.id}`), '401 TENANT_DELETED'],
];

const shared = await here.createTenant();

for (const [what, act, expected] of cases) {
  test(`out at the other node on the next request: ${what}`, async () => {
    // What is done to the tenant above is done to one that no other case needs.
    const above = /tenant above (was|begins)|of the tenant above has/.test(what) ? await here.createTenant() : shared;
    const boss = await here.createTenant({}, above);
    const victim = await here.createMember(boss, { userName: 'victim', roles: ['admin'] });
    const there = elsewhere(victim);
    const calls = () =>
      Promise.all([
        there.get(`${users}/list`),
        there.post('/system/dept-api', {}),
        there.get(`${tenants}/list`),
        there.delete('/system/dept-api/7'),
      ]);
    // First he is let in there, so that whatever a node might remember is there to be remembered.
    assert.deepEqual((await calls()).map(reasonOf), ['200', '200', '200', '404 DEPT_NOT_FOUND']);
    const done = await act({ above, boss, victim });
    assert.equal(done.code, 200, done.text);
    for (const answer of await calls()) assert.equal(reasonOf(answer), expected, answer.text);
    const refreshed = await there.post('/auth/refresh', { refresh_token: victim.refreshToken });
    if (expected !== '403 NOT_ALLOWED') assert.notEqual(refreshed.code, 200, 'nor does the refresh token let him in');
  });
}

test('keys that are renewed while four clients call both nodes: not one is refused', async (t) => {
  const rounds = scale(2, 20);
  const tally = new Tally();
  const keys = new Set<string>();
  /** The key that signed what each client holds. */
  const held: string[] = [];
  let going = true;
  const nodes = [here, there];
  const working = Array.from({ length: 4 }, async (_, n) => {
    let client: Client = await here.createTenant();
    for (let turn = n; going; turn++) {
      const node = nodes[turn % 2] as typeof here;
      const answer = await new Client(node.base, client.token).get('/auth/me');
      tally.add(reasonOf(answer));
      if (turn % 3) continue;
      const { data, status } = await node.anonymous.post('/auth/refresh', { refresh_token: client.refreshToken });
      tally.add(`refresh ${status}`);
      client = new Client(node.base, data.access_token, data.refresh_token);
      held[n] = String(decodeProtectedHeader(data.access_token).kid);
      keys.add(held[n]);
    }
  });
  try {
    for (let round = 0; round < rounds; round++) {
      // A key that signs no more is good for days; here a month goes by at once, so none may be in use.
      await waitFor('all hold tokens of one key', () => held.length === 4 && new Set(held).size === 1);
      const before = keys.size;
      await here.superuser`update banyan.signing_keys set create_time = create_time - interval '31 days'
        where create_time > now() - interval '30 days'`;
      // Whoever meets a key that it doesn't know looks again, and finds the newest too old.
      const node = nodes[round % 2] as typeof here;
      const stranger = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: randomUUID() })}.${encode({})}.${encode('x')}`;
      assert.equal((await new Client(node.base, stranger).get('/auth/me')).status, 401);
      await waitFor('a new key signs', () => keys.size > before);
    }
  } finally {
    going = false;
    await Promise.all(working);
  }
  report(t, { rounds, keys: keys.size, ...tally.counts });
  assert.deepEqual(Object.keys(tally.counts).sort(), ['200', 'refresh 200']);
});
