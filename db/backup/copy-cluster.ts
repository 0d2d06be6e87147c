import fs from 'node:fs';
import path from 'node:path';
import { copyFile, type FileDigest, ignoreMissing, writeFile } from './files.ts';

/** Folders that are copied without their contents, which a restored server does not need. The write-ahead log is copied separately. */
const EMPTIED = /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans|log)$/;

/** Files that belong to the running server. A copy of `postmaster.pid` would prevent a start. */
const LEFT_OUT =
  /(^|\/)(pgsql_tmp[^/]*|pg_internal\.init[^/]*|postmaster\.(pid|opts)|current_logfiles[^/]*|backup_label[^/]*|tablespace_map[^/]*|[^/]*\.signal)$/;

/** Describes the last checkpoint. It is copied last, and is rewritten in place. */
const CONTROL_FILE = 'global/pg_control';

/** Copies the files of a running PostgreSQL. The caller must have called `pg_backup_start`. */
export async function copyCluster(from: string, to: string, signal?: AbortSignal) {
  const folders: string[] = [];
  const files: Record<string, FileDigest> = {};
  fs.mkdirSync(to, { mode: 0o700 });
  const copyFolder = async (folder: string): Promise<void> => {
    // Tables may be dropped, and their files removed, at any moment.
    const entries =
      (await fs.promises.readdir(path.join(from, folder), { withFileTypes: true }).catch(ignoreMissing)) ?? [];
    for (const entry of entries) {
      const name = path.posix.join(folder, entry.name);
      if (LEFT_OUT.test(name) || name === CONTROL_FILE || EMPTIED.test(folder)) continue;
      if (entry.isDirectory()) {
        fs.mkdirSync(path.join(to, name), { mode: 0o700 });
        folders.push(name);
        await copyFolder(name);
      } else if (entry.isFile()) {
        const digest = await copyFile(path.join(from, name), path.join(to, name), signal);
        if (digest) files[name] = digest;
      }
    }
  };
  await copyFolder('');
  // The histories of earlier timelines. The segments of the log are copied when the backup has ended.
  for (const name of fs.readdirSync(path.join(from, 'pg_wal')).filter((file) => file.endsWith('.history'))) {
    const digest = await copyFile(path.join(from, 'pg_wal', name), path.join(to, 'pg_wal', name), signal);
    if (digest) files[`pg_wal/${name}`] = digest;
  }
  files[CONTROL_FILE] = await writeFile(path.join(to, CONTROL_FILE), readStable(path.join(from, CONTROL_FILE)));
  return { folders, files };
}

/** Reads a small file that may be rewritten at the same time. Two equal reads in a row do not mix old and new content. */
function readStable(file: string): Buffer {
  for (let previous = fs.readFileSync(file); ; ) {
    const content = fs.readFileSync(file);
    if (content.equals(previous)) return content;
    previous = content;
  }
}
