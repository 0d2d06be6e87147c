import assert from 'node:assert/strict';
import os from 'node:os';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { decodeJwt } from 'jose';
import { CHEAP_HASH, NO_DEADLINES } from '../support/database.ts';
import { launch, serviceProcess } from '../support/process.ts';
import { isLong, scale } from '../support/scale.ts';
import { Client, PASSWORD, RELAXED_TIMING, type Service, shareService, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { databaseOf, startNode } from './node.ts';

/** Wrong clocks, midnight in several time zones, and 29 February. */

const TENANTS = '/system/tenant-api';
const HOUR = 3_600;
const shiftedClock = fileURLToPath(new URL('./shifted-clock.js', import.meta.url));

/** A node with its own clock. Calls to the node go through `run`, which sets that clock if the node is in this process. */
interface ClockedNode {
  base: string;
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Starts a node whose clock is off by this many seconds, in this process: the clock is off only while the node is called. */
async function startShiftedNodeHere(t: TestContext, service: Service, seconds: number): Promise<ClockedNode> {
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + seconds * 1_000 });
    return work().finally(() => t.mock.timers.reset());
  };
  const { base } = await run(async () => startNode(await databaseOf(service)));
  return { base, run };
}

/** Starts a node as a process whose clock is off by this many seconds. */
async function startShiftedNode(databaseUrl: string, seconds: number): Promise<ClockedNode> {
  const options = { timing: RELAXED_TIMING, connectionTiming: NO_DEADLINES, passwordCost: CHEAP_HASH };
  const run = launch(['--import', shiftedClock, serviceProcess], {
    cwd: os.tmpdir(),
    env: {
      DATABASE_URL: databaseUrl,
      BANYAN_ADMIN_PASSWORD: PASSWORD,
      BANYAN_TEST_CLOCK_SECONDS: String(seconds),
      BANYAN_TEST_OPTIONS: JSON.stringify(options),
    },
  });
  const node = await run.ready();
  await node.get('/health/live');
  await waitFor('the request is in the log', () => run.stdout.includes('request completed'));
  // The times in its log prove that the clock is off.
  const difference = (JSON.parse(run.stdout.split('\n')[0] as string).time - Date.now()) / 1000 - seconds;
  assert.ok(Math.abs(difference) < HOUR, `the clock is ${difference} seconds from where it should be`);
  return { base: node.base, run: (work) => work() };
}

async function logIn({ base, run }: ClockedNode) {
  const body = { tenantId: '000000', username: 'admin', password: PASSWORD };
  const { data, text } = await run(() => new Client(base).post('/auth/login', body));
  assert.ok(data?.access_token, text);
  return data as { access_token: string; refresh_token: string; expires_in: number };
}

test('nodes whose clocks are two hours fast or slow accept each other’s tokens for their whole lifetime', async (t) => {
  const service = await shareService();
  const right: ClockedNode = { base: service.base, run: (work) => work() };
  // One fast clock is enough: its node both issues tokens and checks tokens at a later time.
  const shifted = isLong
    ? await Promise.all([2, -2].map((hours) => startShiftedNode(service.databaseUrl, hours * HOUR)))
    : [await startShiftedNodeHere(t, service, 2 * HOUR)];
  const nodes = [right, ...shifted];
  const readMe = ({ base, run }: ClockedNode, token: string) => run(() => new Client(base, token).get('/auth/me'));
  for (const from of nodes) {
    const before = Date.now() / 1000;
    const { access_token, refresh_token, expires_in } = await logIn(from);
    const { exp = 0 } = decodeJwt(access_token);
    // The token was issued between these two moments by the database's clock, which is right, in whole seconds.
    assert.ok(exp >= before + expires_in - 2, `${exp} is before ${before} + ${expires_in}`);
    assert.ok(exp <= Date.now() / 1000 + expires_in + 2, `${exp} is after the expected expiry`);
    for (const node of nodes) assert.equal((await readMe(node, access_token)).code, 200);
    const other = nodes[(nodes.indexOf(from) + 1) % nodes.length] as ClockedNode;
    const { data, code } = await other.run(() => new Client(other.base).post('/auth/refresh', { refresh_token }));
    assert.equal(code, 200);
    assert.equal((await readMe(from, data.access_token)).code, 200);
  }
});

