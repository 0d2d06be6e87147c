import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, isApiError, type SessionTokens } from '../../client/src/main.ts';
import { scale } from '../support/scale.ts';
import { PASSWORD, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Many calls of one client at the same moment. */

let aheadMs = 0;
const service = await startService({}, { tokenClockAheadMs: () => aheadMs });
const CALLS = scale(12, 50);

/** A client that is logged in as a new user, and the paths that it has requested. */
async function createSession(send = fetch) {
  aheadMs = 0;
  const user = await service.createMember(service.root);
  const { data: me } = await user.get('/auth/me');
  const paths: string[] = [];
  const stored: (SessionTokens | undefined)[] = [];
  const record: typeof fetch = (url, init) => {
    paths.push(new URL(String(url)).pathname);
    return send(url, init);
  };
  const tokens = { access_token: String(user.token), refresh_token: String(user.refreshToken) };
  const client = createClient({ baseUrl: service.base, tokens, fetch: record, onTokens: (each) => stored.push(each) });
  const countRefreshes = () => paths.filter((path) => path === '/auth/refresh').length;
  return { client, paths, stored, countRefreshes, userId: me.user.userId };
}

const callMany = (client: ReturnType<typeof createClient>) =>
  Promise.allSettled(Array.from({ length: CALLS }, () => client.readTree()));

test('many calls with an expired token refresh it once, and once more when it expires again', async () => {
  const { client, stored, countRefreshes } = await createSession();
  for (const round of [1, 2]) {
    aheadMs += 1_801_000;
    const results = await callMany(client);
    assert.deepEqual(
      results.filter(({ status }) => status === 'rejected'),
      [],
    );
    assert.equal(countRefreshes(), round);
    assert.equal(stored.length, round);
  }
});

test('a call whose token is rejected after another call has refreshed it uses the new token', async () => {
  let release = () => {};
  const refreshed = new Promise<void>((resolve) => {
    release = resolve;
  });
  // The 401 of the overview arrives only when the refresh that another call needed is over.
  const delaying: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (String(url).endsWith('/system/overview-api') && response.status === 401) await refreshed;
    return response;
  };
  const { client, countRefreshes } = await createSession(delaying);
  aheadMs += 1_801_000;
  const late = client.readOverview();
  await client.readTree();
  release();
  await late;
  assert.equal(countRefreshes(), 1);
});

test('a failed refresh rejects all calls with its reason, and the session is over', async () => {
  const { client, stored, countRefreshes, userId } = await createSession();
  // An administrator's change of the password ends all sessions of the user.
  const { data } = await service.root.get(`/system/user-api/${userId}`);
  aheadMs += 1_801_000;
  const root = await service.logIn('000000', 'admin');
  await root.patch(`/system/user-api/${data.userId}`, { password: 'another password 1' });
  const reasons = (await callMany(client)).map((result) =>
    result.status === 'rejected' && isApiError(result.reason) ? result.reason.reason : 'done',
  );
  assert.deepEqual(new Set(reasons), new Set(['REFRESH_REFUSED']));
  assert.equal(countRefreshes(), 1);
  assert.deepEqual(stored, [undefined]);
  await assert.rejects(client.readTree(), (error) => isApiError(error, 'REFRESH_REFUSED'));
  assert.equal(countRefreshes(), 1);
});

for (const [when, isHeld] of [
  ['before its token is rejected', (path, status) => path === '/auth/me' && status === 401],
  ['while its token is refreshed', (path) => path === '/auth/refresh'],
] as [string, (path: string, status: number) => boolean][]) {
  test(`a call is not continued as another user who logs in ${when}`, async () => {
    let release = () => {};
    const loggedIn = new Promise<void>((resolve) => {
      release = resolve;
    });
    let held = false;
    const holding: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      if (isHeld(new URL(String(url)).pathname, response.status)) {
        held = true;
        await loggedIn;
      }
      return response;
    };
    const { client } = await createSession(holding);
    aheadMs += 1_801_000;
    const before = client.readMe();
    await waitFor('the response is held', () => held);
    await client.logIn({ body: { tenantId: '000000', username: 'admin', password: PASSWORD } });
    release();
    await assert.rejects(before, (error) => isApiError(error, 'SESSION_ENDED'));
    assert.equal((await client.readMe()).data.user.userName, 'admin');
  });
}
