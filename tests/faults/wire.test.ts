import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { expectError, read } from '../support/expect.ts';
import { chance, firstSeed, report, scale } from '../support/scale.ts';
import { type Answer, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { type Cut, Wire } from '../support/wire.ts';
import { databaseOf, startNode } from './node.ts';
import { Writer } from './writer.ts';

/** A node whose connections to PostgreSQL are slow, or break. */

const service = await startService();
const { url = '', ...login } = await databaseOf(service);
const address = new URL(url);
const wire = new Wire(`${address.searchParams.get('host')}/.s.PGSQL.5432`);
address.searchParams.delete('host');
address.host = `127.0.0.1:${await wire.listen()}`;
const node = await startNode({ url: address.href, ...login });
const newAdmin = async () => node.as(await service.createTenant());

/** Sends it again, with the same key, until it isn't told to come again. */
const untilAnswered = (send: () => Promise<Answer>): Promise<Answer> =>
  waitFor('it is answered', async () => {
    const answer = await send();
    return answer.status === 503 ? undefined : answer;
  });

const moments: Cut['moment'][] = ['before the commit', 'after the commit'];

for (const moment of moments) {
  test(`a connection that breaks right ${moment}: 503, and a repeated request writes once`, async (t) => {
    const rounds = scale(5, 100);
    const admin = await newAdmin();
    for (let round = 0; round < rounds; round++) {
      const deptName = randomUUID();
      const send = () => admin.post('/system/dept-api', { deptName }, { headers: { 'idempotency-key': deptName } });
      wire.cuts.push({ moment, of: deptName });
      const cut = await send();
      expectError(cut, 503, 'DATABASE_AWAY');
      assert.match(String(cut.headers['retry-after']), /^[1-9]\d*$/);
      assert.deepEqual(wire.cuts, [], 'it was cut');
      const again = await untilAnswered(send);
      assert.equal(again.code, 200, again.text);
      assert.equal(again.headers['idempotent-replayed'], moment === 'after the commit' ? 'true' : undefined);
      const { rows } = await read(admin, `/system/dept-api/list?deptName=${deptName}`);
      assert.equal(rows.length, 1);
      assert.equal(again.headers.location, `/system/dept-api/${rows[0].deptId}`);
    }
    report(t, { cuts: rounds });
  });
}

test('commits cut under load: nothing acknowledged is lost, nothing is written twice', async (t) => {
  const cuts = scale(20, 500);
  const { pick } = chance(firstSeed);
  const writer = new Writer(await newAdmin());
  writer.start(16);
  for (let cut = 0; cut < cuts; cut++) {
    // Every write of a caller says who he is, and nothing in the background does.
    wire.cuts.push({ moment: pick(moments), of: '"requestId":' });
    await writer.acknowledges(3);
  }
  report(t, { cuts, ...(await writer.check()), ...writer.tally.counts, seed: firstSeed });
});

test('a database whose every answer takes a while: slower, and all is well', async (t) => {
  const writer = new Writer(await newAdmin());
  wire.latencyMs = 50;
  writer.start();
  await writer.acknowledges(scale(16, 300));
  await writer.stop();
  wire.latencyMs = 0;
  assert.deepEqual(Object.keys(writer.tally.counts), ['done']);
  report(t, { ...(await writer.check()), ...writer.tally.counts });
});
