import os from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { StartupError } from '../startup-error.ts';
import { createSocketDir, type FoundServer, findServer, removeSocketDir } from './find-server.ts';
import { hasClients } from './processes.ts';
import { runProgram } from './run-program.ts';
import type { OpenFolder, RuntimeUser } from './runtime-user.ts';

export type Progress = (sentence: string) => void;

/** Where a server's files are, and how it is started. */
export interface Cluster {
  runtimeUser: RuntimeUser;
  /** The folder with PostgreSQL's files. */
  files: OpenFolder;
  walArchive: OpenFolder | undefined;
  settings: Record<string, string>;
  timeoutSeconds: number;
}

interface StartOptions {
  /** If unset, a new folder is created. */
  socketDir?: string;
  signal?: AbortSignal | undefined;
}

/** Finds the server that is running on this data, or starts one. */
export async function findOrStart(cluster: Cluster, progress: Progress, options: StartOptions) {
  const { runtimeUser, files } = cluster;
  const deadline = Date.now() + cluster.timeoutSeconds * 1000;
  let announced = false;
  for (;;) {
    const server = findServer(files.path);
    if (server?.state === 'ready' && server.reachable) return { socketDir: server.socketDir, adopted: true };
    if (server?.state === 'ready') await stopUnreachable(cluster, server);
    if (!server) {
      if (!announced) progress('Starting PostgreSQL');
      announced = true;
      const socketDir = createSocketDir(runtimeUser, options.socketDir);
      try {
        await startServer(cluster, socketDir);
        return { socketDir, adopted: false };
      } catch (error) {
        removeSocketDir(socketDir);
        // The processes of a killed server need a moment to exit, or another start was faster than ours.
        const transient = /shared memory block/.test((error as Error).message) || findServer(files.path);
        if (!transient || Date.now() > deadline) throw error;
      }
    }
    if (server && Date.now() > deadline) {
      throw new StartupError(
        `PostgreSQL (process ${server.pid}) on ${runtimeUser.clusterDir} has been ${server.state} for too long.`,
      );
    }
    options.signal?.throwIfAborted();
    await setTimeout(100);
  }
}

/** The connections of a Banyan that was killed need a moment to end. */
const EXIT_SECONDS = 5;

/**
 * Stops a server whose socket was removed, for example by a cleanup of the temporary folder: no new connection can reach it.
 * A service that is still connected must not be interrupted, so the start fails in that case. The server is then left as it is:
 * a smart shutdown would reject that service's next connections, and wait for its open ones indefinitely.
 */
async function stopUnreachable(cluster: Cluster, { pid, socketDir }: FoundServer) {
  const isGone = () => findServer(cluster.files.path)?.pid !== pid;
  const deadline = Date.now() + Math.min(EXIT_SECONDS, cluster.timeoutSeconds) * 1000;
  while (hasClients(pid)) {
    // Look for the server after its clients: it may exit in between.
    if (isGone()) return;
    if (Date.now() < deadline) {
      await setTimeout(100);
      continue;
    }
    throw new StartupError(
      `PostgreSQL runs on ${cluster.runtimeUser.clusterDir} and another Banyan is using it, but its socket in ${socketDir} is gone. ` +
        'Stop that Banyan, then start again.',
    );
  }
  await pgCtl(cluster, ['stop', '-w', '-t', '5', '-m', 'fast']).catch((error: Error) => {
    // It is stopping, after a checkpoint that can take a long time on a slow disk. The caller waits for that.
    if (!isGone() && !/does not shut down/.test(error.message)) throw error;
  });
}

async function startServer(cluster: Cluster, socketDir: string) {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: socketDir,
    logging_collector: 'on',
    log_directory: 'log',
    // One file per weekday, overwritten a week later.
    log_filename: 'postgresql-%a.log',
    log_truncate_on_rotation: 'on',
    log_rotation_size: '0',
    // Statements may contain personal data, and the error messages are sufficient.
    log_min_error_statement: 'panic',
    shared_buffers: `${sharedBuffersMB()}MB`,
    ...cluster.settings,
  };
  const options = Object.entries(settings).map(([name, value]) => `-c ${quoteForShell(`${name}=${value}`)}`);
  await pgCtl(cluster, ['start', '-w', '-t', `${cluster.timeoutSeconds}`, '-s', '-o', options.join(' ')]);
}

/** pg_ctl starts the server with a shell. */
const quoteForShell = (text: string) => (/^[\w./=:,+-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** Returns the size of shared_buffers. A million departments need more than the default of 128 MB. */
function sharedBuffersMB(): number {
  const memory = Math.min(os.totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY) / 2 ** 20;
  return Math.round(Math.min(512, Math.max(32, memory / 8)));
}

export const pgCtl = ({ runtimeUser, files, walArchive }: Cluster, args: string[]) =>
  runProgram(runtimeUser, 'pg_ctl', walArchive ? [files, walArchive] : [files], (folder) => ['-D', folder, ...args]);
