// Only with test:long: 140 webhooks and their messages take more than five seconds; webhook-fairness.test.ts covers how slots are shared.
import { test } from 'node:test';
import { Receiver } from '../support/receiver.ts';
import { FAST_WEBHOOK_POLLING, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { environment, register } from './webhook-fairness.ts';

test('140 webhooks of one subtree whose receivers do not respond delay neither its siblings nor other tenants', async () => {
  const service = await startService(environment, { timing: FAST_WEBHOOK_POLLING });
  const stuck = await Receiver.start(() => undefined);
  const parent = await service.createTenant();
  const greedy = await service.createTenant({}, parent);
  // More webhooks than the process has slots.
  for (let n = 0; n < 7; n++) {
    const tenant = await service.createTenant({}, greedy);
    await register(tenant, stuck, 20);
    await tenant.createDepartment();
  }
  // In tests a receiver has ten minutes to respond, so every message that arrived still occupies its slot.
  await waitFor('the subtree has taken its slots', () => stuck.all.length >= 30);
  for (const admin of [await service.createTenant({}, parent), await service.createTenant(), parent]) {
    const receiver = await Receiver.start();
    await register(admin, receiver);
    await admin.createDepartment();
    await waitFor('the message is delivered', () => receiver.accepted.length === 1);
  }
});