describe('periods', () => {
  const zones = ['Pacific/Kiritimati', 'Etc/GMT+12', 'Asia/Kathmandu', 'America/St_Johns', 'Asia/Shanghai'];
  const dayIn = (timeZone: string, offset = 0) => {
    const [year, month, date] = new Intl.DateTimeFormat('sv-SE', { timeZone }).format().split('-').map(Number);
    return new Date(Date.UTC(year as number, (month as number) - 1, (date as number) + offset))
      .toISOString()
      .slice(0, 10);
  };
  // The first two zones always have different dates.
  for (const zone of isLong ? zones : zones.slice(0, 2)) {
    test(`a period begins and ends at midnight in ${zone}`, async () => {
      const service = await startService({ BANYAN_TIME_ZONE: zone });
      const admin = await service.createTenant();
      const periods: [body: () => Record<string, string>, expected: string][] = [
        [() => ({ endTime: dayIn(zone) }), 'served'],
        [() => ({ endTime: dayIn(zone, -1) }), 'TENANT_ENDED'],
        [() => ({ startTime: dayIn(zone) }), 'served'],
        [() => ({ startTime: dayIn(zone, 1) }), 'TENANT_NOT_STARTED'],
        [() => ({ startTime: dayIn(zone), endTime: dayIn(zone) }), 'served'],
      ];
      for (const [body, expected] of periods) {
        const readOutcome = async () => {
          assert.equal((await service.root.put(TENANTS, { id: admin.id, ...body() })).code, 200);
          const me = await admin.get('/auth/me');
          return me.code === 200 ? 'served' : me.data.reason;
        };
        const before = dayIn(zone);
        const outcome = await readOutcome();
        // Repeat if midnight passed in between: the period was computed from the day before.
        assert.equal(before === dayIn(zone) ? outcome : await readOutcome(), expected, JSON.stringify(body()));
      }
      await service.close();
    });
  }

  test('29 February is accepted only in leap years, as the first and as the last day', async () => {
    const service = await shareService();
    const admin = await service.createTenant();
    const { root } = service;
    // The years are so far from the present that the results do not depend on the day of the test.
    const years = [
      [2000, 'TENANT_ENDED'],
      [2400, 'TENANT_NOT_STARTED'],
      [2024, 'TENANT_ENDED'],
      [2096, 'TENANT_NOT_STARTED'],
    ] as const;
    for (const [year, reason] of years.slice(0, scale(2, 4))) {
      const date = `${year}-02-29`;
      // A tenant whose period began in the past, or ends in the future, is in service.
      const [startOnly, endOnly] = reason === 'TENANT_ENDED' ? ['served', reason] : [reason, 'served'];
      for (const [startTime, endTime, expected] of [
        [date, null, startOnly],
        [null, date, endOnly],
        [date, date, reason],
      ]) {
        assert.equal((await root.put(TENANTS, { id: admin.id, startTime, endTime })).code, 200);
        const { data } = await root.get(`${TENANTS}/${admin.id}`);
        assert.deepEqual([data.startTime, data.endTime], [startTime, endTime]);
        const me = await admin.get('/auth/me');
        assert.equal(me.code === 200 ? 'served' : me.data.reason, expected, `${startTime} to ${endTime}`);
      }
    }
    for (const year of [2100, 2027, 1900, 2023, 2025].slice(0, scale(2, 5))) {
      for (const field of ['startTime', 'endTime']) {
        const { status, data } = await root.put(TENANTS, { id: admin.id, [field]: `${year}-02-29` });
        assert.deepEqual([status, data.reason, data.field], [400, 'INVALID_FIELD', field], `${year}`);
      }
    }
    const reversed = await root.put(TENANTS, { id: admin.id, startTime: '2024-02-29', endTime: '2024-02-28' });
    assert.deepEqual([reversed.status, reversed.data.reason, reversed.data.field], [400, 'INVALID_FIELD', 'endTime']);
  });
});
