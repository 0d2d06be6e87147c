import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { outcomeOf } from '../support/expect.ts';
import { type ApiResponse, Client, PASSWORD, type Service, shareService, startService } from '../support/service.ts';
import { signToken } from '../support/tokens.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

const service = await shareService();

const refresh = (token: unknown, at: Service = service) => at.anonymous.post('/auth/refresh', { refresh_token: token });
const whoami = async (client: Client) => outcomeOf(await client.get('/auth/me'));
const clientOf = ({ data }: ApiResponse, at: Service = service) =>
  new Client(at.base, data.access_token, data.refresh_token, '');

/** Creates a tenant with a member and logs them in. */
const createUser = async () => service.createMember(await service.createTenant());

async function logInAgain(client: Client): Promise<Client> {
  const { user } = (await client.get('/auth/me')).data;
  return service.logIn(user.tenantId, user.userName);
}

let aheadMs = 0;
const short = await startService(
  { BANYAN_ACCESS_TOKEN_SECONDS: '700', BANYAN_REFRESH_TOKEN_SECONDS: '900' },
  { tokenClockAheadMs: () => aheadMs },
);

test('the lifetimes of both tokens are configurable', async () => {
  const login = await short.anonymous.post('/auth/login', {
    tenantId: '000000',
    username: 'admin',
    password: PASSWORD,
  });
  assert.equal(login.data.expires_in, 700);
  const { iat = 0, exp = 0 } = decodeJwt(login.data.access_token);
  assert.equal(exp - iat, 700);
  const expired = await signToken(short, login.data.access_token, { claims: { iat: iat - 701, exp: exp - 701 } });
  assert.equal(await whoami(new Client(short.base, expired)), '401 TOKEN_EXPIRED');
  const next = await refresh(login.data.refresh_token, short);
  assert.deepEqual([next.code, next.data.expires_in], [200, 700]);
  // Without another refresh the session expires.
  const [session] = await short.superuser<[{ remaining: number }]>`
    select extract(epoch from max(expires) - now())::float as remaining from banyan.sessions`;
  assert.ok(session.remaining > 0 && session.remaining <= 900, `${session.remaining} seconds left`);
  await short.superuser`update banyan.sessions set expires = now()`;
  assert.equal(outcomeOf(await refresh(next.data.refresh_token, short)), '401 REFRESH_REFUSED');
});

test('an access token is rejected once it has expired', async () => {
  const root = await short.logIn('000000', 'admin');
  assert.equal(await whoami(root), '200 OK');
  aheadMs = 701_000;
  assert.equal(await whoami(root), '401 TOKEN_EXPIRED');
});

test('a session expires 7 days after its login or last refresh', async () => {
  const user = await createUser();
  const remainingDays = async () => {
    const [row] = await service.superuser<[{ days: number }]>`
      select round(extract(epoch from expires - now()) / 86400, 2)::float as days from banyan.sessions
      where tenant_id = ${user.tenantId} and user_id = ${user.id}`;
    return row.days;
  };
  assert.equal(await remainingDays(), 7);
  await service.superuser`
    update banyan.sessions set expires = now() + interval '1 hour' where tenant_id = ${user.tenantId}`;
  assert.equal((await refresh(user.refreshToken)).code, 200);
  assert.equal(await remainingDays(), 7);
});

test('an access token does not outlive its session', async () => {
  const user = await createUser();
  await service.superuser`update banyan.sessions set expires = now() where tenant_id = ${user.tenantId}`;
  assert.equal(await whoami(user), '401 SESSION_ENDED');
});

test('a refresh returns new tokens, and the old access token stays valid until it expires', async () => {
  const user = await createUser();
  const response = await refresh(user.refreshToken);
  assert.deepEqual(Object.keys(response.data), ['access_token', 'token_type', 'expires_in', 'refresh_token']);
  assert.deepEqual([response.data.token_type, response.data.expires_in], ['Bearer', 1800]);
  assert.notEqual(response.data.refresh_token, user.refreshToken);
  const { data } = await clientOf(response).get('/auth/me');
  assert.equal(String(data.user.userId), user.id);
  assert.equal(await whoami(user), '200 OK');
  const again = await refresh(response.data.refresh_token);
  assert.equal(again.code, 200);
});

