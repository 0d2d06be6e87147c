import { alternate, type Context, type Measure, median, type Tenant } from '../measure.ts';
import { backendsOf, call, cpuSeconds, startBare } from '../services.ts';

const CONNECTIONS = 64;

/** Returns the number of reads of random departments per second. Every response is checked. */
const readsOf = async ({ load, service, ms }: Context, { token, firstId, count }: Tenant): Promise<number> => {
  const request = { type: 'department', firstId, count } as const;
  return (await load.run({ base: service.base, token, request, connections: CONNECTIONS, ms })).perSecond;
};

/** Compares reads of one department out of a million with a route that returns a constant, and with one out of a thousand. */
export const reads: Measure = async (context) => {
  const { database, service, load, large, small, ms } = context;
  const { text } = await call(service.base, 'GET', `/system/dept-api/${large.firstId + large.count - 1}`, large.token);
  const bare = await startBare(text);
  const constant = await (await fetch(`${bare.base}/constant`)).text();
  if (constant.length !== text.length)
    throw new Error(`the constant has ${constant.length} characters instead of ${text.length}`);
  const constants = async () => {
    const request = { type: 'path', path: '/constant' } as const;
    return (await load.run({ base: bare.base, request, connections: CONNECTIONS, ms })).perSecond;
  };
  try {
    await readsOf(context, large);
    // `ofPostgres` wraps `ofService`, so one run measures both.
    const ofService = measureCpu([service.pid], () => readsOf(context, large), ms);
    const ofPostgres = measureCpu(await backendsOf(database, service), ofService.run, ms);
    const ofBare = measureCpu([bare.pid], constants, ms);
    const against = await alternate(context, 'reads against a bare route', ofPostgres.run, ofBare.run);
    const sizes = await alternate(
      context,
      'reads with 1,000,000 departments against 1,000',
      () => readsOf(context, large),
      () => readsOf(context, small),
    );
    const formatRate = (numbers: number[]) => `${Math.round(median(numbers))}/s`;
    return [
      {
        name: `Read of one of ${large.count} departments, ${CONNECTIONS} connections`,
        figure: against.ratio,
        unit: '× a bare Fastify route',
        goal: { least: 0.7 },
        range: against.range,
        notes:
          `${formatRate(against.first)} against ${formatRate(against.second)}; CPU time per read: ` +
          `service ${formatCpu(ofService)}, PostgreSQL ${formatCpu(ofPostgres)}, bare route ${formatCpu(ofBare)}`,
      },
      {
        name: `The same with ${large.count} departments against ${small.count}`,
        figure: sizes.ratio,
        unit: '×',
        goal: { least: 0.85 },
        range: sizes.range,
        notes: `${formatRate(sizes.first)} against ${formatRate(sizes.second)}`,
      },
    ];
  } finally {
    await bare.stop();
  }
};

/** Wraps a workload to record the CPU time of some processes per response, in microseconds. */
function measureCpu(pids: number[], work: () => Promise<number>, ms: number) {
  const samples: number[] = [];
  const run = async () => {
    const before = cpuSeconds(pids);
    const perSecond = await work();
    samples.push(((cpuSeconds(pids) - before) * 1e6) / ((perSecond * ms) / 1000));
    return perSecond;
  };
  return { run, samples };
}

/** Formats the median, minimum and maximum, without the warm-up round. */
function formatCpu({ samples: [, ...counted] }: { samples: number[] }): string {
  return `${Math.round(median(counted))} µs (${Math.round(Math.min(...counted))} – ${Math.round(Math.max(...counted))})`;
}
