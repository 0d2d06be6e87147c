import fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { type Measure, median } from '../measure.ts';
import { ancestorsOf } from '../organization.ts';
import { call, startService } from '../services.ts';

/** What an operator sees of the process: its memory after all the runs and over a long one, and how soon it serves. */

const residentMB = (pid: number): number => {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
};

export const memory: Measure = async ({ service, crowd, large, writing, ms, progress }) => {
  // Ten minutes; with --quick two and a half, which tell little.
  const lasts = ms * 150;
  progress(`memory: ${(lasts / 60_000).toFixed(1)} minutes of reads and creates`);
  const seen: number[] = [];
  const began = performance.now();
  let over = false;
  const watch = (async () => {
    for (; !over; await setTimeout(lasts / 120)) seen.push(residentMB(service.pid));
  })();
  while (performance.now() - began < lasts) {
    const { base } = service;
    const ask = { what: 'department', firstId: large.firstId, count: large.count } as const;
    await crowd.call({ base, token: large.token, ask, connections: 64, ms });
    const create = { what: 'create', parentId: writing.firstId } as const;
    await crowd.call({ base, token: writing.token, ask: create, connections: 16, ms: ms / 4 });
  }
  over = true;
  await watch;
  const quarter = (n: number) => median(seen.slice((seen.length * n) >> 2, (seen.length * (n + 1)) >> 2));
  const growth = quarter(3) / quarter(1);
  const last = seen.slice((seen.length * 3) >> 2).map((megabytes) => megabytes / quarter(1));
  const after: number[] = [];
  for (let n = 0; n < 20; n++, await setTimeout(ms / 10)) after.push(residentMB(service.pid));
  return [
    {
      what: 'Memory of the service after the runs',
      figure: median(after),
      unit: 'MB',
      goal: { most: 200 },
      spread: [Math.min(...after), Math.max(...after)],
      notes: 'resident, after all the others and the ten minutes below',
    },
    {
      what: `Memory over ${(lasts / 60_000).toFixed(0)} minutes of reads and creates`,
      figure: growth,
      unit: '× from the second quarter to the last',
      goal: { most: 1.1 },
      spread: [Math.min(...last), Math.max(...last)],
      notes: `${quarter(0).toFixed(0)}, ${quarter(1).toFixed(0)}, ${quarter(2).toFixed(0)}, ${quarter(3).toFixed(0)} MB, the middle of each quarter; never more than ${Math.max(...seen).toFixed(0)}`,
    },
  ];
};

export const starts: Measure = async ({ place, large, rounds, progress }) => {
  const deptId = large.firstId + large.count - 1;
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    progress(`starts: round ${round + 1} of ${rounds}`);
    const began = performance.now();
    const service = await startService(place.databaseUrl);
    const { data } = await call(service.base, 'GET', `/system/dept-api/${deptId}`, large.token);
    times.push((performance.now() - began) / 1000);
    if (data.ancestors !== ancestorsOf(large.firstId, deptId)) throw new Error(`${deptId} is below ${data.ancestors}`);
    await service.stop();
  }
  return [
    {
      what: 'Start with a million departments present',
      figure: median(times),
      unit: 's',
      goal: { most: 2 },
      spread: [Math.min(...times), Math.max(...times)],
      notes: 'from the start of the process to the answer of its first read, all built, the database running',
    },
  ];
};
