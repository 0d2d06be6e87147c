import { hash, verify } from '@node-rs/argon2';
import { alternate, type Measure, median } from '../measure.ts';
import { PASSWORD } from '../services.ts';

/** One login after the other, against the check of one password hash: nothing else may cost much. */
export const logins: Measure = async (scene) => {
  const { service, crowd, small, ms } = scene;
  const stored = await hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  const checks = async () => {
    const times: number[] = [];
    for (const end = performance.now() + ms; performance.now() < end; ) {
      const began = performance.now();
      await verify(stored, PASSWORD);
      times.push(performance.now() - began);
    }
    return median(times);
  };
  const ask = { what: 'login', tenantId: small.tenantId, username: 'boss', password: PASSWORD } as const;
  const result = await alternate(
    scene,
    'logins against argon2id',
    async () => (await crowd.call({ base: service.base, ask, connections: 1, ms })).p50,
    checks,
  );
  return [
    {
      what: 'Login',
      figure: result.ratio,
      unit: '× its argon2id',
      goal: { most: 1.2 },
      spread: result.spread,
      notes: `${median(result.ones).toFixed(1)} ms against ${median(result.others).toFixed(1)} ms`,
    },
  ];
};
