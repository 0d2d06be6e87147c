import assert from 'node:assert/strict';
import net, { type AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { Receiver } from '../support/receiver.ts';
import { type Client, QUICK_WEBHOOKS, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Receivers that answer what is no answer: a failure like any other, and nobody else's trouble. */

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { timing: QUICK_WEBHOOKS });
const path = '/system/webhook-api';

/** Says this to everybody, and nothing more. */
async function saying(text: string, { close = false } = {}): Promise<string> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => (close ? socket.end(text) : socket.write(text)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

async function register(boss: Client, url: string): Promise<number> {
  const { data, text } = await boss.post(path, { url, kinds: ['department.*'] });
  assert.ok(data?.id, text);
  return data.id;
}

const odd: [string, string, { close?: boolean }?][] = [
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
  ['nothing', '', { close: true }],
  ['half a head', 'HTTP/1.1 200 OK\r\ncontent-', { close: true }],
  ['no HTTP', 'SSH-2.0-x\r\n', { close: true }],
];
for (const [name, text, options] of odd) {
  test(`a receiver that answers ${name} has failed, and is tried again`, async () => {
    const boss = await service.createTenant();
    const id = await register(boss, await saying(text, options));
    await boss.createDepartment();
    await waitFor('noted as failed', async () => {
      const { data } = await boss.get(`${path}/${id}/deliveries`);
      return data.rows[0]?.attempts > 0 && data.rows[0].lastError !== null;
    });
    const { data } = await boss.get(`${path}/${id}/deliveries`);
    assert.equal(data.rows[0].state, 'waiting');
  });
}

test('many of them keep nobody else from being told', async () => {
  const url = await saying((odd[0] as [string, string])[1]);
  for (let n = 0; n < 4; n++) {
    const boss = await service.createTenant();
    for (let m = 0; m < 16; m++) await register(boss, url);
    await boss.createDepartment();
  }
  const receiver = await Receiver.start();
  const boss = await service.createTenant();
  await register(boss, receiver.url);
  await boss.createDepartment();
  await waitFor('told', () => receiver.taken.length === 1);
});
