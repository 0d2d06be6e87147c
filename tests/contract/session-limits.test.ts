import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { outcomeOf } from '../support/expect.ts';
import { type Client, PASSWORD, type Service, shareService, startService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

/** A session ends 30 days after its login in any case, and a user has at most 20 sessions. */

const service = await shareService();
const single = await startService({ BANYAN_SESSIONS_PER_USER: '1', BANYAN_SESSION_DAYS: '2' });

const whoami = async (client: Client) => outcomeOf(await client.get('/auth/me'));
const refresh = (client: Client, at = service) =>
  at.anonymous.post('/auth/refresh', { refresh_token: client.refreshToken });
const sessionOf = ({ token }: Client) => String(decodeJwt(String(token)).sid);

/** Moves the login of a session into the past. */
const backdate = (client: Client, interval: string, at: Service = service) => at.superuser`
  update banyan.sessions set create_time = now() - ${interval}::text::interval where session_id = ${sessionOf(client)}`;

const sessionsOf = async (tenantId: string, at: Service) => {
  const rows = await at.superuser<{ id: string }[]>`
    select session_id as id from banyan.sessions where tenant_id = ${tenantId} order by create_time`;
  return rows.map(({ id }) => id);
};

test('a refresh does not extend a session beyond 30 days after its login', async () => {
  const admin = await service.createTenant();
  await backdate(admin, '29 days 23 hours 50 minutes');
  const { data } = await refresh(admin);
  assert.ok(data.expires_in > 0 && data.expires_in <= 600, `the access token expires in ${data.expires_in} seconds`);
  const [row] = await service.superuser<[{ days: number }]>`
    select extract(epoch from expires - create_time)::float / 86400 as days from banyan.sessions
    where session_id = ${sessionOf(admin)}`;
  assert.equal(row.days, 30);
});

test('the cookie of a browser expires with its session', async () => {
  const { tenantId } = await service.createTenant();
  const login = { tenantId, username: 'boss', password: PASSWORD };
  const response = await service.anonymous.post('/auth/login?session=cookie', login);
  await service.superuser`
    update banyan.sessions set create_time = now() - interval '29 days 23 hours' where tenant_id = ${tenantId}`;
  const headers = { cookie: String(response.headers['set-cookie']?.[0]).split(';')[0] as string };
  // A repeated refresh gets the same cookie.
  for (let times = 0; times < 2; times++) {
    // On a slow machine, more than ten seconds may pass between the two.
    await service.superuser`
      update banyan.sessions set last_used = last_used + interval '1 hour' where tenant_id = ${tenantId}`;
    const next = await service.anonymous.post('/auth/refresh?session=cookie', undefined, { headers });
    const seconds = Number(/Max-Age=(\d+)/.exec(String(next.headers['set-cookie']))?.[1]);
    assert.ok(seconds > 0 && seconds <= 3600, `Max-Age=${seconds}`);
  }
});

test('a refresh ends a session as old as BANYAN_SESSION_DAYS, 30 days by default, even if its stored expiry is later', async () => {
  const admin = await service.createTenant();
  await backdate(admin, '30 days');
  assert.equal(outcomeOf(await refresh(admin)), '401 REFRESH_REFUSED');
  assert.equal(await whoami(admin), '401 SESSION_ENDED');
  const other = await single.createTenant();
  await backdate(other, '2 days', single);
  assert.equal(outcomeOf(await refresh(other, single)), '401 REFRESH_REFUSED');
});

test('a login that begins a 21st session ends the oldest one; expired sessions and those of others do not count', async () => {
  const admin = await service.createTenant();
  const member = await service.createMember(admin);
  await service.superuser`
    insert into banyan.sessions (tenant_id, user_id, refresh_hash, address, create_time, expires)
    select tenant_id, user_id, refresh_hash, address, create_time + n * interval '1 millisecond',
      case when n <= 18 then expires else now() end
    from banyan.sessions cross join generate_series(1, 25) n where session_id = ${sessionOf(admin)}`;
  await service.logIn(admin.tenantId, 'boss');
  assert.equal((await admin.get('/auth/sessions')).data.total, 20);
  const newest = await service.logIn(admin.tenantId, 'boss');
  assert.equal(await whoami(admin), '401 SESSION_ENDED');
  assert.equal((await newest.get('/auth/sessions')).data.total, 20);
  assert.equal(await whoami(member), '200 OK');
});

test('concurrent logins do not exceed the limit', async () => {
  const { tenantId } = await single.createTenant();
  const login = { tenantId, username: 'boss', password: PASSWORD };
  const logIn = (from: string) => single.anonymous.post('/auth/login', login, { from });
  const addresses = ['127.0.6.1', '127.0.6.2', '127.0.6.3'];
  // Addresses that have logged in before share no counter of failed logins. On a shared one, logins would wait for each other.
  for (const from of addresses) assert.equal((await logIn(from)).code, 200);
  const { logins } = await single.superuser.begin(async (tx) => {
    // The first login has decided which sessions to end, and waits for this lock until the others have arrived.
    await tx`select from banyan.sessions where tenant_id = ${tenantId} for update`;
    const logins = Promise.all(addresses.map(logIn));
    await waitFor('three logins wait', async () => (await countLockWaits(single.owner)) === 3);
    return { logins };
  });
  const ids = (await logins).map(({ data }) => decodeJwt(data.access_token).sid);
  const [left, ...others] = await sessionsOf(tenantId, single);
  assert.deepEqual(others, []);
  assert.ok(ids.includes(left));
});
