import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Answer, makeDatabase } from '../harness.ts';
import { newFolder, start } from '../process.ts';
import { assertRefused } from '../refused.ts';
import { chance, firstSeed, report, scale } from '../scale.ts';
import { type Cut, Wire } from './wire.ts';
import { Writer } from './writer.ts';

const { databaseUrl } = await makeDatabase();
const address = new URL(databaseUrl);
const wire = new Wire(`${address.searchParams.get('host')}/.s.PGSQL.5432`);
address.searchParams.delete('host');
address.host = `127.0.0.1:${await wire.listen()}`;
const run = start(newFolder(), { DATABASE_URL: address.href });
const admin = await run.admin();

/** Sends it again, with the same key, until it isn't told to come again. */
async function untilAnswered(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
    await setTimeout(20);
  }
}

const moments: Cut['moment'][] = ['before the commit', 'after the commit'];

for (const moment of moments) {
  test(`a connection that breaks right ${moment}: 503, and a repeated request writes once`, async (t) => {
    const rounds = scale(5, 100);
    for (let round = 0; round < rounds; round++) {
      const deptName = randomUUID();
      const send = () => admin.post('/system/dept-api', { deptName }, { headers: { 'idempotency-key': deptName } });
      wire.cuts.push({ moment, of: deptName });
      const cut = await send();
      assertRefused(cut, 503, 'DATABASE_AWAY');
      assert.match(String(cut.headers['retry-after']), /^[1-9]\d*$/);
      assert.deepEqual(wire.cuts, [], 'it was cut');
      const again = await untilAnswered(send);
      assert.equal(again.code, 200, again.text);
      assert.equal(again.headers['idempotent-replayed'], moment === 'after the commit' ? 'true' : undefined);
      const { data } = await admin.get(`/system/dept-api/list?deptName=${deptName}`);
      assert.equal(data.total, 1);
      assert.equal(again.headers.location, `/system/dept-api/${data.rows[0].deptId}`);
      // The writer below counts all there is.
      assert.equal((await admin.delete(`/system/dept-api/${data.rows[0].deptId}`)).code, 200);
    }
    report(t, { cuts: rounds });
  });
}

test('commits cut under load: nothing acknowledged is lost, nothing is written twice', async (t) => {
  const cuts = scale(20, 500);
  const { pick } = chance(firstSeed);
  const writer = new Writer(admin);
  writer.start(16);
  for (let cut = 0; cut < cuts; cut++) {
    // Every write of a caller says who he is, and nothing in the background does.
    wire.cuts.push({ moment: pick(moments), of: '"requestId":' });
    await writer.acknowledges(3);
  }
  report(t, { cuts, ...(await writer.check()), ...writer.tally.counts, seed: firstSeed });
  await writer.clear();
});

test('answers of the database that take 200 ms each: slower, and all is well', async (t) => {
  const writer = new Writer(admin);
  wire.latencyMs = 200;
  writer.start();
  await writer.acknowledges(scale(16, 300));
  await writer.stop();
  wire.latencyMs = 0;
  report(t, { ...(await writer.check()), ...writer.tally.counts });
  assert.equal(await run.stop(), 0, run.stderr);
});
