import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { FloodKind, FloodOptions } from '../flood-process.ts';
import { type Context, type Measure, median, type Result, type Tenant } from '../measure.ts';
import { fillTenant } from '../organization.ts';
import { call, createTenant, startService } from '../services.ts';

const KINDS: FloodKind[] = ['reads', 'writes', 'lists', 'trees', 'streams', 'webhooks', 'logins', 'idempotentWrites'];
/** The neighbour sends a read, a write and a health check this often, whether or not the previous ones were answered. */
const INTERVAL_MS = 20;
const SLOW_RECEIVERS = 20;
/** The flooding tenant's first department, and how many it has. */
const FLOOD_FIRST_ID = 20_000_000;
const FLOOD_COUNT = 20_000;

interface Sample {
  reads: number[];
  writes: number[];
  health: number[];
  failed: string[];
}

/**
 * Compares the response times of one tenant on a quiet service with those while another tenant floods it. Both tenants send from
 * the same IP address to one service with default limits.
 */
export const neighbours: Measure = async (context) => {
  const { database, ms, rounds, progress, floods } = context;
  const service = await startService(database.databaseUrl, {
    BANYAN_ACCESS_TOKEN_SECONDS: '86400',
    BANYAN_WEBHOOK_NETWORKS: 'loopback',
  });
  const receiver = http.createServer((_request, response) => void setTimeout(9_000).then(() => response.end()));
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  try {
    const flooding = { ...(await createTenant(service.base)), firstId: FLOOD_FIRST_ID, count: FLOOD_COUNT };
    await fillTenant(database.superuser, flooding.tenantId, flooding.firstId, flooding.count);
    const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    for (let n = 0; n < SLOW_RECEIVERS; n++) {
      await call(service.base, 'POST', '/system/webhook-api', flooding.token, { url: `${address}/${n}` });
    }
    const neighbour = context.small;
    const results: Result[] = [];
    let failedCount = 0;
    let slowestHealth = 0;
    for (const kind of KINDS.filter((kind) => !floods || floods.includes(kind))) {
      const ratios: number[] = [];
      const notes: string[] = [];
      for (let round = 0; round < rounds; round++) {
        progress(`neighbours: ${kind}, round ${round + 1} of ${rounds}`);
        const quiet = await observe(service.base, neighbour, ms);
        const flood = startFlood({ base: service.base, kind, deptId: FLOOD_FIRST_ID, ...flooding });
        await setTimeout(500);
        const busy = await observe(service.base, neighbour, ms);
        flood.kill('SIGKILL');
        await once(flood, 'exit');
        // Let the service finish what the flood has left behind.
        await setTimeout(1_000);
        const [reads, writes] = [p99(busy.reads) / p99(quiet.reads), p99(busy.writes) / p99(quiet.writes)];
        ratios.push(Math.max(reads, writes));
        notes.push(
          `reads ${p99(quiet.reads).toFixed(0)} → ${p99(busy.reads).toFixed(0)} ms, ` +
            `writes ${p99(quiet.writes).toFixed(0)} → ${p99(busy.writes).toFixed(0)} ms, ` +
            `health checks ${p99(quiet.health).toFixed(0)} → ${p99(busy.health).toFixed(0)} ms`,
        );
        failedCount += busy.failed.length;
        if (busy.failed.length > 0) progress(`${busy.failed.length} failed: ${busy.failed[0]?.slice(0, 200)}`);
        slowestHealth = Math.max(slowestHealth, p99(busy.health));
      }
      const middle = ratios.indexOf(median(ratios));
      results.push({
        name: `p99 of a tenant while another floods with ${kind}`,
        figure: median(ratios),
        unit: '× its quiet p99',
        goal: { most: 3 },
        range: [Math.min(...ratios), Math.max(...ratios)],
        notes: notes[middle] ?? '',
      });
    }
    return [
      ...results,
      {
        name: 'Requests of the tenant that failed during all floods',
        figure: failedCount,
        unit: '',
        goal: { most: 0 },
        range: [failedCount, failedCount],
        notes: '',
      },
      {
        name: 'p99 of health checks during the worst flood',
        figure: slowestHealth,
        unit: 'ms',
        goal: { most: 100 },
        range: [slowestHealth, slowestHealth],
        notes: '',
      },
    ];
  } finally {
    receiver.closeAllConnections();
    receiver.close();
    await service.stop();
  }
};

function startFlood(options: FloodOptions): ChildProcess {
  const child = fork(fileURLToPath(new URL('../flood-process.js', import.meta.url)), { execArgv: [] });
  child.send(options);
  return child;
}

/** Sends requests of one tenant at a steady rate and returns their response times. */
async function observe(base: string, { token, firstId, count }: Tenant, ms: Context['ms']): Promise<Sample> {
  const sample: Sample = { reads: [], writes: [], health: [], failed: [] };
  const timed = async (times: number[], work: () => Promise<unknown>) => {
    const startedAt = performance.now();
    try {
      await work();
    } catch (error) {
      sample.failed.push((error as Error).message);
    }
    times.push(performance.now() - startedAt);
  };
  const pending: Promise<void>[] = [];
  for (const end = performance.now() + ms; performance.now() < end; await setTimeout(INTERVAL_MS)) {
    const deptId = firstId + Math.floor(Math.random() * count);
    pending.push(
      timed(sample.reads, () => call(base, 'GET', `/system/dept-api/${deptId}`, token)),
      timed(sample.writes, () => call(base, 'POST', '/system/dept-api', token, { deptName: 'quiet' })),
      timed(sample.health, () => call(base, 'GET', '/health/ready')),
    );
  }
  await Promise.all(pending);
  return sample;
}

const p99 = (times: number[]): number => [...times].sort((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] as number;
