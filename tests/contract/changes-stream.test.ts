import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { Client, startService } from '../support/service.ts';
import { now, signToken } from '../support/tokens.ts';

const service = await startService();

interface Event {
  id: string;
  event: string;
  data: { resourceId: string; action: string; after?: { deptName?: string }; reason?: string };
}

/**
 * Reads events until there are enough (a number of events, or an event that matches) or the stream ends, then closes the
 * connection. `begun` is called when the server has accepted the request.
 */
function listen(
  { base, token }: Client,
  query: string,
  enough: number | ((event: Event) => boolean),
  { headers = {}, begun = () => {} }: { headers?: Record<string, string>; begun?: () => void } = {},
) {
  return new Promise<{ events: Event[]; ended: boolean }>((resolve, reject) => {
    const all = { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers };
    const request = http.get(`${base}/system/change-api/stream?${query}`, { headers: all }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        return reject(new Error(String(response.statusCode)));
      }
      assert.equal(response.headers['content-type'], 'text/event-stream; charset=utf-8');
      begun();
      let text = '';
      const events: Event[] = [];
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(text.slice(0, end))?.[1] ?? '';
          if (field('event')) events.push({ id: field('id'), event: field('event'), data: JSON.parse(field('data')) });
          text = text.slice(end + 2);
        }
        if (typeof enough === 'number' ? events.length < enough : !events.some(enough)) return;
        request.destroy();
        resolve({ events, ended: false });
      });
      response.on('end', () => resolve({ events, ended: true }));
      response.on('error', () => {});
    });
    request.on('error', (error) => (request.destroyed ? undefined : reject(error)));
  });
}

test('the stream sends committed changes and resumes after Last-Event-ID', async () => {
  const boss = await service.createTenant();
  const listening = listen(boss, '', 4);
  const ids = [await boss.createDepartment(), await boss.createDepartment()];
  // The first two events are the creation of the tenant and of its administrator.
  const { events } = await listening;
  assert.deepEqual(
    events.map(({ event, data }) => `${event} ${data.action} ${data.resourceId}`).slice(2),
    ids.map((id) => `change created ${id}`),
  );
  const again = listen(boss, '', 1, { headers: { 'last-event-id': events[2]?.id as string } });
  assert.deepEqual((await again).events, events.slice(3));
});

test('a user deleted while streaming receives the reason and no further changes', async () => {
  const boss = await service.createTenant();
  await boss.createUser({ userName: 'second', roles: ['admin'] });
  const second = await service.logIn(boss.tenantId, 'second');
  const { data } = await boss.get('/system/change-api');
  const { data: me } = await second.get('/auth/me');
  let listening: ReturnType<typeof listen> | undefined;
  // A user deleted before the stream begins would not be admitted at all.
  await new Promise<void>((begun) => {
    listening = listen(second, `after=${data.next}`, 10, { begun });
  });
  await boss.delete(`/system/user-api/${me.user.userId}`);
  await boss.createDepartment();
  const { events, ended } = (await listening) ?? assert.fail();
  assert.deepEqual(
    events.map(({ event, data: { reason } }) => [event, reason]),
    [['refused', 'USER_DELETED']],
  );
  assert.ok(ended);
});

/** Streams changes with a token that expires in `seconds`, and creates departments until well after that. */
async function listenPastExpiry(seconds: number) {
  const boss = await service.createTenant();
  const second = await service.logIn(boss.tenantId, 'boss');
  const { data } = await boss.get('/system/change-api');
  const created = [await boss.createDepartment()];
  const token = await signToken(service, second.token as string, { claims: { exp: now() + seconds } });
  const expiring = new Client(service.base, token);
  const isTooLate = ({ data: { after } }: Event) => after?.deptName === 'too late';
  const listening = listen(expiring, `after=${data.next}`, isTooLate).catch((error) => {
    // On a slow machine the token may expire before the stream begins; the test then retries with a longer lifetime.
    if (error.message === '401') return undefined;
    throw error;
  });
  do created.push(await boss.createDepartment());
  while ((await expiring.get('/auth/me')).code === 200);
  // A page being read when the token expires may still be sent; changes this much later must not be.
  for (let count = 0; count < 20; count++) created.push(await boss.createDepartment());
  created.push(await boss.createDepartment({ deptName: 'too late' }));
  const whole = await listening;
  return whole && { ...whole, second, created, from: String(data.next) };
}

test('the stream ends with TOKEN_EXPIRED when its token expires and resumes with a new token', async () => {
  let result: Awaited<ReturnType<typeof listenPastExpiry>>;
  for (let seconds = 2; !result; seconds *= 2) result = await listenPastExpiry(seconds);
  const { events, ended, second, created, from } = result;
  const last = events.pop();
  assert.deepEqual([ended, last?.event, last?.data], [true, 'refused', { reason: 'TOKEN_EXPIRED' }]);
  const received = events.map(({ data: { resourceId } }) => resourceId);
  assert.deepEqual(received, created.slice(0, received.length));

  assert.equal((await second.get('/auth/me')).code, 200);
  const { data } = await second.post('/auth/refresh', { refresh_token: second.refreshToken });
  const again = new Client(service.base, data.access_token);
  const remaining = created.slice(received.length);
  const rest = await listen(again, '', remaining.length, {
    headers: { 'last-event-id': events.at(-1)?.id ?? from },
  });
  assert.deepEqual(
    rest.events.map(({ data: { resourceId } }) => resourceId),
    remaining,
  );
});
