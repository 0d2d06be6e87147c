import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { Client, startService } from '../support/service.ts';
import { craft, now } from '../support/tokens.ts';

const service = await startService();

interface Event {
  id: string;
  event: string;
  data: { resourceId: string; action: string; after?: { deptName?: string }; reason?: string };
}

/**
 * Reads events until there are enough, so many or up to such a one, or the stream ends; then hangs up. `begun`: told when
 * it is let in.
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

test('events come as they are committed, and go on after Last-Event-ID', async () => {
  const boss = await service.createTenant();
  const heard = listen(boss, '', 4);
  const ids = [await boss.createDepartment(), await boss.createDepartment()];
  // The tenant itself and its administrator came before.
  const { events } = await heard;
  assert.deepEqual(
    events.map(({ event, data }) => `${event} ${data.action} ${data.resourceId}`).slice(2),
    ids.map((id) => `change created ${id}`),
  );
  const again = listen(boss, '', 1, { headers: { 'last-event-id': events[2]?.id as string } });
  assert.deepEqual((await again).events, events.slice(3));
});

test('who is shut out meanwhile hears why, and nothing more', async () => {
  const boss = await service.createTenant();
  await boss.createUser({ userName: 'second', roles: ['admin'] });
  const second = await service.logIn(boss.tenantId, 'second');
  const { data } = await boss.get('/system/change-api');
  const { data: me } = await second.get('/auth/me');
  let heard: ReturnType<typeof listen> | undefined;
  // Shut out earlier, he would not be let in at all.
  await new Promise<void>((begun) => {
    heard = listen(second, `after=${data.next}`, 10, { begun });
  });
  await boss.delete(`/system/user-api/${me.user.userId}`);
  await boss.createDepartment();
  const { events, ended } = (await heard) ?? assert.fail();
  assert.deepEqual(
    events.map(({ event, data: { reason } }) => [event, reason]),
    [['refused', 'USER_DELETED']],
  );
  assert.ok(ended);
});

/** Listens with a token that is good for so long, while there is news, and beyond. */
async function outlive(seconds: number) {
  const boss = await service.createTenant();
  const second = await service.logIn(boss.tenantId, 'boss');
  const { data } = await boss.get('/system/change-api');
  const made = [await boss.createDepartment()];
  const token = await craft(service, second.token as string, { claims: { exp: now() + seconds } });
  const short = new Client(service.base, token);
  const tooLate = ({ data: { after } }: Event) => after?.deptName === 'too late';
  const heard = listen(short, `after=${data.next}`, tooLate).catch((error) => {
    // So slow is the machine that it was over before it began.
    if (error.message === '401') return undefined;
    throw error;
  });
  do made.push(await boss.createDepartment());
  while ((await short.get('/auth/me')).code === 200);
  // A page that was being read when the time was over may be told; not one so long after.
  for (let count = 0; count < 20; count++) made.push(await boss.createDepartment());
  made.push(await boss.createDepartment({ deptName: 'too late' }));
  const whole = await heard;
  return whole && { ...whole, second, made, from: String(data.next) };
}

test('it ends with the token that opened it, though the session lives, says so, and goes on with a new one', async () => {
  let outlived: Awaited<ReturnType<typeof outlive>>;
  for (let seconds = 2; !outlived; seconds *= 2) outlived = await outlive(seconds);
  const { events, ended, second, made, from } = outlived;
  const last = events.pop();
  assert.deepEqual([ended, last?.event, last?.data], [true, 'refused', { reason: 'TOKEN_EXPIRED' }]);
  const told = events.map(({ data: { resourceId } }) => resourceId);
  assert.deepEqual(told, made.slice(0, told.length));

  assert.equal((await second.get('/auth/me')).code, 200);
  const { data } = await second.post('/auth/refresh', { refresh_token: second.refreshToken });
  const again = new Client(service.base, data.access_token);
  const left = made.slice(told.length);
  const rest = await listen(again, '', left.length, {
    headers: { 'last-event-id': events.at(-1)?.id ?? from },
  });
  assert.deepEqual(
    rest.events.map(({ data: { resourceId } }) => resourceId),
    left,
  );
});
