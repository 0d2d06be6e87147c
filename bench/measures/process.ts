import fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { type Measure, median } from '../measure.ts';
import { startService } from '../services.ts';

/** What an operator sees of the process: its memory after all the runs and over a long one, and how soon it serves. */

const residentMB = (pid: number): number => {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
};

export const memory: Measure = async ({ service, crowd, small, writing, ms, progress }) => {
  const after = residentMB(service.pid);
  // Ten minutes; with --quick fifteen seconds, which tells nothing.
  const lasts = ms * 150;
  progress(`memory: ${Math.round(lasts / 60_000)} minutes of reads and creates`);
  const seen: number[] = [];
  const began = performance.now();
  let over = false;
  const watch = (async () => {
    for (; !over; await setTimeout(lasts / 120)) seen.push(residentMB(service.pid));
  })();
  while (performance.now() - began < lasts) {
    const { base } = service;
    const ask = { what: 'department', firstId: small.firstId, count: small.count } as const;
    await crowd.call({ base, token: small.token, ask, connections: 64, ms });
    const create = { what: 'create', parentId: writing.firstId } as const;
    await crowd.call({ base, token: writing.token, ask: create, connections: 16, ms: ms / 4 });
  }
  over = true;
  await watch;
  const quarter = (n: number) => median(seen.slice((seen.length * n) >> 2, (seen.length * (n + 1)) >> 2));
  const growth = quarter(3) / quarter(1);
  return [
    {
      what: 'Memory of the service after the runs',
      figure: after,
      unit: 'MB',
      goal: { most: 200 },
      spread: [after, after],
      notes: 'resident',
    },
    {
      what: `Memory over ${Math.round(lasts / 60_000)} minutes of reads and creates`,
      figure: growth,
      unit: '× from the second quarter to the last',
      goal: { most: 1.1 },
      spread: [growth, growth],
      notes: `${quarter(0).toFixed(0)}, ${quarter(1).toFixed(0)}, ${quarter(2).toFixed(0)}, ${quarter(3).toFixed(0)} MB, the middle of each quarter; never more than ${Math.max(...seen).toFixed(0)}`,
    },
  ];
};

export const starts: Measure = async ({ place, rounds, progress }) => {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    progress(`starts: round ${round + 1} of ${rounds}`);
    const began = performance.now();
    const service = await startService(place.databaseUrl);
    const response = await fetch(`${service.base}/health/ready`);
    times.push((performance.now() - began) / 1000);
    if (!response.ok) throw new Error(await response.text());
    await service.stop();
  }
  return [
    {
      what: 'Start with a million departments present',
      figure: median(times),
      unit: 's',
      goal: { most: 2 },
      spread: [Math.min(...times), Math.max(...times)],
      notes: 'from the start of the process to its first answer, compiled, the database running',
    },
  ];
};
