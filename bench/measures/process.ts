import fs from 'node:fs';
import { type Measure, median } from '../measure.ts';
import { startService } from '../services.ts';

/** What an operator sees of the process: its memory after all the runs, and how soon it serves. */
export const memory: Measure = async ({ service }) => {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${service.pid}/status`, 'utf8')) ?? [];
  const megabytes = Number(kilobytes) / 1024;
  return [
    {
      what: 'Memory of the service after the runs',
      figure: megabytes,
      unit: 'MB',
      goal: { most: 200 },
      spread: [megabytes, megabytes],
      notes: 'resident',
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
