import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { type Answer, Client, PASSWORD, type Service, startService } from '../support/service.ts';
import { craft } from '../support/tokens.ts';
import { countWaiting, waitFor } from '../support/wait.ts';

const service = await startService();

const refresh = (token: unknown, at: Service = service) => at.anonymous.post('/auth/refresh', { refresh_token: token });
const reasonOf = ({ status, data }: Answer) => `${status} ${data?.reason ?? 'fine'}`;
const whoami = async (client: Client) => reasonOf(await client.get('/auth/me'));
const clientOf = ({ data }: Answer, at: Service = service) =>
  new Client(at.base, data.access_token, data.refresh_token, '');

/** A new user of a tenant of its own, logged in. */
const somebody = async () => service.createMember(await service.createTenant());

/** The same user, in another session. */
async function again(client: Client): Promise<Client> {
  const { user } = (await client.get('/auth/me')).data;
  return service.logIn(user.tenantId, user.userName);
}

test('the lives of both tokens are settings', async () => {
  const short = await startService({ BANYAN_ACCESS_TOKEN_SECONDS: '700', BANYAN_REFRESH_TOKEN_SECONDS: '900' });
  const login = await short.anonymous.post('/auth/login', {
    tenantId: '000000',
    username: 'admin',
    password: PASSWORD,
  });
  assert.equal(login.data.expires_in, 700);
  const { iat = 0, exp = 0 } = decodeJwt(login.data.access_token);
  assert.equal(exp - iat, 700);
  const expired = await craft(short, login.data.access_token, { claims: { iat: iat - 701, exp: exp - 701 } });
  assert.equal(await whoami(new Client(short.base, expired)), '401 TOKEN_EXPIRED');
  const next = await refresh(login.data.refresh_token, short);
  assert.deepEqual([next.code, next.data.expires_in], [200, 700]);
  // Nobody refreshes any more, so the session ends by itself.
  const [session] = await short.superuser<[{ left: number }]>`
    select extract(epoch from max(expires) - now())::float as left from banyan.sessions`;
  assert.ok(session.left > 0 && session.left <= 900, `${session.left} seconds left`);
  await short.superuser`update banyan.sessions set expires = now()`;
  assert.equal(reasonOf(await refresh(next.data.refresh_token, short)), '401 REFRESH_REFUSED');
});

test('an access token that was good until now is refused once it has expired', async () => {
  let aheadMs = 0;
  const node = await startService({ BANYAN_ACCESS_TOKEN_SECONDS: '700' }, { tokenClockAheadMs: () => aheadMs });
  assert.equal(await whoami(node.root), '200 fine');
  aheadMs = 701_000;
  assert.equal(await whoami(node.root), '401 TOKEN_EXPIRED');
});

test('a refresh token is good for 7 days from its last use', async () => {
  const user = await somebody();
  const life = async () => {
    const [row] = await service.superuser<[{ days: number }]>`
      select round(extract(epoch from expires - now()) / 86400, 2)::float as days from banyan.sessions
      where tenant_id = ${user.tenantId} and user_id = ${user.id}`;
    return row.days;
  };
  assert.equal(await life(), 7);
  await service.superuser`
    update banyan.sessions set expires = now() + interval '1 hour' where tenant_id = ${user.tenantId}`;
  assert.equal((await refresh(user.refreshToken)).code, 200);
  assert.equal(await life(), 7);
});

test('an access token does not outlive its session', async () => {
  const user = await somebody();
  await service.superuser`update banyan.sessions set expires = now() where tenant_id = ${user.tenantId}`;
  assert.equal(await whoami(user), '401 SESSION_ENDED');
});

test('a refresh gives new tokens of the same form, and the old access token stays good for its time', async () => {
  const user = await somebody();
  const answer = await refresh(user.refreshToken);
  assert.deepEqual(Object.keys(answer.data), ['access_token', 'token_type', 'expires_in', 'refresh_token']);
  assert.deepEqual([answer.data.token_type, answer.data.expires_in], ['Bearer', 1800]);
  assert.notEqual(answer.data.refresh_token, user.refreshToken);
  const { data } = await clientOf(answer).get('/auth/me');
  assert.equal(String(data.user.userId), user.id);
  assert.equal(await whoami(user), '200 fine');
  const again = await refresh(answer.data.refresh_token);
  assert.equal(again.code, 200);
});

