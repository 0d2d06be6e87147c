import { type Context, type Measure, median } from '../measure.ts';
import { backendsOf, call, cpuSeconds } from '../services.ts';
import { createsPerSecond, waitUntilSealed } from './writes.ts';

/** The inputs of docs/capacity.md: what one write costs, in CPU time and in bytes on disk. */

const UPDATES = 3_000;
const UPDATE_CONCURRENCY = 8;

/** The tables that grow with the number of changes. */
const LEDGER = ['changes', 'seals', 'change_positions'];

export const capacity: Measure = async (context) => {
  const { database, service, rounds, ms, progress } = context;
  const backends = await backendsOf(database, service);
  const [ofService, ofPostgres]: [number[], number[]] = [[], []];
  progress('creates: warm-up');
  await createsPerSecond(context, { withLedger: true });
  const before = await readUsage(context);
  let created = 0;
  for (let round = 1; round <= rounds; round++) {
    progress(`creates: round ${round} of ${rounds}`);
    const started = [cpuSeconds([service.pid]), cpuSeconds(backends)] as const;
    const count = ((await createsPerSecond(context, { withLedger: true })) * ms) / 1000;
    ofService.push(((cpuSeconds([service.pid]) - started[0]) * 1e6) / count);
    ofPostgres.push(((cpuSeconds(backends) - started[1]) * 1e6) / count);
    created += count;
  }
  const afterCreates = await readUsage(context);
  progress(`${UPDATES} updates`);
  await updateDepartments(context);
  const afterUpdates = await readUsage(context);
  const perCreate = (bytes: (usage: Usage) => number) => (bytes(afterCreates) - bytes(before)) / created;
  const perUpdate = (bytes: (usage: Usage) => number) => (bytes(afterUpdates) - bytes(afterCreates)) / UPDATES;
  const result = (name: string, figures: number[], unit: string, most: number, notes = '') => ({
    name,
    figure: median(figures),
    unit,
    goal: { most },
    range: [Math.min(...figures), Math.max(...figures)] as [number, number],
    notes,
  });
  return [
    result('CPU time of the service for a create', ofService, 'µs', 500, 'without the load generator'),
    result('CPU time of PostgreSQL for a create', ofPostgres, 'µs', 500, 'only its connections to the service'),
    result('A department on disk', [perCreate(({ departments }) => departments)], 'bytes', 600, 'with its indexes'),
    result(
      'A create in the ledger',
      [perCreate(({ ledger }) => ledger)],
      'bytes',
      1_500,
      `with its indexes; ${Math.round(perCreate(({ wal }) => wal))} bytes of write-ahead log in all`,
    ),
    result(
      'An update in the ledger',
      [perUpdate(({ ledger }) => ledger)],
      'bytes',
      2_500,
      `the same; ${Math.round(perUpdate(({ wal }) => wal))} bytes of write-ahead log`,
    ),
  ];
};

interface Usage {
  departments: number;
  ledger: number;
  wal: number;
}

async function readUsage({ database: { superuser } }: Context): Promise<Usage> {
  await waitUntilSealed(superuser);
  const [usage] = await superuser<[Usage]>`
    select pg_total_relation_size('banyan.departments')::float8 as departments,
      (select sum(pg_total_relation_size(('banyan.' || name)::regclass))::float8 from unnest(${LEDGER}::text[]) name) as ledger,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal`;
  return usage;
}

async function updateDepartments({ service, writing }: Context): Promise<void> {
  let next = 0;
  const update = async () => {
    while (next < UPDATES) {
      const n = next++;
      const deptId = writing.firstId + 1 + (n % (writing.count - 1));
      const body = { deptName: `renamed ${n}`, phone: '13800000000', leader: 'Li' };
      await call(service.base, 'PATCH', `/system/dept-api/${deptId}`, writing.token, body);
    }
  };
  await Promise.all(Array.from({ length: UPDATE_CONCURRENCY }, update));
}
