import { alternate, type Measure, median } from '../measure.ts';
import { logIn, startService } from '../services.ts';

const CONNECTIONS = 64;

/** Compares reads of one department with and without metrics. */
export const metrics: Measure = async (context) => {
  const { load, small, database, ms } = context;
  const start = (env: Record<string, string>) =>
    startService(database.databaseUrl, { BANYAN_ACCESS_TOKEN_SECONDS: '86400', ...env });
  const [on, off] = [await start({ BANYAN_METRICS: '1' }), await start({})];
  try {
    const token = await logIn(on.base, small.tenantId, 'boss');
    const reads = async (base: string) => {
      const request = { type: 'department', firstId: small.firstId, count: small.count } as const;
      return (await load.run({ base, token, request, connections: CONNECTIONS, ms })).perSecond;
    };
    const { ratio, range, first, second } = await alternate(
      context,
      'reads with metrics against without',
      () => reads(on.base),
      () => reads(off.base),
    );
    return [
      {
        name: `Read of a department with BANYAN_METRICS=1, ${CONNECTIONS} connections`,
        figure: ratio,
        unit: '× without',
        goal: { least: 0.95 },
        range,
        notes: `${Math.round(median(first))}/s against ${Math.round(median(second))}/s`,
      },
    ];
  } finally {
    await on.stop();
    await off.stop();
  }
};
