import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { after } from '../support/cleanup.ts';
import { expectOk, read, USERS } from '../support/expect.ts';
import { isLong } from '../support/scale.ts';
import { FAST_WEBHOOK_POLLING, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { compiled, exampleFolder, keysOf, run, start, waitForAddress } from './example-programs.ts';

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { timing: FAST_WEBHOOK_POLLING });
const createKey = keysOf(service);
const folder = exampleFolder();

test('nightly-job creates users who joined and disables those who left', async () => {
  const admin = await service.createTenant();
  const deptId = Number(await admin.createDepartment());
  const leaving = await admin.createUser({ userName: 'leaving', nickName: '李雷', deptId });
  const file = path.join(folder, 'people.json');
  const people = ['zhang.wei', 'wang.fang'].map((userName) => ({ userName, nickName: userName, deptId }));
  fs.writeFileSync(file, JSON.stringify(people));
  const { env } = await createKey(admin, ['user:read', 'user:write']);
  const first = await run(process.execPath, [compiled('nightly-job.js'), file], { env });
  assert.equal(first.stdout, '2 created, 1 disabled, 1 unchanged\n');
  const { status, nickName } = await read(admin, `${USERS}/${leaving}`);
  assert.deepEqual([status, nickName], ['1', '李雷']);
  if (!isLong) return;
  const second = await run(process.execPath, [compiled('nightly-job.js'), file], { env });
  assert.equal(second.stdout, '0 created, 0 disabled, 4 unchanged\n');
});

test('verify-tokens accepts a token of the service and rejects any other', async () => {
  const admin = await service.createTenant();
  const { lines } = start('verify-tokens.js', [], { BANYAN_ISSUER: service.base, PORT: '0' });
  const url = await waitForAddress(lines);
  const ask = (token: string) => fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const response = await ask(admin.token as string);
  const me = await read(admin, '/auth/me');
  assert.deepEqual(await response.json(), { user: String(me.user.userId), tenant: admin.tenantId });
  const [header, payload, signature] = String(admin.token).split('.');
  const other = Buffer.from(JSON.stringify({ ...JSON.parse(atob(String(payload))), sub: '1' })).toString('base64url');
  for (const token of ['', 'x', `${header}.${other}.${signature}`]) assert.equal((await ask(token)).status, 401, token);
});

test('verify-tokens responds with 503 while it cannot load the keys', async () => {
  const unavailable = http.createServer((_, response) => response.writeHead(503).end()).listen(0, '127.0.0.1');
  await once(unavailable, 'listening');
  after(() => unavailable.close());
  const issuer = `http://127.0.0.1:${(unavailable.address() as AddressInfo).port}`;
  const { lines } = start('verify-tokens.js', [], { BANYAN_ISSUER: issuer, PORT: '0' });
  const { token } = await service.createTenant();
  const { status } = await fetch(await waitForAddress(lines), { headers: { authorization: `Bearer ${token}` } });
  assert.equal(status, 503);
});

test('webhook-receiver prints a signed message once, however often it arrives, and rejects forged ones', async () => {
  const admin = await service.createTenant();
  // The secret is known only after the webhook has an address, so the example is started with it afterwards.
  const { data } = await admin.post('/system/webhook-api', { url: 'http://127.0.0.1:9/', status: '1' });
  const { lines } = start('webhook-receiver.js', [], { BANYAN_WEBHOOK_SECRET: data.secret, PORT: '0' });
  const url = (await waitForAddress(lines)).replace('localhost', '127.0.0.1');
  expectOk(await admin.put('/system/webhook-api', { id: data.id, url, status: '0' }));
  const deptId = await admin.createDepartment();
  await waitFor('the message has arrived', () => lines.includes(`department.created ${deptId}`));
  /** Sends a message with the signature of `signed`. Returns the status. */
  const send = async (id: string, body: string, signed = body) => {
    const now = new Date();
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(data.secret).sign(id, now, signed),
    };
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  for (const [id, type] of [
    ['msg_1', 'repeated'],
    ['msg_1', 'repeated'],
    ['msg_2', 'later'],
  ] as const)
    assert.equal(await send(id, JSON.stringify({ type })), 204);
  await waitFor('the later message is printed', () => lines.includes('later'));
  assert.equal(lines.filter((line) => line === 'repeated').length, 1);
  assert.equal(await send('msg_3', '{"type":"forged"}', '{}'), 401);
});
