import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { createCertificate } from '../support/certificate.ts';
import { after } from '../support/cleanup.ts';
import { Receiver } from '../support/receiver.ts';
import { sample } from '../support/scale.ts';
import { type Client, FAST_WEBHOOK_POLLING, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** A webhook makes the service send requests. It must not make the service call addresses inside its own network. */

/** The addresses that host names currently resolve to, and the names that were resolved. */
const names = new Map<string, string[]>();
let resolved: string[] = [];
const resolve = async (name: string) => {
  resolved.push(name);
  const found = names.get(name);
  if (!found) throw new Error('ENOTFOUND');
  return found;
};

const service = await startService({}, { resolve, timing: FAST_WEBHOOK_POLLING });
const serviceWithNetworks = await startService(
  { BANYAN_WEBHOOK_NETWORKS: 'loopback, 10.1.0.0/16, fd12::/16' },
  { resolve, timing: FAST_WEBHOOK_POLLING },
);
const path = '/system/webhook-api';
const register = async (admin: Client, url: string, status = '1') => {
  const response = await admin.post(path, { url, status });
  if (response.code === 200) await admin.delete(`${path}/${response.data.id}`);
  return response.data?.reason ?? response.code;
};

const internal = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:93.184.216.34',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::5db8:d822',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '2002:a00:1::',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
];
const external = [
  '93.184.216.34',
  '1.1.1.1',
  '100.63.255.255',
  '172.32.0.1',
  '2606:4700::1111',
  '2a00:1450:4001::200e',
];
const hostOf = (address: string) => (net.isIPv6(address) ? `[${address}]` : address);

test('an internal address is rejected, given directly or through a host name', async () => {
  const admin = await service.createTenant();
  for (const [n, address] of internal.entries()) {
    assert.equal(await register(admin, `https://${hostOf(address)}/`), 'WEBHOOK_ADDRESS_REFUSED', address);
    // An external address among several does not help. The everyday run tries a third of the addresses with names too.
    for (const resolvedTo of sample([[address], ['93.184.216.34', address], [address, '93.184.216.34']], 9, n)) {
      names.set('inner.example', resolvedTo);
      assert.equal(await register(admin, 'https://inner.example/'), 'WEBHOOK_ADDRESS_REFUSED', resolvedTo.join());
    }
  }
  for (const address of external) {
    assert.equal(await register(admin, `https://${hostOf(address)}:8443/a?b=c`), 200, address);
    names.set('outer.example', [address]);
    assert.equal(await register(admin, 'https://outer.example/'), 200, `a name for ${address}`);
    assert.equal(await register(admin, 'http://outer.example/'), 'WEBHOOK_ADDRESS_REFUSED', 'plain HTTP');
  }
});

test('other notations of internal addresses, unknown names, other schemes, credentials and fragments are rejected', async () => {
  const admin = await service.createTenant();
  names.set('outer.example', ['93.184.216.34']);
  names.set('empty.example', []);
  for (const url of [
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    'https://[::ffff:7f00:1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://localhost/',
    'https://unknown.example/',
    'https://empty.example/',
    'https://user:password@outer.example/',
    'https://outer.example/#part',
    'ftp://outer.example/',
    'file:///etc/passwd',
    'gopher://outer.example/',
    'data:text/plain,x',
    '//outer.example/',
    'outer.example',
    'https://',
    ' ',
  ]) {
    assert.equal(await register(admin, url), 'WEBHOOK_ADDRESS_REFUSED', url);
  }
  const { data } = await admin.post(path, { url: 'https://outer.example/', status: '1' });
  const changed = await admin.put(path, { id: data.id, url: 'https://10.0.0.1/' });
  assert.equal(changed.data.reason, 'WEBHOOK_ADDRESS_REFUSED', 'an update is checked too');
  // The error does not reveal whether an internal name exists.
  names.set('inner.example', ['10.9.8.7']);
  const [existing, missing] = [
    await admin.post(path, { url: 'https://inner.example/' }),
    await admin.post(path, { url: 'https://nowhere.example/' }),
  ];
  assert.equal(existing.text, missing.text);
});

test('networks allowed by the operator are accepted, with plain HTTP only on loopback', async () => {
  const admin = await serviceWithNetworks.createTenant();
  names.set('own.example', ['127.0.0.1']);
  for (const url of ['https://10.1.2.3/', 'https://[fd12::1]/', 'http://127.0.0.1:1/', 'http://[::1]:1/'])
    assert.equal(await register(admin, url), 200, url);
  for (const url of ['http://10.1.2.3/', 'http://[fd12::1]/', 'https://10.2.0.1/', 'https://[fd13::1]/'])
    assert.equal(await register(admin, url), 'WEBHOOK_ADDRESS_REFUSED', url);
  assert.equal(await register(admin, 'http://own.example/'), 200);
  names.set('own.example', ['127.0.0.1', '93.184.216.34']);
  assert.equal(await register(admin, 'http://own.example/'), 'WEBHOOK_ADDRESS_REFUSED');
});

test('a host name that resolves to an internal address at delivery time is not called', async () => {
  let calls = 0;
  const victim = net.createServer((socket) => {
    calls++;
    socket.destroy();
  });
  await new Promise<void>((listening) => victim.listen(0, '127.0.0.1', listening));
  after(() => victim.close());
  const { port } = victim.address() as net.AddressInfo;
  const admin = await service.createTenant();
  names.set('rebind.example', ['93.184.216.34']);
  const { data } = await admin.post(path, { url: `https://rebind.example:${port}/` });
  names.set('rebind.example', ['127.0.0.1']);
  await admin.createDepartment();
  const last = async () => (await admin.get(`${path}/${data.id}/deliveries`)).data.rows[0];
  await waitFor('the delivery was tried', async () => (await last())?.attempts > 0);
  assert.match((await last()).lastError, /does not resolve, or resolves to a network that is not allowed/);
  assert.equal(calls, 0);
});

test('the service connects to the address that it checked, and resolves the name once', async () => {
  const receiver = await Receiver.start();
  const admin = await serviceWithNetworks.createTenant();
  names.set('once.example', ['127.0.0.1']);
  const { port } = new URL(receiver.url);
  await admin.post(path, { url: `http://once.example:${port}/` });
  resolved = [];
  await admin.createDepartment();
  await waitFor('the message arrives', () => receiver.accepted.length === 1);
  // Ignore retries of the webhook of the previous test.
  assert.deepEqual(
    resolved.filter((name) => name !== 'rebind.example'),
    ['once.example'],
  );
  assert.equal(receiver.accepted[0]?.headers.host, `once.example:${port}`);
});

test('a receiver whose certificate is not trusted gets no message', async () => {
  const receiver = await Receiver.start(undefined, createCertificate('localhost'));
  const admin = await serviceWithNetworks.createTenant();
  names.set('localhost', ['127.0.0.1']);
  const { data } = await admin.post(path, { url: `https://localhost:${receiver.port}/` });
  await admin.createDepartment();
  const last = async () => (await admin.get(`${path}/${data.id}/deliveries`)).data.rows[0];
  await waitFor('the delivery was tried', async () => (await last())?.attempts > 0);
  assert.match((await last()).lastError, /^DEPTH_ZERO_SELF_SIGNED_CERT/);
  assert.equal(receiver.all.length, 0);
});
