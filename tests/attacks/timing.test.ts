import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PASSWORD, startService } from '../harness.ts';
import { isLong, report, scale } from '../scale.ts';

/** Who guesses names with a clock in his hand. Printed always; judged only in the long run, where there is enough of it. */

const service = await startService();
const boss = await service.tenant();
const disabled = await service.tenant();
await service.root.put('/system/tenant-api', { id: disabled.id, status: '1' });

const guesses = {
  'wrong password': { tenantId: boss.tenantId, username: 'boss' },
  'unknown user': { tenantId: boss.tenantId, username: 'nobody' },
  'unknown tenant': { tenantId: '777777777777', username: 'boss' },
  'tenant out of service': { tenantId: disabled.tenantId, username: 'boss' },
};
type Guess = keyof typeof guesses;

async function timed(guess: Guess): Promise<number> {
  const began = performance.now();
  const answer = await service.nobody.post('/auth/login', { ...guesses[guess], password: 'wrong horse' });
  const took = performance.now() - began;
  assert.deepEqual([answer.status, answer.data.reason], [401, 'LOGIN_FAILED']);
  return took;
}
const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;

test('unknown tenant, unknown user and wrong password take alike long', async (t) => {
  const rounds = scale(6, 300);
  const names = Object.keys(guesses) as Guess[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Guess, number[]>;
  for (let round = -2; round < rounds; round++) {
    // The guard against guessing would soon answer instead.
    await service.superuser`delete from banyan.login_failures`;
    await service.superuser`delete from banyan.login_addresses`;
    // In another order each time: whatever the machine does besides falls on all alike.
    for (let n = 0; n < names.length; n++) {
      const name = names[(n + round + 2) % names.length] as Guess;
      const took = await timed(name);
      if (round >= 0) times[name].push(took);
    }
  }
  const medians = Object.fromEntries(names.map((name) => [name, Math.round(median(times[name]) * 10) / 10]));
  report(t, { rounds, medianMs: medians });
  const values = Object.values(medians);
  if (isLong) assert.ok(Math.max(...values) < Math.min(...values) * 1.2, JSON.stringify(medians));
  assert.equal((await service.logIn(boss.tenantId, 'boss', PASSWORD)).tenantId, boss.tenantId);
});
