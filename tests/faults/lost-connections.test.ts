import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { expectError, expectOk, read } from '../support/expect.ts';
import { type Cut, PostgresProxy } from '../support/postgres-proxy.ts';
import { firstSeed, report, scale, seededRandom } from '../support/scale.ts';
import { type ApiResponse, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { databaseOf, startNode } from './node.ts';
import { Writer } from './writer.ts';

/** A node whose connections to PostgreSQL are slow or break. */

const service = await startService();
const { url = '', ...login } = await databaseOf(service);
const address = new URL(url);
const proxy = new PostgresProxy(`${address.searchParams.get('host')}/.s.PGSQL.5432`);
address.searchParams.delete('host');
address.host = `127.0.0.1:${await proxy.listen()}`;
const node = await startNode({ url: address.href, ...login });
const createAdmin = async () => node.as(await service.createTenant());

/** Sends the request again until the response is not 503. */
const retryWhileUnavailable = (send: () => Promise<ApiResponse>): Promise<ApiResponse> =>
  waitFor('the response is not 503', async () => {
    const response = await send();
    return response.status === 503 ? undefined : response;
  });

const commitMoments: Cut['moment'][] = ['before the commit', 'after the commit'];

for (const moment of commitMoments) {
  test(`a request whose connection breaks right ${moment} fails with 503, and its retry writes once`, async (t) => {
    const rounds = scale(2, 50);
    const admin = await createAdmin();
    for (let round = 0; round < rounds; round++) {
      const deptName = randomUUID();
      const send = () => admin.post('/system/dept-api', { deptName }, { headers: { 'idempotency-key': deptName } });
      proxy.cuts.push({ moment, of: deptName });
      const cut = await send();
      expectError(cut, 503, 'DATABASE_AWAY');
      assert.match(String(cut.headers['retry-after']), /^[1-9]\d*$/);
      assert.deepEqual(proxy.cuts, [], 'the connection was cut');
      const again = await retryWhileUnavailable(send);
      assert.equal(again.code, 200, again.text);
      assert.equal(again.headers['idempotent-replayed'], moment === 'after the commit' ? 'true' : undefined);
      const { rows } = await read(admin, `/system/dept-api/list?deptName=${deptName}`);
      assert.equal(rows.length, 1);
      assert.equal(again.headers.location, `/system/dept-api/${rows[0].deptId}`);
    }
    report(t, { cuts: rounds });
  });
}

test('connections that break at commits under load lose no acknowledged write and write nothing twice', async (t) => {
  const cuts = scale(4, 250);
  const { pick } = seededRandom(firstSeed);
  const writer = new Writer(await createAdmin());
  writer.start(16);
  for (let cut = 0; cut < cuts; cut++) {
    // Only transactions of requests contain a request id, not those of background work.
    proxy.cuts.push({ moment: pick(commitMoments), of: '"requestId":' });
    await waitFor('the connection was cut', () => proxy.cuts.length === 0);
    await writer.waitForAcknowledged(3);
  }
  report(t, { cuts, ...(await writer.check()), ...writer.tally.counts, seed: firstSeed });
});

test('a connection that breaks between two statements of a move leaves no error unhandled', async () => {
  const [tenant, parent] = [await service.createTenant(), await service.createTenant()];
  const root = node.as(service.root);
  const move = () => root.put('/system/tenant-api', { id: tenant.id, tenantParent: parent.tenantId });
  // Two statements are sent together. An unhandled rejection of one of them would end the process, and fails this test.
  proxy.cuts.push({ moment: 'at the text', of: "set_config('banyan.mover'" });
  expectError(await move(), 503, 'DATABASE_AWAY');
  assert.deepEqual(proxy.cuts, [], 'the connection was cut');
  expectOk(await retryWhileUnavailable(move));
  assert.equal((await read(root, `/system/tenant-api/${tenant.id}`)).tenantParent, parent.tenantId);
});

test('all writes succeed when every response of the database is delayed', async (t) => {
  const writer = new Writer(await createAdmin());
  proxy.latencyMs = 50;
  writer.start();
  await writer.waitForAcknowledged(scale(8, 300));
  await writer.stop();
  proxy.latencyMs = 0;
  assert.deepEqual(Object.keys(writer.tally.counts), ['done']);
  report(t, { ...(await writer.check()), ...writer.tally.counts });
});
