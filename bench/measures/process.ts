import fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { type Measure, median } from '../measure.ts';
import { ancestorsOf } from '../organization.ts';
import { call, startService } from '../services.ts';

/** Measures the memory of the service after all other measures and during a long run, and how long it takes to start. */

const residentMB = (pid: number): number => {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
};

export const memory: Measure = async ({ service, load, large, writing, ms, progress }) => {
  // This is ten minutes, or two and a half with --quick.
  const durationMs = ms * 150;
  progress(`memory: ${(durationMs / 60_000).toFixed(1)} minutes of reads and creates`);
  const samples: number[] = [];
  const startedAt = performance.now();
  let done = false;
  const watch = (async () => {
    for (; !done; await setTimeout(durationMs / 120)) samples.push(residentMB(service.pid));
  })();
  while (performance.now() - startedAt < durationMs) {
    const { base } = service;
    const request = { type: 'department', firstId: large.firstId, count: large.count } as const;
    await load.run({ base, token: large.token, request, connections: 64, ms });
    const create = { type: 'create', parentId: writing.firstId } as const;
    await load.run({ base, token: writing.token, request: create, connections: 16, ms: ms / 4 });
  }
  done = true;
  await watch;
  const quarter = (n: number) => median(samples.slice((samples.length * n) >> 2, (samples.length * (n + 1)) >> 2));
  const growth = quarter(3) / quarter(1);
  const last = samples.slice((samples.length * 3) >> 2).map((megabytes) => megabytes / quarter(1));
  const after: number[] = [];
  for (let n = 0; n < 20; n++, await setTimeout(ms / 10)) after.push(residentMB(service.pid));
  return [
    {
      name: 'Memory of the service after the runs',
      figure: median(after),
      unit: 'MB',
      goal: { most: 200 },
      range: [Math.min(...after), Math.max(...after)],
      notes: 'resident set size after all other measures and the ten minutes below',
    },
    {
      name: `Memory over ${(durationMs / 60_000).toFixed(0)} minutes of reads and creates`,
      figure: growth,
      unit: '× from the second quarter to the last',
      goal: { most: 1.1 },
      range: [Math.min(...last), Math.max(...last)],
      notes: `${quarter(0).toFixed(0)}, ${quarter(1).toFixed(0)}, ${quarter(2).toFixed(0)}, ${quarter(3).toFixed(0)} MB, the median of each quarter; maximum ${Math.max(...samples).toFixed(0)}`,
    },
  ];
};

export const starts: Measure = async ({ database, large, rounds, progress }) => {
  const deptId = large.firstId + large.count - 1;
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    progress(`starts: round ${round + 1} of ${rounds}`);
    const startedAt = performance.now();
    const service = await startService(database.databaseUrl);
    const { data } = await call(service.base, 'GET', `/system/dept-api/${deptId}`, large.token);
    times.push((performance.now() - startedAt) / 1000);
    if (data.ancestors !== ancestorsOf(large.firstId, deptId)) throw new Error(`${deptId} is below ${data.ancestors}`);
    await service.stop();
  }
  return [
    {
      name: 'Start with a million departments present',
      figure: median(times),
      unit: 's',
      goal: { most: 2 },
      range: [Math.min(...times), Math.max(...times)],
      notes: 'from process start to the response of the first read; everything built, database running',
    },
  ];
};
