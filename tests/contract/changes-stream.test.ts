import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { Client, shareService, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

const service = await shareService();

interface Event {
  id: string;
  event: string;
  data: { resourceId: string; action: string; after?: { deptName?: string }; reason?: string };
}

interface ListenOptions {
  headers?: Record<string, string>;
  /** Called when the server has accepted the request. */
  onOpen?: () => void;
  onEvent?: (event: Event) => void;
}

/**
 * Reads events until there are enough (a number of events, or an event that matches) or the stream ends, then closes the
 * connection.
 */
function listen(
  { base, token }: Client,
  query: string,
  enough: number | ((event: Event) => boolean),
  { headers = {}, onOpen = () => {}, onEvent = () => {} }: ListenOptions = {},
) {
  return new Promise<{ events: Event[]; ended: boolean }>((resolve, reject) => {
    const all = { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers };
    const request = http.get(`${base}/system/change-api/stream?${query}`, { headers: all }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        return reject(new Error(String(response.statusCode)));
      }
      assert.equal(response.headers['content-type'], 'text/event-stream; charset=utf-8');
      onOpen();
      let text = '';
      const events: Event[] = [];
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(text.slice(0, end))?.[1] ?? '';
          if (field('event')) {
            const event = { id: field('id'), event: field('event'), data: JSON.parse(field('data')) };
            events.push(event);
            onEvent(event);
          }
          text = text.slice(end + 2);
        }
        if (typeof enough === 'number' ? events.length < enough : !events.some(enough)) return;
        resolve({ events, ended: false });
        request.destroy();
      });
      response.on('end', () => resolve({ events, ended: true }));
      response.on('error', () => {});
    });
    // This has no effect once the promise is resolved.
    request.on('error', reject);
  });
}

test('the stream sends committed changes and resumes after Last-Event-ID', async () => {
  const admin = await service.createTenant();
  const listening = listen(admin, '', 4);
  const ids = [await admin.createDepartment(), await admin.createDepartment()];
  // The first two events are the creation of the tenant and of its administrator.
  const { events } = await listening;
  assert.deepEqual(
    events.map(({ event, data }) => `${event} ${data.action} ${data.resourceId}`).slice(2),
    ids.map((id) => `change created ${id}`),
  );
  const again = listen(admin, '', 1, { headers: { 'last-event-id': events[2]?.id as string } });
  assert.deepEqual((await again).events, events.slice(3));
});

test('a user deleted while streaming receives the reason and no further changes', async () => {
  const admin = await service.createTenant();
  await admin.createUser({ userName: 'second', roles: ['admin'] });
  const second = await service.logIn(admin.tenantId, 'second');
  const { data } = await admin.get('/system/change-api');
  const { data: me } = await second.get('/auth/me');
  let listening: ReturnType<typeof listen> | undefined;
  // A user deleted before the stream begins would not be admitted at all.
  await new Promise<void>((onOpen) => {
    listening = listen(second, `after=${data.next}`, 10, { onOpen });
  });
  await admin.delete(`/system/user-api/${me.user.userId}`);
  await admin.createDepartment();
  const { events, ended } = (await listening) ?? assert.fail();
  assert.deepEqual(
    events.map(({ event, data: { reason } }) => [event, reason]),
    [['refused', 'USER_DELETED']],
  );
  assert.ok(ended);
});

test('the stream ends with TOKEN_EXPIRED when its token expires and resumes with a new token', async () => {
  let aheadMs = 0;
  const node = await startService({}, { tokenClockAheadMs: () => aheadMs });
  const expiring = await node.createTenant();
  const { next: start } = (await expiring.get('/system/change-api')).data;
  const created = [await expiring.createDepartment({ deptName: 'before' })];

  const received: string[] = [];
  const isTooLate = ({ data: { after } }: Event) => after?.deptName === 'too late';
  const streaming = listen(expiring, `after=${start}`, isTooLate, {
    onEvent: ({ data }) => received.push(data.resourceId),
  });
  let ended = false;
  void streaming.finally(() => {
    ended = true;
  });
  await waitFor('the stream sends the first change', () => received.includes(created[0] as string));
  aheadMs = 1_801_000;
  assert.equal((await expiring.get('/auth/me')).data.reason, 'TOKEN_EXPIRED');
  const renewed = await node.logIn(expiring.tenantId, 'boss');
  // A page that is being read when the token expires may still be sent, but no page after it.
  const second = await renewed.createDepartment({ deptName: 'after' });
  await waitFor('the stream ends or sends its last page', () => ended || received.includes(second));
  created.push(second, await renewed.createDepartment({ deptName: 'too late' }));

  const stream = await streaming;
  const last = stream.events.pop();
  assert.deepEqual([stream.ended, last?.event, last?.data], [true, 'refused', { reason: 'TOKEN_EXPIRED' }]);
  const sent = stream.events.map(({ data: { resourceId } }) => resourceId);
  assert.deepEqual(sent, created.slice(0, sent.length));

  const { data } = await node.anonymous.post('/auth/refresh', { refresh_token: expiring.refreshToken });
  const remaining = created.slice(sent.length);
  const rest = await listen(new Client(node.base, data.access_token), '', remaining.length, {
    headers: { 'last-event-id': String(stream.events.at(-1)?.id) },
  });
  assert.deepEqual(
    rest.events.map(({ data: { resourceId } }) => resourceId),
    remaining,
  );
});

test('a stream from `latest` on begins with the next change', async () => {
  const admin = await service.createTenant();
  await admin.createDepartment({ deptName: 'earlier' });
  let created: Promise<string> | undefined;
  const onOpen = () => {
    created = admin.createDepartment({ deptName: 'later' });
  };
  for (const [query, headers] of [
    ['after=latest', {}],
    ['after=0', { 'last-event-id': 'latest' }],
  ] as const) {
    const { events } = await listen(admin, query, 1, { headers, onOpen });
    assert.deepEqual(
      events.map(({ data }) => data.resourceId),
      [String(await created)],
      query,
    );
  }
});
