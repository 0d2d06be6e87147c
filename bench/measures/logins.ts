import { hash, verify } from '@node-rs/argon2';
import { alternate, type Measure, median } from '../measure.ts';
import { createTenant, PASSWORD } from '../services.ts';

/** Compares sequential logins with the verification of one password hash, which should be most of their cost. */
export const logins: Measure = async (context) => {
  const { service, load, ms } = context;
  // A tenant of its own: so many logins end the oldest sessions of their user.
  const { tenantId } = await createTenant(service.base);
  const stored = await hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  const verifications = async () => {
    const times: number[] = [];
    for (const end = performance.now() + ms; performance.now() < end; ) {
      const startedAt = performance.now();
      await verify(stored, PASSWORD);
      times.push(performance.now() - startedAt);
    }
    return median(times);
  };
  const request = { type: 'login', tenantId, username: 'boss', password: PASSWORD } as const;
  const result = await alternate(
    context,
    'logins against argon2id',
    async () => (await load.run({ base: service.base, request, connections: 1, ms })).p50,
    verifications,
  );
  return [
    {
      name: 'Login',
      figure: result.ratio,
      unit: '× its argon2id',
      goal: { most: 1.2 },
      range: result.range,
      notes: `${median(result.first).toFixed(1)} ms against ${median(result.second).toFixed(1)} ms`,
    },
  ];
};
