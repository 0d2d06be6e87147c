import { hash, verify } from '@node-rs/argon2';
import { alternate, type Measure, median } from '../measure.ts';
import { logIn } from '../services.ts';

/** One login after the other, against the check of one password hash: nothing else may cost much. */
export const logins: Measure = async (scene) => {
  const { service, small } = scene;
  const stored = await hash('correct horse', { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  const middleOf = async (work: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let n = 0; n < 20; n++) {
      const began = performance.now();
      await work();
      times.push(performance.now() - began);
    }
    return median(times);
  };
  const result = await alternate(
    scene,
    'logins against argon2id',
    () => middleOf(() => logIn(service.base, small.tenantId, 'boss')),
    () => middleOf(() => verify(stored, 'correct horse')),
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
