import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, Client, PASSWORD, startService } from '../support/service.ts';

const service = await startService({ BANYAN_TRUST_PROXY: '127.0.0.1' });

const login = { tenantId: '000000', username: 'admin', password: PASSWORD };
const logIn = (headers: Record<string, string> = {}) =>
  service.anonymous.post('/auth/login?session=cookie', login, { headers });
/** What a browser would keep of an answer: `banyan_session=…`. */
const kept = ({ headers }: Answer) => String(headers['set-cookie']?.[0]).split(';')[0] as string;
const refresh = (cookie?: string, headers: Record<string, string> = {}) =>
  service.anonymous.post('/auth/refresh?session=cookie', undefined, {
    headers: { ...(cookie ? { cookie } : {}), ...headers },
  });
const reasonOf = ({ status, data }: Answer) => `${status} ${data?.reason ?? 'fine'}`;
const clientOf = ({ data }: Answer) => new Client(service.base, data.access_token, undefined, '000000');
const CLEARED = 'banyan_session=; Path=/auth; HttpOnly; SameSite=Strict; Max-Age=0';

test('a browser gets its refresh token in a cookie that no script can read, and nowhere else', async () => {
  const answer = await logIn();
  assert.deepEqual(Object.keys(answer.data), ['access_token', 'token_type', 'expires_in']);
  const [cookie = '', ...others] = answer.headers['set-cookie'] ?? [];
  assert.match(
    cookie,
    /^banyan_session=000000\.[\da-f-]{36}\.[\w-]{43}; Path=\/auth; HttpOnly; SameSite=Strict; Max-Age=604800$/,
  );
  assert.equal(others.length, 0);
  assert.equal((await clientOf(answer).get('/auth/me')).code, 200);
  const next = await refresh(kept(answer));
  assert.deepEqual(Object.keys(next.data), ['access_token', 'token_type', 'expires_in']);
  assert.match(String(next.headers['set-cookie']), /; HttpOnly; SameSite=Strict; Max-Age=604800$/);
  assert.notEqual(kept(next), kept(answer));
  assert.equal((await clientOf(next).get('/auth/me')).code, 200);
});

test('over https the cookie is Secure', async () => {
  const https = { 'x-forwarded-proto': 'https' };
  const answer = await logIn(https);
  assert.match(String(answer.headers['set-cookie']), /; Secure$/);
  assert.match(String((await refresh(kept(answer), https)).headers['set-cookie']), /; Secure$/);
});

test('who does not ask for a cookie neither gets nor uses one', async () => {
  const plain = await service.anonymous.post('/auth/login', login);
  assert.equal(plain.headers['set-cookie'], undefined);
  const cookie = kept(await logIn());
  const bodiless = await service.anonymous.post('/auth/refresh', undefined, { headers: { cookie } });
  assert.equal(reasonOf(bodiless), '400 BODY_REQUIRED');
  const body = { refresh_token: plain.data.refresh_token };
  const next = await service.anonymous.post('/auth/refresh', body, { headers: { cookie } });
  assert.ok(next.data.refresh_token);
  assert.equal(next.headers['set-cookie'], undefined);
  assert.equal((await service.anonymous.post('/auth/login?session=memory', login)).data.field, 'session');
});

test('a cookie is found among others, and JSON without a body is no body', async () => {
  const cookie = kept(await logIn());
  const answer = await refresh(`theme=dark; xbanyan_session=1; ${cookie}; banyan_session_=2`, {
    'content-type': 'application/json',
  });
  assert.equal(reasonOf(answer), '200 fine');
});

test('no cookie, or a bad one, is refused and cleared', async () => {
  const used = kept(await logIn());
  await service.anonymous.post('/auth/refresh', { refresh_token: used.split('=')[1] });
  for (const cookie of [undefined, 'other=1', 'banyan_session=', `banyan_session=${'x'.repeat(5000)}`, used]) {
    const answer = await refresh(cookie);
    assert.equal(reasonOf(answer), '401 REFRESH_REFUSED', cookie);
    assert.deepEqual(answer.headers['set-cookie'], [CLEARED]);
  }
});

test('a cookie whose tenant is shut out for now is not cleared', async () => {
  const boss = await service.createTenant();
  const answer = await service.anonymous.post('/auth/login?session=cookie', {
    tenantId: boss.tenantId,
    username: 'boss',
    password: PASSWORD,
  });
  await service.root.put('/system/tenant-api', { id: boss.id, status: '1' });
  const refused = await refresh(kept(answer));
  assert.deepEqual([reasonOf(refused), refused.headers['set-cookie']], ['403 TENANT_DISABLED', undefined]);
  await service.root.put('/system/tenant-api', { id: boss.id });
  assert.equal(reasonOf(await refresh(kept(answer))), '200 fine');
});

test('a page of another site uses no cookie, and its try does not use it up', async () => {
  const cookie = kept(await logIn());
  for (const site of ['cross-site', 'same-site', 'anything']) {
    const headers = { 'sec-fetch-site': site };
    assert.equal(reasonOf(await refresh(cookie, headers)), '403 OTHER_SITE', site);
    assert.equal(reasonOf(await logIn(headers)), '403 OTHER_SITE', site);
  }
  const own = await refresh(cookie, { 'sec-fetch-site': 'same-origin' });
  assert.equal(reasonOf(own), '200 fine');
  assert.equal(reasonOf(await refresh(kept(own), { 'sec-fetch-site': 'none' })), '200 fine');
});

test('two windows that refresh at the same moment both stay, with the same cookie', async () => {
  const cookie = kept(await logIn());
  const answers = await Promise.all(Array.from({ length: 4 }, () => refresh(cookie)));
  assert.deepEqual(answers.map(reasonOf), Array(4).fill('200 fine'));
  assert.equal(new Set(answers.map(kept)).size, 1);
  for (const answer of answers) assert.equal((await clientOf(answer).get('/auth/me')).code, 200);
  assert.equal(reasonOf(await refresh(kept(answers[0] as Answer))), '200 fine');
});

