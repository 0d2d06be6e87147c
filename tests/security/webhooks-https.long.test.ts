// Only with test:long: a process reads additional trusted certificates only when it starts, which takes seconds;
// webhook-addresses.test.ts covers a receiver whose certificate is not trusted.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createCertificate } from '../support/certificate.ts';
import { createDatabase } from '../support/database.ts';
import { newDataFolder, startOnDatabase } from '../support/process.ts';
import { Receiver } from '../support/receiver.ts';
import { waitFor } from '../support/wait.ts';

test('a webhook is delivered over HTTPS only to a receiver with a trusted certificate for its host name', async () => {
  const certificate = createCertificate('localhost');
  const folder = newDataFolder();
  const trusted = path.join(path.dirname(folder), 'trusted.pem');
  fs.writeFileSync(trusted, certificate.cert);
  const { databaseUrl } = await createDatabase();
  const run = startOnDatabase(databaseUrl, { BANYAN_WEBHOOK_NETWORKS: 'loopback', NODE_EXTRA_CA_CERTS: trusted });
  const admin = await run.admin();
  const known = await Receiver.start(undefined, certificate);
  const unknown = await Receiver.start(undefined, createCertificate('localhost'));
  const register = async (url: string) => (await admin.post('/system/webhook-api', { url })).data;
  const valid = await register(`https://localhost:${known.port}/`);
  const otherName = await register(`https://127.0.0.1:${known.port}/`);
  const untrusted = await register(`https://localhost:${unknown.port}/`);
  await admin.createDepartment({ deptName: '研发' });

  const last = async ({ id }: { id: number }) => (await admin.get(`/system/webhook-api/${id}/deliveries`)).data.rows[0];
  const all = [valid, otherName, untrusted];
  await waitFor('all webhooks were tried', async () =>
    (await Promise.all(all.map(last))).every((one) => one?.lastTime),
  );
  assert.deepEqual([(await last(valid)).state, (await last(valid)).lastStatus], ['delivered', 200]);
  const [message] = known.accepted as [Receiver['all'][number]];
  assert.equal(message.data.after.deptName, '研发');
  new Webhook(valid.secret).verify(message.body, message.headers);
  assert.match((await last(otherName)).lastError, /^ERR_TLS_CERT_ALTNAME_INVALID/);
  assert.match((await last(untrusted)).lastError, /^DEPTH_ZERO_SELF_SIGNED_CERT/);
  assert.deepEqual([known.all.length, unknown.all.length], [1, 0]);
  assert.equal(await run.stop(), 0, run.stderr);
});
