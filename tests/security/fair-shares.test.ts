import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/driver.ts';
import { databaseOf, startNode } from '../faults/node.ts';
import { after } from '../support/cleanup.ts';
import { expectError } from '../support/expect.ts';
import { createKey } from '../support/oauth.ts';
import { scale } from '../support/scale.ts';
import { type ApiResponse, Client, startService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

/** Request slots, subscriptions and connections are shared: one tenant or address cannot take all of them. */

const service = await startService();
const [noisy, quiet] = [await service.createTenant(), await service.createTenant()];
const database = await databaseOf(service);
const LIMIT = 6;
const limits = { requests: { min: LIMIT, max: LIMIT } };
const DEPT = '/system/dept-api/1';
const STREAM = '/system/change-api/stream';

const open: { destroy(): unknown }[] = [];
after(() => {
  for (const each of open) each.destroy();
});

const whileLocked = <T>(work: () => Promise<T>): Promise<T> =>
  service.superuser.begin(async (tx) => {
    await tx`lock table banyan.departments in access exclusive mode`;
    return work();
  }) as Promise<T>;

/** Makes the service wait before it reads this API key as the caller of a request. */
const delayKey =
  (keyId: string, blocked: () => Promise<void> | undefined) =>
  (db: Database): Database => {
    const delay = (sql: Sql) =>
      new Proxy(sql, {
        apply(target, self, args) {
          const query = Reflect.apply(target as never, self, args);
          const readsKey = String(args[0]).includes('read_callers') && args.flat(2).map(String).includes(keyId);
          return readsKey ? Promise.resolve(blocked()).then(() => query) : query;
        },
      });
    return { ...db, use: (work) => db.use((sql) => work(delay(sql))) };
  };

/** Sends requests at the same moment and collects their responses. Those that got a slot wait until the test lets them go on. */
function flood(client: Client, count: number): { responses: ApiResponse[]; all: Promise<unknown> } {
  const responses: ApiResponse[] = [];
  const send = async () => responses.push(await client.get(DEPT));
  return { responses, all: Promise.all(Array.from({ length: count }, send)) };
}

test('a tenant that has taken all request slots is rejected, and another tenant is served', async () => {
  const node = await startNode(database, { limits });
  const { all } = await whileLocked(async () => {
    const many = flood(node.as(noisy), scale(20, 300));
    await waitFor('the rest is rejected', () => many.responses.length === scale(20, 300) - LIMIT);
    for (const response of many.responses) expectError(response, 503, 'TOO_BUSY');
    for (let n = 0; n < 5; n++) assert.equal((await node.as(quiet).get('/auth/me')).status, 200);
    // Public operations ignore the token: the request counts for its address, which has a share too.
    assert.equal((await node.as(quiet).get('/version')).status, 200);
    expectError(await node.as(noisy).get('/auth/me'), 503, 'TOO_BUSY');
    return { all: many.all };
  });
  await all;
});

test('requests with an API key that was refused count for their address, not for the tenant of the key', async () => {
  const { keyId, key } = await createKey(quiet);
  let blocked: Promise<void> | undefined;
  const node = await startNode(database, { limits, wrapDatabase: delayKey(keyId, () => blocked) });
  const settings = { keyId, keyName: 'leaked', permissions: ['dept:read'], status: '1' };
  assert.equal((await quiet.put('/system/key-api', settings)).code, 200);
  const leaked = new Client(node.base, key);
  expectError(await leaked.get(DEPT), 403, 'KEY_DISABLED');
  // Until its token is verified, a request counts for its address too: verify the token of the other tenant first.
  assert.equal((await node.as(quiet).get('/auth/me')).status, 200);
  let unblock = () => {};
  blocked = new Promise((resolve) => {
    unblock = resolve;
  });
  const many = flood(leaked, 20);
  await waitFor('the rest is rejected', () => many.responses.length === 20 - LIMIT);
  for (const response of many.responses) expectError(response, 503, 'TOO_BUSY');
  for (let n = 0; n < 5; n++) assert.equal((await node.as(quiet).get('/auth/me')).status, 200);
  unblock();
  await many.all;
});

test('the tenants of a subtree together get one share of the request slots and subscriptions', async () => {
  const node = await startNode(database, { limits: { ...limits, subscriptions: 4 } });
  const children: Client[] = [];
  for (let n = 0; n < 3; n++) children.push(await service.createTenant({}, noisy));
  const last = await service.createTenant({}, noisy);
  const { all } = await whileLocked(async () => {
    const floods: ReturnType<typeof flood>[] = [];
    for (const client of [noisy, ...children]) {
      const many = flood(node.as(client), 10);
      floods.push(many);
      await waitFor('a request of the tenant is rejected', () => many.responses.length > 0);
    }
    // The subtree holds twice its share by now. If the last tenant were a subtree of its own, it would get a slot for this
    // request and one for the next.
    openRequest(node.as(last), DEPT);
    await waitFor('the last tenant counts for its subtree', async () => {
      const { status } = await node.as(last).get('/auth/me');
      return status === 503;
    });
    for (let n = 0; n < 5; n++) assert.equal((await node.as(quiet).get('/auth/me')).status, 200);
    return { all: Promise.all(floods.map(({ all }) => all)) };
  });
  await all;
  // Two tenants of the subtree open four streams. Two of these make room for the streams of another tenant.
  for (const client of [children[0], children[0], children[1], children[1], quiet, quiet]) {
    const stream = openRequest(node.as(client as Client), STREAM);
    await waitFor('the stream has a response', () => stream.status > 0);
    assert.equal(stream.status, 200);
  }
});

test('requests whose clients have disconnected give back their slots before they have ended', async () => {
  const node = await startNode(database, { limits });
  await whileLocked(async () => {
    const requests = Array.from({ length: LIMIT }, () => openRequest(node.as(noisy), DEPT));
    await waitFor('all slots are taken', async () => (await node.as(noisy).get('/auth/me')).status === 503);
    for (const { destroy } of requests) destroy();
    await waitFor('a slot is free', async () => (await node.as(noisy).get('/auth/me')).status === 200);
  });
});

for (const [what, path] of [
  ['streams', '/system/change-api/strea%6D'],
  ['long polls', '/system/change-api?%77ait=30&after=100000'],
] as const) {
  test(`${what} with a percent-encoded URL hold no request slot while they wait`, async () => {
    const node = await startNode(database, { limits });
    const count = scale(20, 260);
    let subscribed = 0;
    const { subscribe } = node.app.loadShedder;
    node.app.loadShedder.subscribe = function (...args) {
      subscribed++;
      return subscribe.apply(this, args);
    };
    // Open them one after another: each needs a slot for its first read.
    for (let n = 1; n <= count; n++) {
      openRequest(node.as(noisy), path);
      await waitFor('the request waits for changes', () => subscribed === n);
    }
    for (const client of [noisy, quiet]) assert.equal((await node.as(client).get('/auth/me')).status, 200);
  });
}

/** Sends a request and leaves its response open. */
function openRequest(client: Client, path: string) {
  const state = { status: 0, text: '', ended: false };
  const headers = { authorization: `Bearer ${client.token}` };
  const request = http.get(`${client.base}${path}`, { headers, agent: false }, (response) => {
    state.status = response.statusCode ?? 0;
    response.setEncoding('utf8').on('data', (chunk) => (state.text += chunk));
    response.on('end', () => (state.ended = true)).on('error', () => {});
  });
  open.push(request.on('error', () => {}));
  return Object.assign(state, { destroy: () => request.destroy() });
}

test('when all subscriptions are taken, the oldest of the tenant with the most makes room for another tenant', async () => {
  const count = scale(4, 1_000);
  const node = await startNode(database, { limits: { subscriptions: count } });
  const streams: ReturnType<typeof openRequest>[] = [];
  for (let n = 0; n < count; n++) {
    const stream = openRequest(node.as(noisy), STREAM);
    await waitFor('the stream is open', () => stream.status === 200);
    streams.push(stream);
  }
  // Further ones are rejected before they read anything: a read would wait for the lock.
  await service.superuser.begin(async (tx) => {
    await tx`lock table banyan.users in access exclusive mode`;
    for (let n = 0; n < scale(1, 10); n++) {
      const further = openRequest(node.as(noisy), STREAM);
      await waitFor('a further one is rejected', () => further.status === 503);
    }
  });
  for (let expected = 1; expected <= count / 2; expected++) {
    const other = openRequest(node.as(quiet), STREAM);
    await waitFor('the other tenant gets a stream', () => other.status === 200);
    await waitFor('the oldest ends', () => streams[expected - 1]?.ended);
  }
  assert.match(streams[0]?.text ?? '', /event: refused\ndata: \{"reason":"TOO_BUSY"\}\n\n$/);
  assert.equal(streams.filter(({ ended }) => ended).length, count / 2);
  // Both have equally many now, so neither displaces the other.
  const last = openRequest(node.as(quiet), STREAM);
  await waitFor('the next one is rejected', () => last.status === 503);
});

/** Opens connections from an address, and waits until they are open. They send nothing. */
async function connect(base: string, localAddress: string, count: number): Promise<net.Socket[]> {
  const { port, hostname } = new URL(base);
  const sockets = Array.from({ length: count }, () =>
    net
      .connect({ port: Number(port), host: hostname, localAddress })
      .on('error', () => {})
      .resume(),
  );
  open.push(...sockets);
  await waitFor('all are connected', () => sockets.every(({ connecting }) => !connecting));
  return sockets;
}

/** A new connection from an address that has no other. */
const newcomer = { from: '127.0.0.2', headers: { connection: 'close' } };

test('at the limit of connections, the address with the most makes room, and its idle connections are closed first', async () => {
  const node = await startNode(database, { limits: { connections: 10 } });
  const many = await connect(node.base, '127.0.0.1', 10);
  // The oldest connection waits for a response.
  const [waiting] = many;
  let arrived = false;
  node.app.server.on('request', ({ url }) => {
    arrived ||= url?.includes('wait=60') === true;
  });
  waiting?.write(
    `GET /system/change-api?after=latest&wait=60 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${quiet.token}\r\n\r\n`,
  );
  await waitFor('the request has arrived', () => arrived);
  for (let n = 0; n < 3; n++) assert.equal((await node.as(quiet).get('/health/live', newcomer)).status, 200);
  await waitFor('an idle connection was closed', () => many.some(({ closed }) => closed));
  assert.equal(waiting?.closed, false);
});

test('at the limit of connections those of a trusted proxy are kept, because many clients share them', async () => {
  const limits = { connections: 10 };
  const { base, anonymous } = await startService({ BANYAN_TRUST_PROXY: '127.0.0.3' }, { limits });
  const ofProxy = await connect(base, '127.0.0.3', 7);
  const others = await connect(base, '127.0.0.4', 3);
  assert.equal((await anonymous.get('/health/live', newcomer)).status, 200);
  await waitFor('a connection was closed', () => [...ofProxy, ...others].some(({ closed }) => closed));
  assert.ok(ofProxy.every(({ closed }) => !closed));
});

test('reads of one tenant that are slow in the database leave connections for the reads of others', async () => {
  const slow = await whileLocked(async () => {
    const waiting = Array.from({ length: 50 }, () => noisy.get('/system/dept-api/list'));
    const lockWaits = () => countLockWaits(service.owner);
    await waitFor('reads wait for the lock', async () => (await lockWaits()) >= 4);
    let code = 0;
    const reading = quiet.get('/system/webhook-api/list').then((response) => (code = response.code));
    await waitFor('the other tenant has its answer', async () => code > 0 || (await lockWaits()) > 4);
    // A tenant that is alone gets half of the eight connections for reads.
    assert.equal(await lockWaits(), 4);
    assert.equal(await reading, 200);
    return { all: Promise.all(waiting) };
  });
  for (const response of await slow.all) assert.equal(response.code, 200);
});

test('a flood of health checks requests at most two connections at a time', async () => {
  const node = await startNode(database, { connections: 1 });
  const checks = await whileLocked(async () => {
    const slow = node.as(noisy).get('/system/dept-api/list');
    await waitFor('the only connection is taken', async () => (await countLockWaits(service.owner)) === 1);
    const before = node.uses.begun;
    let arrived = 0;
    node.app.server.on('request', ({ url }) => {
      if (url === '/health/ready') arrived++;
    });
    const checks: Promise<ApiResponse>[] = [];
    for (const count of [1, 2, 3, 40]) {
      while (checks.length < count) checks.push(node.as(quiet).get('/health/ready'));
      await waitFor('the checks have arrived', () => arrived === count);
      // The answer to a later request shows that they have been processed as far as possible.
      assert.equal((await node.as(quiet).get('/health/live')).status, 200);
      assert.equal(node.uses.begun - before, Math.min(count, 2), `${count} checks`);
    }
    return { all: Promise.all([slow, ...checks]) };
  });
  for (const { status } of await checks.all) assert.equal(status, 200);
});
