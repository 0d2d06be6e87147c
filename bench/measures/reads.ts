import { alternate, type Measure, median, type Scene, type Tenant } from '../measure.ts';
import { backendsOf, call, cpuSeconds, startBare } from '../services.ts';

const CONNECTIONS = 64;

/** Reads of departments by chance: how many a second, every answer checked. */
const readsOf = async ({ crowd, service, ms }: Scene, { token, firstId, count }: Tenant): Promise<number> => {
  const ask = { what: 'department', firstId, count } as const;
  return (await crowd.call({ base: service.base, token, ask, connections: CONNECTIONS, ms })).aSecond;
};

/** One department out of a million, against a route that answers a constant; and against one out of a thousand. */
export const reads: Measure = async (scene) => {
  const { place, service, crowd, large, small, ms } = scene;
  const { text } = await call(service.base, 'GET', `/system/dept-api/${large.firstId + large.count - 1}`, large.token);
  const bare = await startBare(text);
  const constant = await (await fetch(`${bare.base}/constant`)).text();
  if (constant.length !== text.length) throw new Error(`a constant of ${constant.length} for ${text.length} letters`);
  const constants = async () => {
    const ask = { what: 'path', path: '/constant' } as const;
    return (await crowd.call({ base: bare.base, ask, connections: CONNECTIONS, ms })).aSecond;
  };
  try {
    await readsOf(scene, large);
    const ofService = counted([service.pid], () => readsOf(scene, large), ms);
    const ofPostgres = counted(await backendsOf(place, service), ofService.run, ms);
    const ofBare = counted([bare.pid], constants, ms);
    const against = await alternate(scene, 'reads against a bare route', ofPostgres.run, ofBare.run);
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
          `processor time of the service ${us(ofService)} a read and of PostgreSQL ${us(ofPostgres)}, of the bare route ${us(ofBare)}`,
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

/** Keeps also the microseconds of processor time of some processes for each answer. */
function counted(pids: number[], work: () => Promise<number>, ms: number) {
  const each: number[] = [];
  const run = async () => {
    const before = cpuSeconds(pids);
    const aSecond = await work();
    each.push(((cpuSeconds(pids) - before) * 1e6) / ((aSecond * ms) / 1000));
    return aSecond;
  };
  return { run, each };
}

/** The median, and the smallest and the largest; without the round that warmed up. */
function us({ each: [, ...counted] }: { each: number[] }): string {
  return `${Math.round(median(counted))} µs (${Math.round(Math.min(...counted))} – ${Math.round(Math.max(...counted))})`;
}
