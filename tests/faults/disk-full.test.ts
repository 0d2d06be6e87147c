import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { afterFile } from '../support/cleanup.ts';
import { outcomeOf } from '../support/expect.ts';
import {
  connectTo,
  killPostgres,
  newDataFolder,
  processesIn,
  type Run,
  startWithoutDeadlines,
  usedDataFolder,
} from '../support/process.ts';
import { firstSeed, report, scale, seededRandom, Tally } from '../support/scale.ts';
import type { Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** The disk of the embedded database is full. */

interface Disk {
  method: string;
  dataDir: string;
  /** Leaves no space for tables or for the WAL. */
  fill(what: 'tables' | 'wal'): void;
  free(): void;
}

const MEGABYTE = 1_048_576;

/** Mounts a small disk. A user who may not mount limits the size of PostgreSQL's files instead. */
async function createDisk(): Promise<Disk> {
  const dataDir = newDataFolder();
  const folder = path.dirname(dataDir);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128m', 'banyan-test', folder]).status === 0;
  // Cleanups run in reverse order: this one runs after the service has ended and before the folder is removed.
  if (mounted)
    afterFile(async () => {
      await killPostgres(folder);
      spawnSync('umount', ['-l', folder]);
    });
  await usedDataFolder(dataDir);
  return mounted ? createMountedDisk(dataDir) : createFileSizeLimit(dataDir);
}

function createMountedDisk(dataDir: string): Disk {
  const filler = path.join(path.dirname(dataDir), 'filler');
  return {
    method: 'a small disk',
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

function createFileSizeLimit(dataDir: string): Disk {
  const limit = (bytes: number | 'unlimited') => {
    const { uid, gid } = fs.statSync(path.join(dataDir, 'postgres'));
    const as = process.getuid?.() === 0 ? { uid, gid } : {};
    for (const pid of processesIn(dataDir)) {
      const args = [`--fsize=${bytes}:`, '--pid', `${pid}`];
      const { status, error, stderr } = spawnSync('prlimit', args, { encoding: 'utf8', ...as });
      // The process has ended meanwhile, as those of a PostgreSQL that is being restarted do.
      if (status !== 0 && !fs.existsSync(`/proc/${pid}`)) continue;
      assert.equal(
        status,
        0,
        `This test has to fill a disk and needs either the permission to mount one or prlimit ` +
          `(${error?.message ?? stderr}). Run it as root or install prlimit: sudo npm test -- disk-full`,
      );
    }
  };
  // A WAL segment has 16 megabytes.
  const fill = (what: 'tables' | 'wal') => limit((what === 'tables' ? 17 : 2) * MEGABYTE);
  return { method: 'a file size limit', dataDir, fill, free: () => limit('unlimited') };
}

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

async function assertRecovered(run: Run, admin: Client, acknowledged: string[]) {
  let last = '';
  const tryWrite = async () => {
    const { status, text } = await admin.post('/system/dept-api', {});
    last = text;
    return status === 200;
  };
  await waitFor('writes succeed again', tryWrite).catch((error) => {
    throw new Error(`${last}\n${run.stderr}`, { cause: error });
  });
  for (const location of acknowledged) assert.equal((await admin.get(location)).status, 200, location);
}

test('with a full disk writes fail with 503 and reads succeed, and writes succeed again once there is space', async (t) => {
  const disk = await createDisk();
  const run = startWithoutDeadlines(disk.dataDir);
  const admin = await run.admin();
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
  await assertRecovered(run, admin, acknowledged);
  report(t, { method: disk.method, ...tally.counts, acknowledged: acknowledged.length });
  assert.equal(await run.stop(), 0, run.stderr);
});

test('PostgreSQL crashes without space for its WAL, and the service reports it and restarts it once there is space', async (t) => {
  const disk = await createDisk();
  const run = startWithoutDeadlines(disk.dataDir);
  const admin = await run.admin();
  const tally = new Tally();
  const acknowledged: string[] = [];
  for (let n = 0; n < 20; n++) acknowledged.push(`/system/dept-api/${await admin.createDepartment()}`);
  const superuser = connectTo(disk.dataDir);
  disk.fill('wal');
  // Use up the rest of the WAL segment, and require a new one.
  await assert.rejects(async () => {
    for (let left = 50; left > 0; left--)
      await superuser`select pg_logical_emit_message(true, 'x', 'x'), pg_switch_wal()`;
  });
  await superuser.end({ timeout: 1 });
  for (let n = 0; n < 10; n++) {
    const write = await admin.post('/system/dept-api', {});
    if (write.status === 200) acknowledged.push(String(write.headers.location));
    tally.add(outcomeOf(write));
    tally.add(`read: ${outcomeOf(await admin.get(acknowledged[0] as string))}`);
  }
  for (const outcome of Object.keys(tally.counts))
    assert.match(outcome, /^(read: )?(200 OK|503 (DATABASE_AWAY|TOO_BUSY))$/);
  disk.free();
  await assertRecovered(run, admin, acknowledged);
  report(t, { method: disk.method, ...tally.counts });
  assert.match(run.stderr, /PostgreSQL has stopped, restarting it/);
  assert.equal(await run.stop(), 0, run.stderr);
});
