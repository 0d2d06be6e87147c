import fs from 'node:fs';
import path from 'node:path';
import { project } from '../support/process.ts';

/** Which user the processes of the service run as, and what their environment shows. */

export const isRoot = process.getuid?.() === 0;
export const isLinux = process.platform === 'linux';

/**
 * A folder that other users cannot enter, above Node.js (nvm installs it in the home folder) or above the project. The service
 * then keeps running as root.
 */
export const closedFolder = [fs.realpathSync(process.execPath), path.join(project, 'package.json')]
  .flatMap(foldersAbove)
  .find((folder) => (fs.statSync(folder).mode & 0o001) === 0);
/** Why a test of giving up privileges is skipped, or false. */
export const skipPrivileges = isRoot
  ? closedFolder !== undefined && `other users cannot enter ${closedFolder}`
  : 'it needs root';

function foldersAbove(file: string): string[] {
  const folder = path.dirname(file);
  return folder === file ? [] : [...foldersAbove(folder), folder];
}

/** Reads a file of a process. Returns undefined if the process has just exited. */
function readOf(pid: number, name: string): string | undefined {
  try {
    return fs.readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Returns the ids of a process and all its descendants, without those that have just exited. */
export function withDescendants(pid: number): number[] {
  const children = readOf(pid, `task/${pid}/children`);
  if (children === undefined) return [];
  return [
    pid,
    ...children
      .split(' ')
      .filter(Boolean)
      .flatMap((child) => withDescendants(Number(child))),
  ];
}

export const userOf = (pid: number) =>
  Number(/^Uid:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Reads /proc/<pid>/environ. After a process has given up root's privileges, only root can read that file. */
export const environmentOf = (pid: number) => readOf(pid, 'environ') ?? '';
