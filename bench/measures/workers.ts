import os from 'node:os';
import { alternate, type Measure, median } from '../measure.ts';
import { logIn, startService } from '../services.ts';

/** The same service as two processes against one. The load generator and PostgreSQL need their part of the cores too. */
export const workers: Measure = async (scene) => {
  const { crowd, service, small, place, ms } = scene;
  const two = await startService(place.databaseUrl, { BANYAN_ACCESS_TOKEN_SECONDS: '86400', BANYAN_WORKERS: '2' });
  try {
    const token = await logIn(two.base, small.tenantId, 'boss');
    const reads = (base: string, token: string) => async () => {
      const ask = { what: 'department', firstId: small.firstId, count: small.count } as const;
      return (await crowd.call({ base, token, ask, connections: 64, ms })).aSecond;
    };
    const result = await alternate(
      scene,
      'two workers against one',
      reads(two.base, token),
      reads(service.base, small.token),
    );
    return [
      {
        what: 'Reads with BANYAN_WORKERS=2 against one process',
        figure: result.ratio,
        unit: '×',
        goal: { least: 1.5 },
        spread: result.spread,
        notes:
          `${Math.round(median(result.ones))}/s against ${Math.round(median(result.others))}/s; ` +
          `${os.cpus().length} cores for the workers, PostgreSQL and the load generator`,
      },
    ];
  } finally {
    await two.stop();
  }
};
