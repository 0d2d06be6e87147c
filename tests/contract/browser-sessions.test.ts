import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf } from '../support/expect.ts';
import { type ApiResponse, Client, PASSWORD, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const service = await startService({ BANYAN_TRUST_PROXY: '127.0.0.1' });

const login = { tenantId: '000000', username: 'admin', password: PASSWORD };
const logIn = (headers: Record<string, string> = {}) =>
  service.anonymous.post('/auth/login?session=cookie', login, { headers });
/** The cookie that a browser would store from a response: `banyan_session=…`. */
const cookieOf = ({ headers }: ApiResponse) => String(headers['set-cookie']?.[0]).split(';')[0] as string;
const refresh = (cookie?: string, headers: Record<string, string> = {}) =>
  service.anonymous.post('/auth/refresh?session=cookie', undefined, {
    headers: { ...(cookie ? { cookie } : {}), ...headers },
  });
const clientOf = ({ data }: ApiResponse) => new Client(service.base, data.access_token, undefined, '000000');
const CLEARED = 'banyan_session=; Path=/auth; HttpOnly; SameSite=Strict; Max-Age=0';

/** Reads the stored sessions of these cookies. A refresh changes them, and a logout deletes them. */
async function storedSessions(...cookies: string[]): Promise<string[]> {
  const ids = cookies.map((cookie) => String(cookie.split('.')[1]));
  const rows = await service.superuser<{ row: string }[]>`
    select s::text as row from banyan.sessions s where session_id = any(${ids}::uuid[]) order by session_id`;
  return rows.map(({ row }) => row);
}

test('a browser gets its refresh token only in an HttpOnly cookie', async () => {
  const response = await logIn();
  assert.deepEqual(Object.keys(response.data), ['access_token', 'token_type', 'expires_in']);
  const [cookie = '', ...others] = response.headers['set-cookie'] ?? [];
  assert.match(
    cookie,
    /^banyan_session=000000\.[\da-f-]{36}\.[\w-]{43}; Path=\/auth; HttpOnly; SameSite=Strict; Max-Age=604800$/,
  );
  assert.equal(others.length, 0);
  assert.equal((await clientOf(response).get('/auth/me')).code, 200);
  const next = await refresh(cookieOf(response));
  assert.deepEqual(Object.keys(next.data), ['access_token', 'token_type', 'expires_in']);
  assert.match(String(next.headers['set-cookie']), /; HttpOnly; SameSite=Strict; Max-Age=604800$/);
  assert.notEqual(cookieOf(next), cookieOf(response));
  assert.equal((await clientOf(next).get('/auth/me')).code, 200);
});

const https = { 'x-forwarded-proto': 'https' };

test('over https the cookie is Secure and has the prefix __Host-, and the plain name is ignored', async () => {
  const response = await logIn(https);
  assert.match(
    String(response.headers['set-cookie']),
    /^__Host-banyan_session=[^;]{50,}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=604800$/,
  );
  const next = await refresh(cookieOf(response), https);
  assert.match(String(next.headers['set-cookie']), /^__Host-banyan_session=[^;]{50,}; Path=\/; Secure;/);
  const unprefixed = cookieOf(next).replace('__Host-', '');
  const rejected = await refresh(unprefixed, https);
  assert.equal(outcomeOf(rejected), '401 REFRESH_REFUSED');
  assert.deepEqual(rejected.headers['set-cookie'], [
    '__Host-banyan_session=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0',
  ]);
  assert.equal(outcomeOf(await refresh(`${unprefixed}; ${cookieOf(next)}`, https)), '200 OK');
});

test('two session cookies are rejected, and neither is cleared or used', async () => {
  for (const headers of [{}, https]) {
    const [own, planted] = [await logIn(headers), await logIn(headers)];
    const both = [cookieOf(planted), cookieOf(own)].join('; ');
    const before = await storedSessions(cookieOf(own), cookieOf(planted));
    const rejected = [
      await refresh(both, headers),
      await logIn({ ...headers, cookie: both }),
      await service.anonymous.post('/auth/logout?session=cookie', undefined, { headers: { ...headers, cookie: both } }),
    ];
    for (const response of rejected) {
      assert.deepEqual([outcomeOf(response), response.headers['set-cookie']], ['400 DUPLICATE_COOKIE', undefined]);
    }
    assert.deepEqual(await storedSessions(cookieOf(own), cookieOf(planted)), before);
    const out = await clientOf(own).post('/auth/logout', undefined, { headers: { ...headers, cookie: both } });
    assert.deepEqual([outcomeOf(out), out.headers['set-cookie']], ['200 OK', undefined]);
    assert.equal(outcomeOf(await refresh(cookieOf(planted), headers)), '200 OK', 'its session has not ended');
  }
});

test('a client that does not request session=cookie neither gets nor uses a cookie', async () => {
  const plain = await service.anonymous.post('/auth/login', login);
  assert.equal(plain.headers['set-cookie'], undefined);
  const cookie = cookieOf(await logIn());
  const bodiless = await service.anonymous.post('/auth/refresh', undefined, { headers: { cookie } });
  assert.equal(outcomeOf(bodiless), '400 BODY_REQUIRED');
  const body = { refresh_token: plain.data.refresh_token };
  const next = await service.anonymous.post('/auth/refresh', body, { headers: { cookie } });
  const sessionOf = (refreshToken: string) => refreshToken.split('.')[1];
  assert.equal(sessionOf(next.data.refresh_token), sessionOf(body.refresh_token));
  assert.equal(next.headers['set-cookie'], undefined);
  assert.equal((await service.anonymous.post('/auth/login?session=memory', login)).data.field, 'session');
});

test('a refresh finds its cookie among others and accepts a JSON content type without a body', async () => {
  const cookie = cookieOf(await logIn());
  const response = await refresh(`theme=dark; xbanyan_session=1; ${cookie}; banyan_session_=2`, {
    'content-type': 'application/json',
  });
  assert.equal(outcomeOf(response), '200 OK');
});

test('a refresh with a missing or invalid cookie is rejected and clears the cookie', async () => {
  const used = cookieOf(await logIn());
  await service.anonymous.post('/auth/refresh', { refresh_token: used.split('=')[1] });
  for (const cookie of [undefined, 'other=1', 'banyan_session=', `banyan_session=${'x'.repeat(5000)}`, used]) {
    const response = await refresh(cookie);
    assert.equal(outcomeOf(response), '401 REFRESH_REFUSED', cookie);
    assert.deepEqual(response.headers['set-cookie'], [CLEARED]);
  }
});

test('a refresh in a disabled tenant is rejected but keeps the cookie', async () => {
  const admin = await service.createTenant();
  const response = await service.anonymous.post('/auth/login?session=cookie', {
    tenantId: admin.tenantId,
    username: 'boss',
    password: PASSWORD,
  });
  await service.root.put('/system/tenant-api', { id: admin.id, status: '1' });
  const rejected = await refresh(cookieOf(response));
  assert.deepEqual([outcomeOf(rejected), rejected.headers['set-cookie']], ['403 TENANT_DISABLED', undefined]);
  await service.root.put('/system/tenant-api', { id: admin.id });
  assert.equal(outcomeOf(await refresh(cookieOf(response))), '200 OK');
});

test('a request from another origin cannot use the cookie and does not consume it', async () => {
  const cookie = cookieOf(await logIn());
  const before = await storedSessions(cookie);
  for (const site of ['cross-site', 'same-site', 'anything']) {
    const headers = { 'sec-fetch-site': site };
    assert.equal(outcomeOf(await refresh(cookie, headers)), '403 OTHER_SITE', site);
    assert.equal(outcomeOf(await logIn(headers)), '403 OTHER_SITE', site);
  }
  assert.deepEqual(await storedSessions(cookie), before);
  const own = await refresh(cookie, { 'sec-fetch-site': 'same-origin' });
  assert.equal(outcomeOf(own), '200 OK');
  assert.equal(outcomeOf(await refresh(cookieOf(own), { 'sec-fetch-site': 'none' })), '200 OK');
});

// Date every refresh an hour ahead: on a slow machine, more than ten seconds may pass before the next one.
await service.superuser.unsafe(`
  create function public.keep_recent() returns trigger language plpgsql as $$
  begin
    new.last_used := new.last_used + interval '1 hour';
    return new;
  end $$;
  create trigger keep_recent before update of refresh_hash on banyan.sessions
    for each row execute function public.keep_recent()`);

test('concurrent refreshes with one cookie all succeed with the same new cookie', async () => {
  const cookie = cookieOf(await logIn());
  const responses = await Promise.all(Array.from({ length: 4 }, () => refresh(cookie)));
  assert.deepEqual(responses.map(outcomeOf), Array(4).fill('200 OK'));
  assert.equal(new Set(responses.map(cookieOf)).size, 1);
  for (const response of responses) assert.equal((await clientOf(response).get('/auth/me')).code, 200);
  assert.equal(outcomeOf(await refresh(cookieOf(responses[0] as ApiResponse))), '200 OK');
});

/** Sends a refresh whose transaction begins exactly this long after the last refresh of its session. */
async function refreshAfter(interval: string, cookie: string): Promise<ApiResponse> {
  const [, sessionId = ''] = cookie.split('.');
  const { response } = await service.superuser.begin(async (tx) => {
    await tx`select from banyan.sessions where session_id = ${sessionId} for update`;
    const [{ holder }] = await tx<[{ holder: number }]>`select pg_backend_pid() as holder`;
    const response = refresh(cookie);
    // Background work may wait for other locks. Only the refresh waits for this transaction.
    await waitFor('the refresh waits for its session', async () => {
      const waiting = await service.owner`
        select from pg_stat_activity where datname = current_database() and ${holder}::int = any (pg_blocking_pids(pid))`;
      return waiting.length === 1;
    });
    await tx`
      update banyan.sessions set last_used = (
        select xact_start from pg_stat_activity
        where datname = current_database() and pg_backend_pid() = any (pg_blocking_pids(pid))
      ) - ${interval}::text::interval
      where session_id = ${sessionId}`;
    return { response };
  });
  return response;
}

test('a refresh is replayed for ten seconds; after that, reuse of the old cookie ends the session', async () => {
  const first = cookieOf(await logIn());
  const lost = await refresh(first);
  assert.equal(cookieOf(await refreshAfter('9.999 seconds', first)), cookieOf(lost));
  assert.equal(outcomeOf(await refreshAfter('10 seconds', first)), '401 REFRESH_REFUSED');
  assert.equal(outcomeOf(await refresh(cookieOf(lost))), '401 REFRESH_REFUSED');
  assert.equal(outcomeOf(await clientOf(lost).get('/auth/me')), '401 SESSION_ENDED');
});

test('a cookie two refreshes old ends the session even within ten seconds', async () => {
  const first = cookieOf(await logIn());
  const second = await refresh(first);
  const third = await refresh(cookieOf(second));
  assert.equal(outcomeOf(await refresh(first)), '401 REFRESH_REFUSED');
  assert.equal(outcomeOf(await refresh(cookieOf(third))), '401 REFRESH_REFUSED');
});

test('a refresh token used in a request body cannot be replayed as a cookie', async () => {
  const { refreshToken } = await service.logIn('000000', 'admin');
  const body = { refresh_token: refreshToken };
  assert.equal(outcomeOf(await service.anonymous.post('/auth/refresh', body)), '200 OK');
  assert.equal(outcomeOf(await refresh(`banyan_session=${refreshToken}`)), '401 REFRESH_REFUSED');
});

test('the cookie alone does not authenticate other requests', async () => {
  const cookie = cookieOf(await logIn());
  for (const [method, path] of [
    ['GET', '/auth/me'],
    ['POST', '/auth/logout'],
    ['GET', '/system/dept-api/list'],
  ] as const) {
    const response = await service.anonymous.call(method, path, undefined, { headers: { cookie } });
    assert.equal(outcomeOf(response), '401 NO_TOKEN', path);
  }
});

test('logout clears a cookie that was sent and ends its session', async () => {
  const response = await logIn();
  const cookie = cookieOf(response);
  const out = await clientOf(response).post('/auth/logout', undefined, { headers: { cookie } });
  assert.deepEqual([outcomeOf(out), out.headers['set-cookie']], ['200 OK', [CLEARED]]);
  assert.equal(outcomeOf(await refresh(cookie)), '401 REFRESH_REFUSED');
  const bare = await clientOf(await logIn()).post('/auth/logout');
  assert.equal(bare.headers['set-cookie'], undefined);
});

test('a browser can log out with its cookie alone, also when its tenant is disabled', async () => {
  const logOut = (cookie: string | undefined, headers: Record<string, string> = {}, token?: string) =>
    new Client(service.base, token).post('/auth/logout?session=cookie', undefined, {
      headers: { ...(cookie ? { cookie } : {}), ...headers },
    });
  const lone = cookieOf(await logIn());
  assert.equal(outcomeOf(await logOut(lone, { 'sec-fetch-site': 'cross-site' })), '403 OTHER_SITE');
  assert.equal(outcomeOf(await logOut(undefined)), '401 NO_TOKEN');
  const forged = `${lone.slice(0, -3)}xyz`;
  assert.equal(outcomeOf(await logOut(forged)), '200 OK');
  const next = await refresh(lone);
  assert.equal(outcomeOf(next), '200 OK', 'the forged cookie must not end the session');
  const loggedOut = await logOut(cookieOf(next));
  assert.deepEqual([outcomeOf(loggedOut), loggedOut.headers['set-cookie']], ['200 OK', [CLEARED]]);
  assert.equal(outcomeOf(await refresh(cookieOf(next))), '401 REFRESH_REFUSED');

  const admin = await service.createTenant();
  const { tenantId } = admin;
  const logInAsBoss = () =>
    service.anonymous.post('/auth/login?session=cookie', { ...login, tenantId, username: 'boss' });
  const [alone, withToken] = [await logInAsBoss(), await logInAsBoss()];
  const tenant = (await admin.get('/auth/me')).data.tenant;
  const { packageBo, quotaBo, ruleBo, tenantName } = tenant;
  const change = (status: string) =>
    service.root.put('/system/tenant-api', { id: tenant.id, tenantName, packageBo, quotaBo, ruleBo, status });
  assert.equal((await change('1')).code, 200);
  assert.equal(outcomeOf(await logOut(cookieOf(alone))), '200 OK');
  assert.equal(outcomeOf(await logOut(cookieOf(withToken), {}, withToken.data.access_token)), '200 OK');
  assert.equal((await change('0')).code, 200);
  for (const response of [alone, withToken]) {
    assert.equal(outcomeOf(await refresh(cookieOf(response))), '401 REFRESH_REFUSED');
    assert.equal(
      outcomeOf(await new Client(service.base, response.data.access_token).get('/auth/me')),
      '401 SESSION_ENDED',
    );
  }
});

test('logout with everywhere=true ends all sessions of the user and no others', async () => {
  const admin = await service.createTenant();
  const [one, two, other] = [
    await service.createMember(admin, { userName: 'anna' }),
    await service.logIn(admin.tenantId, 'anna'),
    await service.createMember(admin, { userName: 'berta' }),
  ];
  assert.equal(outcomeOf(await one.post('/auth/logout?everywhere=true')), '200 OK');
  for (const ended of [one, two]) assert.equal(outcomeOf(await ended.get('/auth/me')), '401 SESSION_ENDED');
  for (const active of [other, admin]) assert.equal(outcomeOf(await active.get('/auth/me')), '200 OK');
  const third = await service.logIn(admin.tenantId, 'anna');
  const fourth = await service.logIn(admin.tenantId, 'anna');
  assert.equal(outcomeOf(await third.post('/auth/logout?everywhere=false')), '200 OK');
  assert.equal(outcomeOf(await fourth.get('/auth/me')), '200 OK');
});
