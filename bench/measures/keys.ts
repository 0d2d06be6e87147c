import { alternate, type Context, type Measure, median, type Tenant } from '../measure.ts';
import { call } from '../services.ts';

const CONNECTIONS = 64;

/** Compares reads of one department with an API key and with an access token. */
export const keys: Measure = async (context) => {
  const { service, small } = context;
  const body = { keyName: 'bench', permissions: ['dept:read'] };
  const { data } = await call(service.base, 'POST', '/system/key-api', small.token, body);
  const { ratio, range, first, second } = await alternate(
    context,
    'reads with an API key against an access token',
    () => readsOf(context, { ...small, token: data.key }),
    () => readsOf(context, small),
  );
  return [
    {
      name: `Read of a department with an API key, ${CONNECTIONS} connections`,
      figure: ratio,
      unit: '× with an access token',
      goal: { least: 0.9 },
      range,
      notes: `${Math.round(median(first))}/s against ${Math.round(median(second))}/s`,
    },
  ];
};

/** Returns the number of reads of random departments per second. Every response is checked. */
const readsOf = async ({ load, service, ms }: Context, { token, firstId, count }: Tenant): Promise<number> => {
  const request = { type: 'department', firstId, count } as const;
  return (await load.run({ base: service.base, token, request, connections: CONNECTIONS, ms })).perSecond;
};
