import assert from 'node:assert/strict';
import net, { type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { after } from '../support/cleanup.ts';
import { Receiver } from '../support/receiver.ts';
import { scale } from '../support/scale.ts';
import { type Client, FAST_WEBHOOK_POLLING, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Receivers whose response is not valid HTTP. The delivery fails like any other, and other receivers are not affected. */

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { timing: FAST_WEBHOOK_POLLING });
const path = '/system/webhook-api';

/** Starts a server that responds with this text to each connection. Returns its URL. */
async function startRawServer(text: string, { close = false } = {}): Promise<string> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => (close ? socket.end(text) : socket.write(text)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

async function register(admin: Client, url: string): Promise<number> {
  const { data, text } = await admin.post(path, { url, kinds: ['department.*'] });
  assert.ok(data?.id, text);
  return data.id;
}

const invalid: [string, string, { close?: boolean }?][] = [
  [
    'with a switch to another protocol',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
  ],
  ['with nothing', '', { close: true }],
  ['with incomplete headers', 'HTTP/1.1 200 OK\r\ncontent-', { close: true }],
  ['with something other than HTTP', 'SSH-2.0-x\r\n', { close: true }],
];
for (const [name, text, options] of invalid) {
  test(`a delivery to a receiver that responds ${name} fails and waits for a retry`, async () => {
    const admin = await service.createTenant();
    const id = await register(admin, await startRawServer(text, options));
    await admin.createDepartment();
    await waitFor('the attempt is recorded as failed', async () => {
      const { data } = await admin.get(`${path}/${id}/deliveries`);
      return data.rows[0]?.attempts > 0 && data.rows[0].lastError !== null;
    });
    const { data } = await admin.get(`${path}/${id}/deliveries`);
    assert.equal(data.rows[0].state, 'waiting');
  });
}

test('many receivers with invalid responses do not delay deliveries to others', async () => {
  const url = await startRawServer((invalid[0] as [string, string])[1]);
  for (let n = 0; n < scale(1, 4); n++) {
    const admin = await service.createTenant();
    for (let m = 0; m < 16; m++) await register(admin, url);
    await admin.createDepartment();
  }
  const receiver = await Receiver.start();
  const admin = await service.createTenant();
  await register(admin, receiver.url);
  await admin.createDepartment();
  await waitFor('the message is delivered', () => receiver.accepted.length === 1);
});
