import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { afterFile } from '../support/cleanup.ts';
import {
  connectTo,
  killPostgres,
  newFolder,
  processesIn,
  type Run,
  startUnhurried,
  usedFolder,
} from '../support/process.ts';
import { chance, firstSeed, report, scale, Tally } from '../support/scale.ts';
import type { Answer, Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** No room left on the disk of the embedded database. */

interface Disk {
  way: string;
  dataDir: string;
  /** From now on the tables, or the journal, find no more room. */
  fill(what: 'tables' | 'journal'): void;
  free(): void;
}

const MEGABYTE = 1_048_576;

/** A small disk of its own. Where this user may not mount one, PostgreSQL's files may not grow any further instead. */
async function makeDisk(): Promise<Disk> {
  const dataDir = newFolder();
  const folder = path.dirname(dataDir);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128m', 'banyan-test', folder]).status === 0;
  // After the service has ended, which is started later than this, and before the folder is removed.
  if (mounted)
    afterFile(async () => {
      await killPostgres(folder);
      spawnSync('umount', ['-l', folder]);
    });
  await usedFolder(dataDir);
  return mounted ? smallDisk(dataDir) : smallFiles(dataDir);
}

function smallDisk(dataDir: string): Disk {
  const filler = path.join(path.dirname(dataDir), 'filler');
  return {
    way: 'a small disk',
    dataDir,
    fill() {
      const file = fs.openSync(filler, 'w');
      for (const size of [MEGABYTE, 4_096]) {
        try {
          for (;;) fs.writeSync(file, Buffer.alloc(size));
        } catch (error) {
          assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
        }
      }
      fs.closeSync(file);
    },
    free: () => fs.rmSync(filler),
  };
}

function smallFiles(dataDir: string): Disk {
  const limit = (bytes: number | 'unlimited') => {
    const { uid, gid } = fs.statSync(path.join(dataDir, 'postgres'));
    const as = process.getuid?.() === 0 ? { uid, gid } : {};
    for (const pid of processesIn(dataDir)) {
      const args = [`--fsize=${bytes}:`, '--pid', `${pid}`];
      const { status, error, stderr } = spawnSync('prlimit', args, { encoding: 'utf8', ...as });
      // It has ended meanwhile, as processes of a PostgreSQL that is brought back do.
      if (status !== 0 && !fs.existsSync(`/proc/${pid}`)) continue;
      assert.equal(
        status,
        0,
        `This test needs a disk that can be full, and found neither the right to mount one nor prlimit ` +
          `(${error?.message ?? stderr}). Run it where one of them is there: sudo npm test -- disk-full`,
      );
    }
  };
  // A file of the journal has 16 megabytes.
  const fill = (what: 'tables' | 'journal') => limit((what === 'tables' ? 17 : 2) * MEGABYTE);
  return { way: 'small files', dataDir, fill, free: () => limit('unlimited') };
}

const { below } = chance(firstSeed);
/** PostgreSQL compresses what repeats. This does not. */
const text = Array.from({ length: 60_000 }, () => String.fromCharCode(33 + below(90))).join('');
const big = { modelZr: text, modelPf: text, modelEd: text, catalogZr: text };
const wordOf = ({ status, data }: Answer) => `${status} ${data?.reason ?? ''}`.trim();

/** Writes until it is refused this often; tells the addresses of what was acknowledged. */
async function writeUntilRefused(admin: Client, refusals: number, tally: Tally): Promise<string[]> {
  const acknowledged: string[] = [];
  const writer = async (n: number) => {
    for (let left = 2_000; left > 0 && tally.get('503 DATABASE_AWAY') < refusals; left--) {
      const answer =
        n % 2 === 0
          ? await admin.post('/system/tenant-api', { tenantName: 't', ruleBo: big })
          : await admin.post('/system/dept-api', { deptName: text.slice(0, 100), leader: text.slice(0, 50) });
      tally.add(wordOf(answer));
      if (answer.status === 200) acknowledged.push(String(answer.headers.location));
      else assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
    }
  };
  await Promise.all([0, 1, 2, 3].map(writer));
  return acknowledged;
}

async function assertRecovered(run: Run, admin: Client, acknowledged: string[]) {
  let last = '';
  const writes = async () => {
    const { status, text } = await admin.post('/system/dept-api', {});
    last = text;
    return status === 200;
  };
  await waitFor('it writes again', writes).catch((error) => {
    throw new Error(`${last}\n${run.stderr}`, { cause: error });
  });
  for (const address of acknowledged) assert.equal((await admin.get(address)).status, 200, address);
}

test('a full disk: writes are refused for the moment, reads go on, and with room again all goes on', async (t) => {
  const disk = await makeDisk();
  const run = startUnhurried(disk.dataDir);
  const admin = await run.admin();
  const first = await admin.createDepartment({ deptName: 'first' });
  disk.fill('tables');
  const tally = new Tally();
  const refusals = scale(10, 50);
  const acknowledged = await writeUntilRefused(admin, refusals, tally);
  assert.ok(tally.get('503 DATABASE_AWAY') >= refusals, JSON.stringify(tally.counts));
  assert.deepEqual(
    Object.keys(tally.counts).filter((word) => !['200', '503 DATABASE_AWAY'].includes(word)),
    [],
  );
  const { data } = await admin.get(`/system/dept-api/${first}`);
  assert.equal(data.deptName, 'first', 'reads go on');
  disk.free();
  await assertRecovered(run, admin, acknowledged);
  report(t, { way: disk.way, ...tally.counts, acknowledged: acknowledged.length });
  assert.equal(await run.stop(), 0, run.stderr);
});

test('no room for its journal ends PostgreSQL: the service tells so, and brings it back when there is room', async (t) => {
  const disk = await makeDisk();
  const run = startUnhurried(disk.dataDir);
  const admin = await run.admin();
  const tally = new Tally();
  const acknowledged: string[] = [];
  for (let n = 0; n < 20; n++) acknowledged.push(`/system/dept-api/${await admin.createDepartment()}`);
  const superuser = connectTo(disk.dataDir);
  disk.fill('journal');
  // Uses up what is left of the journal, and asks for more.
  await assert.rejects(async () => {
    for (let left = 50; left > 0; left--)
      await superuser`select pg_logical_emit_message(true, 'x', 'x'), pg_switch_wal()`;
  });
  await superuser.end({ timeout: 1 });
  for (let n = 0; n < 10; n++) {
    const write = await admin.post('/system/dept-api', {});
    if (write.status === 200) acknowledged.push(String(write.headers.location));
    tally.add(wordOf(write));
    tally.add(`read: ${wordOf(await admin.get(acknowledged[0] as string))}`);
  }
  for (const word of Object.keys(tally.counts)) assert.match(word, /^(read: )?(200|503 (DATABASE_AWAY|TOO_BUSY))$/);
  disk.free();
  await assertRecovered(run, admin, acknowledged);
  report(t, { way: disk.way, ...tally.counts });
  assert.match(run.stderr, /bringing it back/);
  assert.equal(await run.stop(), 0, run.stderr);
});
