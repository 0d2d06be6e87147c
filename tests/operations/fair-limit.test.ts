import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ActiveTenants } from '../../db/active-tenants.ts';
import { createFairLimit } from '../../db/fair-limit.ts';
import { waitFor } from '../support/wait.ts';

/** How tenants share the connections of a pool. */

test('a tenant gets half of the slots while it is alone, an eighth while others are active, and more if its tasks take long', async () => {
  let now = 0;
  const activeTenants = new ActiveTenants(() => now);
  const limit = createFairLimit(16, activeTenants, () => now);
  const running = { noisy: 0, quiet: 0 };
  const ends: (() => void)[] = [];
  const start = (tenantId: keyof typeof running) => {
    activeTenants.add(tenantId);
    return limit.run(tenantId, () => {
      running[tenantId]++;
      return new Promise<void>((resolve) => {
        ends.push(() => {
          running[tenantId]--;
          resolve();
        });
      });
    });
  };
  activeTenants.add('quiet');
  const tasks = Array.from({ length: 20 }, () => start('noisy'));
  await setImmediate();
  assert.deepEqual(running, { noisy: 2, quiet: 0 });
  now = 1_001;
  await waitFor('the tenant gets the slots that it did not get before', () => running.noisy === 8);
  tasks.push(start('quiet'));
  await setImmediate();
  assert.deepEqual(running, { noisy: 8, quiet: 1 });
  // Running work continues. Work that ends is replaced only below an eighth.
  for (const end of ends.splice(0, 7)) end();
  await waitFor('the tenant has an eighth', () => running.noisy === 2);
  tasks.push(start('quiet'));
  await setImmediate();
  assert.deepEqual(running, { noisy: 2, quiet: 2 });
  for (const noisy of [3, 4]) {
    now += 101;
    await waitFor('a long task does not keep the next one waiting', () => running.noisy === noisy);
  }
  now += 101;
  tasks.push(start('noisy'));
  await setImmediate();
  assert.deepEqual(running, { noisy: 4, quiet: 2 }, 'at most a quarter');
  now = 10_000;
  while (running.noisy + running.quiet > 0) {
    for (const end of ends.splice(0)) end();
    await setImmediate();
  }
  await Promise.all(tasks);
});
