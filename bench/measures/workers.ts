import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { alternate, type Measure, median, type Result } from '../measure.ts';
import { logIn, startService } from '../services.ts';

/** Microseconds of processor time that each process gets in every period: on two cores the others keep more than one. */
const [PERIOD, QUOTA] = [5_000, 1_500];

/** The same service as two processes against one, with all they can get; and where PostgreSQL has room. */
export const workers: Measure = async (scene) => {
  const { crowd, small, place, ms } = scene;
  const start = (count: string) =>
    startService(place.databaseUrl, { BANYAN_ACCESS_TOKEN_SECONDS: '86400', BANYAN_WORKERS: count });
  const [one, two] = [await start('1'), await start('2')];
  try {
    const token = await logIn(two.base, small.tenantId, 'boss');
    const reads = async (base: string) => {
      const ask = { what: 'department', firstId: small.firstId, count: small.count } as const;
      return (await crowd.call({ base, token, ask, connections: 64, ms })).aSecond;
    };
    const free = await alternate(
      scene,
      'two workers against one',
      () => reads(two.base),
      () => reads(one.base),
    );
    const result = (what: string, { ratio, spread, ones, others }: typeof free, where: string): Result => ({
      what,
      figure: ratio,
      unit: '×',
      goal: { least: 1.5 },
      spread,
      notes: `${Math.round(median(ones))}/s against ${Math.round(median(others))}/s; ${where}`,
    });
    const results = [
      result(
        'Reads with BANYAN_WORKERS=2 against one process',
        free,
        `${os.cpus().length} cores for the workers, PostgreSQL and the load generator`,
      ),
    ];
    try {
      for (const [n, pid] of [one.pid, ...childrenOf(two.pid)].entries()) hold(n, pid);
    } catch (error) {
      scene.progress(
        `where PostgreSQL has room: no figure, cgroups are not ours to make (${(error as Error).message})`,
      );
      return results;
    }
    const withRoom = await alternate(
      scene,
      'the same, each process held to a part of a core',
      () => reads(two.base),
      () => reads(one.base),
    );
    const share = `each process held to ${(QUOTA / PERIOD) * 100} % of a core, so that PostgreSQL and the generator have the rest`;
    return [...results, result('The same where PostgreSQL has room', withRoom, share)];
  } finally {
    await one.stop();
    await two.stop();
    for (const group of [0, 1, 2].map(groupOf).filter((name) => fs.existsSync(name))) {
      try {
        fs.rmdirSync(group);
      } catch (error) {
        // An empty folder that is left behind is no reason to lose the figures.
        scene.progress(`${group} is left behind (${(error as Error).message})`);
      }
    }
  }
};

const childrenOf = (pid: number): number[] =>
  fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);

const FIRST = '/sys/fs/cgroup/cpu';
const isFirst = fs.existsSync(FIRST);
const groupOf = (n: number) => path.join(isFirst ? FIRST : '/sys/fs/cgroup', `banyan-bench-${n}`);

/** In a control group of its own, of the first version or the second, as root may make them. */
function hold(n: number, pid: number): void {
  fs.mkdirSync(groupOf(n), { recursive: true });
  const write = (name: string, value: string) => fs.writeFileSync(path.join(groupOf(n), name), value);
  if (isFirst) {
    write('cpu.cfs_period_us', `${PERIOD}`);
    write('cpu.cfs_quota_us', `${QUOTA}`);
  } else write('cpu.max', `${QUOTA} ${PERIOD}`);
  write('cgroup.procs', `${pid}`);
}
