import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { commandOf, isAlive, readIfExists } from './processes.ts';
import { chownTo, type RuntimeUser } from './runtime-user.ts';

export interface FoundServer {
  pid: number;
  state: 'starting' | 'ready' | 'stopping';
  socketDir: string;
  reachable: boolean;
}

/** Finds the running server by PostgreSQL's own lock file. Removes that file if it is stale. */
export function findServer(clusterDir: string): FoundServer | undefined {
  const lockFile = path.join(clusterDir, 'postmaster.pid');
  const modified = fs.statSync(lockFile, { throwIfNoEntry: false })?.mtimeMs;
  if (!modified) return undefined;
  const lines = readIfExists(lockFile).split('\n');
  const [pid, port, socketDir = '', status] = [Number(lines[0]), lines[3], lines[4], lines[7]?.trim()];
  // An empty file may be one that PostgreSQL is just writing. If the machine went down at that moment, the file stays empty,
  // and PostgreSQL would refuse to start.
  const beingWritten = !pid && Date.now() - modified < 2000;
  if (!beingWritten && !isServerAt(pid, socketDir)) {
    if (path.dirname(socketDir) === path.dirname(socketDirPrefix())) removeSocketDir(socketDir);
    // After a crash of the machine or container, another process may have this id, and PostgreSQL would refuse to start
    // as long as that process lives. If no process has it, PostgreSQL removes the file itself.
    if (!pid || isAlive(pid)) fs.rmSync(lockFile, { force: true });
    return undefined;
  }
  const state = status === 'ready' || status === 'stopping' ? status : 'starting';
  return { pid, state, socketDir, reachable: fs.existsSync(path.join(socketDir, `.s.PGSQL.${port}`)) };
}

/** Whether the process is the server with this socket folder. Clusters never share one, so it identifies the server. */
function isServerAt(pid: number, socketDir: string): boolean {
  // PostgreSQL writes the folder to its lock file a little later. Until then any embedded server is accepted.
  if (socketDir === '') return /unix_socket_directories=.*\/banyan-\w/.test(commandOf(pid));
  const options = commandOf(pid).split(/\0| -c /);
  return options.includes(`unix_socket_directories=${socketDir}`);
}

/** Whether a server is running on this data directory, or is just starting or stopping. */
export const isRunning = (dataDir: string): boolean => findServer(path.join(dataDir, 'postgres')) !== undefined;

/** Kills the server on this data directory, if there is one, even while it is starting. */
export function killServer(dataDir: string): void {
  const server = findServer(path.join(dataDir, 'postgres'));
  if (server?.pid) process.kill(server.pid, 'SIGQUIT');
}

/** The prefix of socket folders. The path of a socket has at most 107 bytes, so they cannot be in the data directory. */
const socketDirPrefix = () => path.join(os.tmpdir().length < 60 ? os.tmpdir() : '/tmp', 'banyan-');

/** Creates a socket folder, or prepares the given one for another server. */
export function createSocketDir(runtimeUser: RuntimeUser, socketDir?: string): string {
  if (socketDir) {
    removeSocketFiles(socketDir);
    // It usually exists: without root's privileges we might be unable to create it.
    fs.mkdirSync(socketDir, { mode: 0o700, recursive: true });
  }
  const folder = socketDir ?? fs.mkdtempSync(socketDirPrefix());
  chownTo(folder, runtimeUser);
  return folder;
}

/** Removes the files by name and not recursively: the path comes from a file that PostgreSQL's user could have changed. */
function removeSocketFiles(folder: string) {
  for (const name of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock']) fs.rmSync(path.join(folder, name), { force: true });
}

export function removeSocketDir(folder: string) {
  removeSocketFiles(folder);
  try {
    fs.rmdirSync(folder);
  } catch {
    // The folder is already gone, or contains other files.
  }
}
