import { hasCluster, initCluster, openDataDir, removeLeftovers } from './data-dir.ts';
import { findServer, removeSocketDir } from './find-server.ts';
import { isStarting } from './processes.ts';
import { pathInProgram } from './run-program.ts';
import {
  chooseRuntimeUser,
  closeFolder,
  type OpenFolder,
  openFolder,
  openWritableFolder,
  type RuntimeUser,
} from './runtime-user.ts';
import { type Cluster, findOrStart, type Progress, pgCtl } from './start-server.ts';

export interface EmbeddedServer {
  socketDir: string;
  /** The password of the superuser `postgres`, and of `banyan`, the owner of the tables. */
  password: string;
  /** Whether the server was already running: a killed process left it behind, or another Banyan uses it. */
  adopted: boolean;
  /** The folder with PostgreSQL's files. It can be reached even after this process has dropped root's privileges. */
  clusterDir: string;
  /** The same for the archive of its write-ahead log, if there is one. */
  walArchive?: string | undefined;
  runtimeUser: RuntimeUser;
  /** Starts the server again on the same socket, if it is not running. */
  restart(): Promise<void>;
  /** Stops the server without a clean shutdown, unless it is starting. */
  stopImmediately(): Promise<void>;
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** The folder in which PostgreSQL keeps copies of its write-ahead log, if any. */
  walArchive?: string | undefined;
  /** How long PostgreSQL may take to start. Recovery after a crash can be long. */
  timeoutSeconds?: number;
}

/** The setting that says which folder the server archives to; '' if it does not. */
export const WAL_ARCHIVE_SETTING = 'banyan.wal_archive';

/** After this time PostgreSQL archives a segment of its write-ahead log even if it is not full. */
const ARCHIVE_SECONDS = 60;

/** How long PostgreSQL may take to start or to stop. Recovery after a crash can be long. */
const TIMEOUT_SECONDS = 300;

/**
 * Starts the embedded database: a real PostgreSQL under `dataDir/postgres`, on a Unix socket only. A server that a killed
 * process left behind is adopted. The caller must check that no other Banyan uses it, by taking a lock in the database.
 */
export async function startEmbedded(
  dataDir: string,
  progress: Progress,
  signal?: AbortSignal,
  extraSettings: Record<string, string> = {},
  { walArchive, timeoutSeconds = TIMEOUT_SECONDS }: ServerOptions = {},
): Promise<EmbeddedServer> {
  const password = openDataDir(dataDir);
  const runtimeUser = chooseRuntimeUser(dataDir);
  removeLeftovers(dataDir);
  if (!hasCluster(runtimeUser)) {
    progress(`Creating a database in ${runtimeUser.clusterDir}`);
    await initCluster(runtimeUser, dataDir, password, signal);
  }
  signal?.throwIfAborted();
  const archive = walArchive ? openWritableFolder(walArchive, 'BANYAN_WAL_ARCHIVE', runtimeUser) : undefined;
  const cluster: Cluster = {
    runtimeUser,
    files: openFolder(runtimeUser.clusterDir),
    walArchive: archive,
    settings: { ...(archive ? archiveSettings(archive, walArchive as string) : {}), ...extraSettings },
    timeoutSeconds,
  };
  const { socketDir, adopted } = await findOrStart(cluster, progress, { signal });
  return {
    socketDir,
    password,
    adopted,
    clusterDir: cluster.files.path,
    walArchive: archive?.path,
    runtimeUser,
    async restart() {
      const running = await findOrStart(cluster, () => {}, { socketDir });
      if (running.socketDir !== socketDir)
        throw new Error(`PostgreSQL was restarted with its socket in ${running.socketDir}`);
    },
    async stopImmediately() {
      const server = findServer(cluster.files.path);
      if (!server || isStarting(server.pid)) return;
      await pgCtl(cluster, ['stop', '-w', '-t', '5', '-m', 'immediate']).catch(() =>
        process.kill(server.pid, 'SIGKILL'),
      );
    },
    async stop() {
      await pgCtl(cluster, ['stop', '-w', '-t', `${TIMEOUT_SECONDS}`, '-m', 'fast']).catch((error) => {
        if (findServer(cluster.files.path)) throw error; // Otherwise it had already stopped.
      });
      removeSocketDir(socketDir);
      for (const folder of [cluster.files, cluster.walArchive]) if (folder) closeFolder(folder);
    },
  };
}

/** PostgreSQL's own module copies each segment to a temporary file, flushes and renames it, and never overwrites another one. */
const archiveSettings = (archive: OpenFolder, folder: string) => ({
  archive_mode: 'on',
  archive_library: 'basic_archive',
  'basic_archive.archive_directory': pathInProgram(archive, 1),
  archive_timeout: `${ARCHIVE_SECONDS}`,
  [WAL_ARCHIVE_SETTING]: folder,
});
