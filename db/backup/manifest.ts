import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../startup-error.ts';
import type { FileDigest } from './files.ts';

/**
 * Describes a backup. It is the last file that a backup writes, and the folder of the backup gets its final name after that: a
 * folder without it is not a complete backup.
 */
export interface Manifest {
  format: 1;
  /** The versions of Banyan and of PostgreSQL. */
  banyan: string;
  postgres: string;
  /** PostgreSQL's identifier of the database cluster. */
  system: string;
  /** When the backup began. */
  started: string;
  /** Everything that was committed before this time is in the backup. A restore can end at any later time that the archive covers. */
  time: string;
  /** The first and the last segment of the write-ahead log that are needed to make the copy consistent. */
  firstSegment: string;
  lastSegment: string;
  /** The numbers of rows of some tables shortly before and after `time`. They are the same unless rows were written meanwhile. */
  counts: Record<string, [number, number]>;
  /** The heads of the ledgers shortly before `time`. */
  heads: { tenantId: string; seq: number; hash: string }[];
  folders: string[];
  files: Record<string, FileDigest>;
}

const MANIFEST = 'backup.json';

const checksumOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** The text of the manifest: two lines, the manifest itself and its checksum. */
export function formatManifest(manifest: Manifest): { name: string; text: string } {
  const json = JSON.stringify(manifest);
  return { name: MANIFEST, text: `${json}\n${checksumOf(json)}\n` };
}

/** Reads the manifest of a backup. Returns undefined if the folder is not a complete backup. */
export function readManifest(folder: string): Manifest | undefined {
  const file = path.join(folder, MANIFEST);
  if (!fs.existsSync(file)) return undefined;
  const [json = '', checksum = ''] = fs.readFileSync(file, 'utf8').split('\n');
  if (checksumOf(json) !== checksum) throw new StartupError(`The file ${file} is damaged. Use another backup.`);
  const manifest = JSON.parse(json) as Manifest;
  if (manifest.format !== 1) throw new StartupError(`The format of the backup in ${folder} is not known.`);
  return manifest;
}

export interface StoredBackup {
  folder: string;
  manifest: Manifest;
}

/** Lists the complete backups in a folder, the oldest first. Those with a damaged manifest are left out. */
export function listBackups(folder: string): StoredBackup[] {
  const backups = fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    // The name of a backup in progress, or of one that is being removed, has such an ending.
    if (!entry.isDirectory() || /\.new-\d+$/.test(entry.name)) return [];
    const name = path.join(folder, entry.name);
    try {
      const manifest = readManifest(name);
      return manifest ? [{ folder: name, manifest }] : [];
    } catch {
      return [];
    }
  });
  return backups.sort((a, b) => a.manifest.time.localeCompare(b.manifest.time));
}