test('an old refresh token that comes again ends the session, its access tokens included', async () => {
  const user = await somebody();
  const other = await again(user);
  const next = clientOf(await refresh(user.refreshToken));
  assert.equal(reasonOf(await refresh(user.refreshToken)), '401 REFRESH_REFUSED');
  assert.equal(reasonOf(await refresh(next.refreshToken)), '401 REFRESH_REFUSED');
  assert.equal(await whoami(next), '401 SESSION_ENDED');
  assert.equal(await whoami(user), '401 SESSION_ENDED');
  assert.equal(await whoami(other), '200 fine');
});

test('of two refreshes with one token at the same moment one is reuse', async () => {
  const user = await somebody();
  const { refreshes } = await service.superuser.begin(async (tx) => {
    // All of them stand at the same door before it opens.
    await tx`select from banyan.sessions where tenant_id = ${user.tenantId} for update`;
    const refreshes = Promise.all(Array.from({ length: 4 }, () => refresh(user.refreshToken)));
    await waitFor('all wait', async () => (await countWaiting(service.owner)) === 4);
    return { refreshes };
  });
  const answers = await refreshes;
  assert.deepEqual(answers.map(reasonOf).sort(), ['200 fine', ...Array(3).fill('401 REFRESH_REFUSED')]);
  const winner = clientOf(answers.find(({ code }) => code === 200) as Answer);
  assert.equal(await whoami(winner), '401 SESSION_ENDED');
  assert.equal(reasonOf(await refresh(winner.refreshToken)), '401 REFRESH_REFUSED');
});

test('what is no refresh token is refused alike', async () => {
  const user = await somebody();
  const [tenantId, sessionId, secret] = String(user.refreshToken).split('.');
  const foreign = await somebody();
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
    const answer = await refresh(token);
    // An access token is longer than any refresh token may be.
    const expected = (token?.length ?? 0) > 200 ? '400 INVALID_FIELD' : '401 REFRESH_REFUSED';
    assert.equal(reasonOf(answer), expected, token);
  }
  assert.equal((await service.anonymous.post('/auth/refresh', {})).data.reason, 'FIELD_REQUIRED');
  // None of those tries hurt the session.
  assert.equal((await refresh(user.refreshToken)).code, 200);
});

test('logging out ends the access token and the refresh token at once', async () => {
  const user = await somebody();
  const other = await again(user);
  const answer = await user.post('/auth/logout');
  assert.deepEqual([answer.status, answer.data], [200, null]);
  assert.equal(await whoami(user), '401 SESSION_ENDED');
  assert.equal(reasonOf(await user.post('/auth/logout')), '401 SESSION_ENDED');
  assert.equal(reasonOf(await refresh(user.refreshToken)), '401 REFRESH_REFUSED');
  assert.equal(await whoami(other), '200 fine');
});

test('a refresh is refused to whom is shut out meanwhile, with the reason', async () => {
  const boss = await service.createTenant();
  const user = await service.createMember(boss);
  const tenant = { id: boss.id, tenantName: 't' };
  await service.root.put('/system/tenant-api', { ...tenant, status: '1' });
  assert.equal(reasonOf(await refresh(user.refreshToken)), '403 TENANT_DISABLED');
  await service.root.put('/system/tenant-api', { ...tenant, endTime: '2000-01-01' });
  assert.equal(reasonOf(await refresh(user.refreshToken)), '403 TENANT_ENDED');
  await service.root.put('/system/tenant-api', tenant);
  // Nothing of that used the token up.
  const next = await refresh(user.refreshToken);
  assert.equal(next.code, 200);
  await boss.put('/system/user-api', { userId: user.id, status: '1' });
  assert.equal((await refresh(next.data.refresh_token)).code, 401);
  assert.equal(await whoami(user), '403 USER_DISABLED');
  await boss.delete(`/system/user-api/${user.id}`);
  assert.equal(await whoami(user), '401 USER_DELETED');
});