test('reuse of an old refresh token ends the session and its access tokens', async () => {
  const user = await createUser();
  const other = await logInAgain(user);
  const next = clientOf(await refresh(user.refreshToken));
  assert.equal(outcomeOf(await refresh(user.refreshToken)), '401 REFRESH_REFUSED');
  assert.equal(outcomeOf(await refresh(next.refreshToken)), '401 REFRESH_REFUSED');
  assert.equal(await whoami(next), '401 SESSION_ENDED');
  assert.equal(await whoami(user), '401 SESSION_ENDED');
  assert.equal(await whoami(other), '200 OK');
});

test('concurrent refreshes with one token count as reuse: one succeeds and the session ends', async () => {
  const user = await createUser();
  const { refreshes } = await service.superuser.begin(async (tx) => {
    // Lock the session so that all refreshes wait for it before the first one proceeds.
    await tx`select from banyan.sessions where tenant_id = ${user.tenantId} for update`;
    const refreshes = Promise.all(Array.from({ length: 4 }, () => refresh(user.refreshToken)));
    await waitFor('all refreshes wait for the lock', async () => (await countLockWaits(service.owner)) === 4);
    return { refreshes };
  });
  const responses = await refreshes;
  assert.deepEqual(responses.map(outcomeOf).sort(), ['200 OK', ...Array(3).fill('401 REFRESH_REFUSED')]);
  const winner = clientOf(responses.find(({ code }) => code === 200) as ApiResponse);
  assert.equal(await whoami(winner), '401 SESSION_ENDED');
  assert.equal(outcomeOf(await refresh(winner.refreshToken)), '401 REFRESH_REFUSED');
});

test('invalid refresh tokens are rejected with the same error, unless they are too long', async () => {
  const user = await createUser();
  const [tenantId, sessionId, secret] = String(user.refreshToken).split('.');
  const foreign = await createUser();
  const random = randomBytes(32).toString('base64url');
  const tokens = [
    '',
    'garbage',
    user.token,
    `${tenantId}.${randomUUID()}.${secret}`,
    `${foreign.tenantId}.${sessionId}.${secret}`,
    `000000.${sessionId}.${secret}`,
    `${tenantId}.${sessionId}.${secret}x`,
    `${tenantId}.${sessionId}`,
    `999999999999999999.${randomUUID()}.${random}`,
  ];
  for (const token of tokens) {
    const response = await refresh(token);
    // An access token exceeds the maximum length of a refresh token.
    const expected = (token?.length ?? 0) > 200 ? '400 INVALID_FIELD' : '401 REFRESH_REFUSED';
    assert.equal(outcomeOf(response), expected, token);
  }
  assert.equal((await service.anonymous.post('/auth/refresh', {})).data.reason, 'FIELD_REQUIRED');
  // The attempts did not affect the session.
  assert.equal((await refresh(user.refreshToken)).code, 200);
});

test('logout invalidates the access token and the refresh token at once', async () => {
  const user = await createUser();
  const other = await logInAgain(user);
  const response = await user.post('/auth/logout');
  assert.deepEqual([response.status, response.data], [200, null]);
  assert.equal(await whoami(user), '401 SESSION_ENDED');
  assert.equal(outcomeOf(await user.post('/auth/logout')), '401 SESSION_ENDED');
  assert.equal(outcomeOf(await refresh(user.refreshToken)), '401 REFRESH_REFUSED');
  assert.equal(await whoami(other), '200 OK');
});

test('a refresh is rejected with the reason while the tenant is disabled or ended', async () => {
  const admin = await service.createTenant();
  const user = await service.createMember(admin);
  const tenant = { id: admin.id, tenantName: 't' };
  await service.root.put('/system/tenant-api', { ...tenant, status: '1' });
  assert.equal(outcomeOf(await refresh(user.refreshToken)), '403 TENANT_DISABLED');
  await service.root.put('/system/tenant-api', { ...tenant, endTime: '2000-01-01' });
  assert.equal(outcomeOf(await refresh(user.refreshToken)), '403 TENANT_ENDED');
  await service.root.put('/system/tenant-api', tenant);
  // The rejected refreshes did not consume the token.
  const next = await refresh(user.refreshToken);
  assert.equal(next.code, 200);
  await admin.put('/system/user-api', { userId: user.id, status: '1' });
  assert.equal((await refresh(next.data.refresh_token)).code, 401);
  assert.equal(await whoami(user), '403 USER_DISABLED');
  await admin.delete(`/system/user-api/${user.id}`);
  assert.equal(await whoami(user), '401 USER_DELETED');
});
