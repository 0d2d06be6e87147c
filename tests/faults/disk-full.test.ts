import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { readConfig } from '../../server/config.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { outcomeOf } from '../support/expect.ts';
import { logIn } from '../support/process.ts';
import { firstSeed, report, scale, seededRandom, Tally } from '../support/scale.ts';
import { type Client, PASSWORD } from '../support/service.ts';
import { assertRecovered, createDisk } from './disk.ts';
import { startNode } from './node.ts';

/** The disk of the embedded database is full. */

const { below } = seededRandom(firstSeed);
/** Random text, which PostgreSQL cannot compress. */
const text = Array.from({ length: 60_000 }, () => String.fromCharCode(33 + below(90))).join('');
const big = { modelZr: text, modelPf: text, modelEd: text, catalogZr: text };

/** Writes until this many writes have failed. Returns the locations of the acknowledged records. */
async function writeUntilErrors(admin: Client, errors: number, tally: Tally): Promise<string[]> {
  const acknowledged: string[] = [];
  const writer = async (n: number) => {
    for (let left = 2_000; left > 0 && tally.get('503 DATABASE_AWAY') < errors; left--) {
      const response =
        n % 2 === 0
          ? await admin.post('/system/tenant-api', { tenantName: 't', ruleBo: big })
          : await admin.post('/system/dept-api', { deptName: text.slice(0, 100), leader: text.slice(0, 50) });
      tally.add(outcomeOf(response));
      if (response.status === 200) acknowledged.push(String(response.headers.location));
      else assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
    }
  };
  await Promise.all([0, 1, 2, 3].map(writer));
  return acknowledged;
}

test('with a full disk writes fail with 503 and reads succeed, and writes succeed again once there is space', async (t) => {
  const disk = await createDisk();
  const database = await openDatabase({ ...readConfig({}), dataDir: disk.dataDir, timing: NO_DEADLINES });
  const node = await startNode(database.service);
  const admin = await logIn(node.base, PASSWORD);
  const first = await admin.createDepartment({ deptName: 'first' });
  disk.fill('tables');
  const tally = new Tally();
  const errors = scale(10, 50);
  const acknowledged = await writeUntilErrors(admin, errors, tally);
  assert.ok(tally.get('503 DATABASE_AWAY') >= errors, JSON.stringify(tally.counts));
  assert.deepEqual(
    Object.keys(tally.counts).filter((outcome) => !['200 OK', '503 DATABASE_AWAY'].includes(outcome)),
    [],
  );
  const { data } = await admin.get(`/system/dept-api/${first}`);
  assert.equal(data.deptName, 'first', 'reads still succeed');
  disk.free();
  await assertRecovered(admin, acknowledged);
  report(t, { method: disk.method, ...tally.counts, acknowledged: acknowledged.length });
  await node.close();
  await database.close();
});