test('an answer that was lost is told again; what comes later than that may be stolen, and ends the session', async () => {
  const first = kept(await logIn());
  const lost = await refresh(first);
  const again = await refresh(first);
  assert.equal(kept(again), kept(lost));
  const [, sessionId = ''] = first.split('.');
  await service.superuser`
    update banyan.sessions set last_used = last_used - interval '11 seconds' where session_id = ${sessionId}`;
  assert.equal(reasonOf(await refresh(first)), '401 REFRESH_REFUSED');
  assert.equal(reasonOf(await refresh(kept(lost))), '401 REFRESH_REFUSED');
  assert.equal(reasonOf(await clientOf(lost).get('/auth/me')), '401 SESSION_ENDED');
});

test('the one before the one before is too old, however soon it comes', async () => {
  const first = kept(await logIn());
  const second = await refresh(first);
  const third = await refresh(kept(second));
  assert.equal(reasonOf(await refresh(first)), '401 REFRESH_REFUSED');
  assert.equal(reasonOf(await refresh(kept(third))), '401 REFRESH_REFUSED');
});

test('programs, which have no windows, may not come again', async () => {
  const { refreshToken } = await service.logIn('000000', 'admin');
  const body = { refresh_token: refreshToken };
  assert.equal(reasonOf(await service.anonymous.post('/auth/refresh', body)), '200 fine');
  assert.equal(reasonOf(await refresh(`banyan_session=${refreshToken}`)), '401 REFRESH_REFUSED');
});

test('the cookie alone opens nothing', async () => {
  const cookie = kept(await logIn());
  for (const [method, path] of [
    ['GET', '/auth/me'],
    ['POST', '/auth/logout'],
    ['GET', '/system/dept-api/list'],
  ] as const) {
    const answer = await service.anonymous.call(method, path, undefined, { headers: { cookie } });
    assert.equal(reasonOf(answer), '401 NO_TOKEN', path);
  }
});

test('logging out clears the cookie that came, and ends its session', async () => {
  const answer = await logIn();
  const cookie = kept(answer);
  const out = await clientOf(answer).post('/auth/logout', undefined, { headers: { cookie } });
  assert.deepEqual([reasonOf(out), out.headers['set-cookie']], ['200 fine', [CLEARED]]);
  assert.equal(reasonOf(await refresh(cookie)), '401 REFRESH_REFUSED');
  const bare = await clientOf(await logIn()).post('/auth/logout');
  assert.equal(bare.headers['set-cookie'], undefined);
});

test('a browser logs out by its cookie when its token is refused: run out, gone, or shut out with its tenant', async () => {
  const out = (cookie: string | undefined, headers: Record<string, string> = {}, token?: string) =>
    new Client(service.base, token).post('/auth/logout?session=cookie', undefined, {
      headers: { ...(cookie ? { cookie } : {}), ...headers },
    });
  const lone = kept(await logIn());
  assert.equal(reasonOf(await out(lone, { 'sec-fetch-site': 'cross-site' })), '403 OTHER_SITE');
  assert.equal(reasonOf(await out(undefined)), '401 NO_TOKEN');
  const forged = `${lone.slice(0, -3)}xyz`;
  assert.equal(reasonOf(await out(forged)), '200 fine');
  const next = await refresh(lone);
  assert.equal(reasonOf(next), '200 fine', 'nobody else ended it');
  const gone = await out(kept(next));
  assert.deepEqual([reasonOf(gone), gone.headers['set-cookie']], ['200 fine', [CLEARED]]);
  assert.equal(reasonOf(await refresh(kept(next))), '401 REFRESH_REFUSED');

  const boss = await service.createTenant();
  const { tenantId } = boss;
  const answer = await service.anonymous.post('/auth/login?session=cookie', { ...login, tenantId, username: 'boss' });
  const tenant = (await boss.get('/auth/me')).data.tenant;
  const { packageBo, quotaBo, ruleBo, tenantName } = tenant;
  const change = (status: string) =>
    service.root.put('/system/tenant-api', { id: tenant.id, tenantName, packageBo, quotaBo, ruleBo, status });
  assert.equal((await change('1')).code, 200);
  assert.equal(reasonOf(await out(kept(answer), {}, answer.data.access_token)), '200 fine');
  assert.equal((await change('0')).code, 200);
  assert.equal(reasonOf(await refresh(kept(answer))), '401 REFRESH_REFUSED');
  assert.equal(reasonOf(await new Client(service.base, answer.data.access_token).get('/auth/me')), '401 SESSION_ENDED');
});

test('logging out everywhere ends all sessions of that user, and of nobody else', async () => {
  const boss = await service.createTenant();
  const [one, two, other] = [
    await service.createMember(boss, { userName: 'anna' }),
    await service.logIn(boss.tenantId, 'anna'),
    await service.createMember(boss, { userName: 'berta' }),
  ];
  assert.equal(reasonOf(await one.post('/auth/logout?everywhere=true')), '200 fine');
  for (const gone of [one, two]) assert.equal(reasonOf(await gone.get('/auth/me')), '401 SESSION_ENDED');
  for (const there of [other, boss]) assert.equal(reasonOf(await there.get('/auth/me')), '200 fine');
  const third = await service.logIn(boss.tenantId, 'anna');
  const fourth = await service.logIn(boss.tenantId, 'anna');
  assert.equal(reasonOf(await third.post('/auth/logout?everywhere=false')), '200 fine');
  assert.equal(reasonOf(await fourth.get('/auth/me')), '200 fine');
});
