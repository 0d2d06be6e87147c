import fs from 'node:fs';
import { connectOwner } from '../driver.ts';
import type { EmbeddedServer } from '../embedded/cluster.ts';
import { removeIncomplete } from './files.ts';
import { listBackups, type StoredBackup } from './manifest.ts';
import { removeSegmentsBefore } from './segments.ts';

/** The names that scheduled backups have. */
const SCHEDULED = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/;

/**
 * Removes all but the newest scheduled backups of this database, and the part of the archive that no remaining scheduled
 * backup needs. Backups of other databases, and those with other names, are kept, but not their part of the archive. Scheduled
 * backups with a time after `now` were taken while the clock was ahead. They are kept too, and do not count towards `keep`:
 * backups that were taken after them have earlier times. Returns the time of the newest backup that counts.
 */
export async function removeOldBackups(
  server: EmbeddedServer,
  folder: string,
  keep: number,
  now: number,
): Promise<Date | undefined> {
  removeIncomplete(folder, (name) => SCHEDULED.test(name));
  const system = await readSystem(server);
  const all = listBackups(folder).filter(
    ({ folder: name, manifest }) => manifest.system === system && SCHEDULED.test(name.slice(folder.length + 1)),
  );
  const isAhead = ({ manifest }: StoredBackup) => Date.parse(manifest.time) > now;
  const own = all.filter((backup) => !isAhead(backup));
  for (const { folder: name } of own.slice(0, -keep)) {
    // Rename it first, so that a half-removed backup is not mistaken for a complete one.
    const removed = `${name}.new-${process.pid}`;
    fs.renameSync(name, removed);
    fs.rmSync(removed, { recursive: true, force: true });
  }
  const kept = [...own.slice(-keep), ...all.filter(isAhead)].map(({ manifest }) => manifest.firstSegment);
  // The first eight digits are the timeline.
  const [first] = kept.sort((a, b) => (a.slice(8) < b.slice(8) ? -1 : 1));
  if (first && server.walArchive) removeSegmentsBefore(server.walArchive, first);
  const newest = own.at(-1);
  return newest && new Date(newest.manifest.time);
}

async function readSystem({ socketDir: host, password }: EmbeddedServer): Promise<string> {
  const superuser = connectOwner({ host, database: 'postgres', username: 'postgres', password });
  try {
    const [row] = await superuser<[{ system: string }]>`
      select system_identifier::text as system from pg_control_system()`;
    return row.system;
  } finally {
    await superuser.end({ timeout: 1 });
  }
}
