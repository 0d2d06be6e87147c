import assert from 'node:assert/strict';
import type { Receiver } from '../support/receiver.ts';
import type { Client } from '../support/service.ts';

export const environment = { BANYAN_WEBHOOK_NETWORKS: 'loopback' };

/** Registers webhooks of a tenant for changes of departments. */
export async function register(admin: Client, receiver: Receiver, count = 1): Promise<void> {
  const body = { url: receiver.url, kinds: ['department.*'] };
  const requests = Array.from({ length: count }, () => admin.post('/system/webhook-api', body));
  for (const { code, text } of await Promise.all(requests)) assert.equal(code, 200, text);
}
