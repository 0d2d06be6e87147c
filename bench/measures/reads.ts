import { alternate, type Measure, median, type Scene, type Tenant } from '../measure.ts';
import { call, cpuSeconds, type Process, startBare } from '../services.ts';

const CONNECTIONS = 64;

/** Reads of departments by chance: how many a second, every answer checked. */
const readsOf = async ({ crowd, service, ms }: Scene, { token, firstId, count }: Tenant): Promise<number> => {
  const ask = { what: 'department', firstId, count } as const;
  return (await crowd.call({ base: service.base, token, ask, connections: CONNECTIONS, ms })).aSecond;
};

/** One department out of a million, against a route that answers a constant; and against one out of a thousand. */
export const reads: Measure = async (scene) => {
  const { service, crowd, large, small, ms } = scene;
  const { text } = await call(service.base, 'GET', `/system/dept-api/${large.firstId + large.count - 1}`, large.token);
  const bare = await startBare(text);
  const constants = async () => {
    const ask = { what: 'path', path: '/constant' } as const;
    return (await crowd.call({ base: bare.base, ask, connections: CONNECTIONS, ms })).aSecond;
  };
  try {
    const cpu = { service: 0, bare: 0 };
    const against = await alternate(
      scene,
      'reads against a bare route',
      () =>
        counted(
          service,
          (us) => (cpu.service = us),
          () => readsOf(scene, large),
          ms,
        ),
      () => counted(bare, (us) => (cpu.bare = us), constants, ms),
    );
    const sizes = await alternate(
      scene,
      'reads at 1,000 and at 1,000,000',
      () => readsOf(scene, large),
      () => readsOf(scene, small),
    );
    const aSecond = (numbers: number[]) => `${Math.round(median(numbers))}/s`;
    return [
      {
        what: `Read of one of ${large.count} departments, ${CONNECTIONS} connections`,
        figure: against.ratio,
        unit: '× a bare route',
        goal: { least: 0.7 },
        spread: against.spread,
        notes:
          `${aSecond(against.ones)} against ${aSecond(against.others)}; ` +
          `processor time of the service ${Math.round(cpu.service)} µs a read, of the bare route ${Math.round(cpu.bare)} µs`,
      },
      {
        what: `The same, of ${large.count} against of ${small.count}`,
        figure: sizes.ratio,
        unit: '×',
        goal: { least: 0.85 },
        spread: sizes.spread,
        notes: `${aSecond(sizes.ones)} against ${aSecond(sizes.others)}`,
      },
    ];
  } finally {
    await bare.stop();
  }
};

/** Tells also the microseconds of processor time for each answer. */
async function counted(process: Process, tell: (us: number) => void, run: () => Promise<number>, ms: number) {
  const before = cpuSeconds(process.pid);
  const aSecond = await run();
  tell(((cpuSeconds(process.pid) - before) * 1e6) / ((aSecond * ms) / 1000));
  return aSecond;
}
