import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { isAlive } from '../embedded/processes.ts';
import { StartupError } from '../startup-error.ts';

/** The size of a file, and its SHA-256 in hexadecimal. */
export interface FileDigest {
  size: number;
  sha256: string;
}

const MAX_CHUNK_BYTES = 1 << 20;
/** Most files of a database are small, but any may grow while it is copied. */
const MIN_CHUNK_BYTES = 1 << 16;

/**
 * Copies a file, flushes the copy to disk and returns its digest. Returns undefined if the file does not exist. PostgreSQL may
 * change the file meanwhile: the copy then has old and new pages, which its write-ahead log makes consistent.
 */
export async function copyFile(from: string, to: string, signal?: AbortSignal): Promise<FileDigest | undefined> {
  const source = await fs.promises.open(from, 'r').catch(ignoreMissing);
  if (!source) return undefined;
  try {
    const target = await fs.promises.open(to, 'wx', 0o600);
    try {
      const hash = createHash('sha256');
      const chunkBytes = Math.min(MAX_CHUNK_BYTES, Math.max(MIN_CHUNK_BYTES, (await source.stat()).size));
      const buffer = Buffer.allocUnsafe(chunkBytes);
      let size = 0;
      for (;;) {
        signal?.throwIfAborted();
        const { bytesRead } = await source.read(buffer, 0, chunkBytes, null);
        if (bytesRead === 0) break;
        const chunk = buffer.subarray(0, bytesRead);
        hash.update(chunk);
        await target.writeFile(chunk);
        size += bytesRead;
      }
      await target.sync();
      return { size, sha256: hash.digest('hex') };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Writes a new file, flushes it to disk and returns its digest. */
export async function writeFile(file: string, content: string | Buffer): Promise<FileDigest> {
  const bytes = Buffer.from(content);
  await fs.promises.writeFile(file, bytes, { mode: 0o600, flag: 'wx', flush: true });
  return { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Flushes folders: files that were created in or renamed into them survive a power failure only after that. */
export async function syncFolders(folders: string[]): Promise<void> {
  for (const folder of folders) {
    const handle = await fs.promises.open(folder, 'r');
    await handle.sync().finally(() => handle.close());
  }
}

/**
 * Removes folders that killed processes left incomplete: those whose name ends in `.new-` and the id of such a process. Process
 * ids repeat after a restart of the machine or container, so a folder with our own id was left by a dead process.
 */
export function removeIncomplete(parent: string, isOurs: (name: string) => boolean): void {
  for (const name of fs.readdirSync(parent)) {
    const [, base = '', pid] = /^(.*)\.new-(\d+)$/.exec(name) ?? [];
    if (!pid || !isOurs(base) || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    fs.rmSync(path.join(parent, name), { recursive: true, force: true });
  }
}

export function assertAbsent(folder: string): void {
  if (fs.existsSync(folder))
    throw new StartupError(`${folder} already exists. Specify a folder that does not exist yet`);
}
