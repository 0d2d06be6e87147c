import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../startup-error.ts';

/** Names of segments of the write-ahead log: eight hexadecimal digits each for timeline, high and low part of the position. */
const SEGMENT = /^[0-9A-F]{24}$/;
const HISTORY = /^[0-9A-F]{8}\.history$/;

/** Lists the segments of one timeline from the first to the last. Throws if one of them is missing. */
export async function segmentsBetween(folder: string, first: string, last: string): Promise<string[]> {
  const all = await fs.promises.readdir(folder);
  const names = all.filter((name) => SEGMENT.test(name) && name >= first && name <= last).sort();
  // All segments have the same size. The low part counts them from 0 again after every 4 GB.
  const perHighPart = 2 ** 32 / fs.statSync(path.join(folder, first)).size;
  const numberOf = (name: string) =>
    Number.parseInt(name.slice(8, 16), 16) * perHighPart + Number.parseInt(name.slice(16), 16);
  const expected = numberOf(last) - numberOf(first) + 1;
  if (names.length !== expected) throw new Error(`${names.length} of ${expected} segments of the log exist`);
  return names;
}

/** Lists what an archive has for a restore: the segments from the position of `first`, of any timeline, and the histories of timelines. */
export function archivedFiles(archive: string, first: string): string[] {
  if (!fs.existsSync(archive)) throw new StartupError(`There is no archive of the write-ahead log in ${archive}`);
  const names = fs.readdirSync(archive);
  return names.filter((name) => HISTORY.test(name) || (SEGMENT.test(name) && name.slice(8) >= first.slice(8))).sort();
}

/** Removes segments before the position of `first` from an archive. Returns how many there were. */
export function removeSegmentsBefore(archive: string, first: string): number {
  // `….backup` files describe a backup that began in this segment.
  const isOld = (name: string) => /^[0-9A-F]{24}(\.|$)/.test(name) && name.slice(8, 24) < first.slice(8);
  const old = fs.readdirSync(archive).filter(isOld);
  for (const name of old) fs.rmSync(path.join(archive, name), { force: true });
  return old.length;
}
