import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterFile } from '../support/cleanup.ts';
import { killPostgres, newDataFolder, processesIn, usedDataFolder } from '../support/process.ts';
import type { Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** A disk of the embedded database that a test can fill. */
export interface Disk {
  method: string;
  dataDir: string;
  /** Leaves no space for tables or for the WAL. */
  fill(what: 'tables' | 'wal'): void;
  free(): void;
}

const MEGABYTE = 1_048_576;

/** Mounts a small disk. Without the privilege to mount, limits the size of PostgreSQL's files instead. */
export async function createDisk(): Promise<Disk> {
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
      // The process has ended meanwhile, as processes do when PostgreSQL is being restarted.
      if (status !== 0 && !fs.existsSync(`/proc/${pid}`)) continue;
      assert.equal(
        status,
        0,
        `This test has to fill a disk and needs either the permission to mount one or prlimit ` +
          `(${error?.message ?? stderr}). Run it as root or install prlimit: sudo npm test -- disk-full`,
      );
    }
  };
  // A WAL segment is 16 megabytes.
  const fill = (what: 'tables' | 'wal') => limit((what === 'tables' ? 17 : 2) * MEGABYTE);
  return { method: 'a file size limit', dataDir, fill, free: () => limit('unlimited') };
}

/** Waits until writes succeed again, and asserts that everything acknowledged is still there. */
export async function assertRecovered(admin: Client, acknowledged: string[], output = () => '') {
  let last = '';
  const tryWrite = async () => {
    const { status, text } = await admin.post('/system/dept-api', {});
    last = text;
    return status === 200;
  };
  await waitFor('writes succeed again', tryWrite).catch((error) => {
    throw new Error(`${last}\n${output()}`, { cause: error });
  });
  for (const location of acknowledged) assert.equal((await admin.get(location)).status, 200, location);
}
