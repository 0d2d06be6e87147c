import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { type Client, startService } from '../harness.ts';

const service = await startService();

interface Event {
  id: string;
  event: string;
  data: { resourceId: string; action: string; reason?: string };
}

/** Reads events until there are `count`, or the stream ends; then hangs up. `begun`: told when it is let in. */
function listen(
  { base, token }: Client,
  query: string,
  count: number,
  { headers = {}, begun = () => {} }: { headers?: Record<string, string>; begun?: () => void } = {},
) {
  return new Promise<{ events: Event[]; ended: boolean }>((resolve, reject) => {
    const all = { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers };
    const request = http.get(`${base}/system/change-api/stream?${query}`, { headers: all }, (response) => {
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
        if (events.length < count) return;
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
  const boss = await service.tenant();
  const heard = listen(boss, '', 4);
  const ids = [await boss.dept(), await boss.dept()];
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
  const boss = await service.tenant();
  await boss.user({ userName: 'second', roles: ['admin'] });
  const second = await service.logIn(boss.tenantId, 'second');
  const { data } = await boss.get('/system/change-api');
  const { data: me } = await second.get('/auth/me');
  let heard: ReturnType<typeof listen> | undefined;
  // Shut out earlier, he would not be let in at all.
  await new Promise<void>((begun) => {
    heard = listen(second, `after=${data.next}`, 10, { begun });
  });
  await boss.delete(`/system/user-api/${me.user.userId}`);
  await boss.dept();
  const { events, ended } = (await heard) ?? assert.fail();
  assert.deepEqual(
    events.map(({ event, data: { reason } }) => [event, reason]),
    [['refused', 'USER_DELETED']],
  );
  assert.ok(ended);
});
