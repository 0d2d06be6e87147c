import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { alternate, type Measure, median, type Result } from '../measure.ts';
import { logIn, startService } from '../services.ts';

/** Each limited process gets this much CPU time per period. On two cores, more than one core stays free for the others. */
const [PERIOD_US, QUOTA_US] = [5_000, 1_500];

/** Compares two workers with one process, first without limits, then with limited CPU so that PostgreSQL has enough. */
export const workers: Measure = async (context) => {
  const { load, small, database, ms } = context;
  const start = (count: string) =>
    startService(database.databaseUrl, { BANYAN_ACCESS_TOKEN_SECONDS: '86400', BANYAN_WORKERS: count });
  const [one, two] = [await start('1'), await start('2')];
  try {
    const token = await logIn(two.base, small.tenantId, 'boss');
    const reads = async (base: string) => {
      const request = { type: 'department', firstId: small.firstId, count: small.count } as const;
      return (await load.run({ base, token, request, connections: 64, ms })).perSecond;
    };
    const unlimited = await alternate(
      context,
      'two workers against one',
      () => reads(two.base),
      () => reads(one.base),
    );
    const toResult = (name: string, { ratio, range, first, second }: typeof unlimited, condition: string): Result => ({
      name,
      figure: ratio,
      unit: '×',
      goal: { least: 1.5 },
      range,
      notes: `${Math.round(median(first))}/s against ${Math.round(median(second))}/s; ${condition}`,
    });
    const results = [
      toResult(
        'Reads with BANYAN_WORKERS=2 against one process',
        unlimited,
        `${os.cpus().length} cores for the workers, PostgreSQL and the load generator`,
      ),
    ];
    try {
      for (const [n, pid] of [one.pid, ...childrenOf(two.pid)].entries()) limitCpu(n, pid);
    } catch (error) {
      context.progress(
        `limited workers have no figure: control groups cannot be created (${(error as Error).message})`,
      );
      return results;
    }
    const limited = await alternate(
      context,
      'two workers against one, each limited to a part of a core',
      () => reads(two.base),
      () => reads(one.base),
    );
    const share = `each process limited to ${(QUOTA_US / PERIOD_US) * 100} % of a core, which leaves the rest to PostgreSQL and the generator`;
    return [...results, toResult('The same with CPU time left for PostgreSQL', limited, share)];
  } finally {
    await one.stop();
    await two.stop();
    for (const group of [0, 1, 2].map(groupOf).filter((name) => fs.existsSync(name))) {
      try {
        fs.rmdirSync(group);
      } catch (error) {
        // A control group that cannot be removed is no reason to lose the figures.
        context.progress(`${group} could not be removed (${(error as Error).message})`);
      }
    }
  }
};

const childrenOf = (pid: number): number[] =>
  fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);

const CGROUP_V1 = '/sys/fs/cgroup/cpu';
const isV1 = fs.existsSync(CGROUP_V1);
const groupOf = (n: number) => path.join(isV1 ? CGROUP_V1 : '/sys/fs/cgroup', `banyan-bench-${n}`);

/** Moves a process into a control group (v1 or v2) with a CPU limit. Only root may create these. */
function limitCpu(n: number, pid: number): void {
  fs.mkdirSync(groupOf(n), { recursive: true });
  const write = (name: string, value: string) => fs.writeFileSync(path.join(groupOf(n), name), value);
  if (isV1) {
    write('cpu.cfs_period_us', `${PERIOD_US}`);
    write('cpu.cfs_quota_us', `${QUOTA_US}`);
  } else write('cpu.max', `${QUOTA_US} ${PERIOD_US}`);
  write('cgroup.procs', `${pid}`);
}
