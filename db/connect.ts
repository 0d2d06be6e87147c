import { setTimeout } from 'node:timers/promises';
import {
  type ConnectionTiming,
  connectionSettings,
  connectOwner,
  connectService,
  defaultConnectionTiming,
  LOCKS,
  type Sql,
  type Target,
} from './driver.ts';
import { type EmbeddedServer, type ServerOptions, startEmbedded, WAL_ARCHIVE_SETTING } from './embedded/cluster.ts';
import { hasDatabase } from './embedded/data-dir.ts';
import { isAlive } from './embedded/processes.ts';
import { errorCode } from './errors.ts';
import { hostsOf, searchPrimary } from './hosts.ts';
import { within } from './liveness.ts';
import { assertUpToDate, migrate } from './migrate.ts';
import { createPool, type Pool } from './pool.ts';
import { assertSafeRole, assertSettings, createServiceRole, isServiceRole, readServiceLogin } from './roles.ts';
import { identifyServer } from './server-identity.ts';
import { StartupError } from './startup-error.ts';

/** The service's connections. They use a role that owns nothing and sees one tenant at a time. */
export type Database = Pool;

/** A database whose tables and service role are up to date. */
export interface PreparedDatabase extends Database {
  /** How the service's role logs in. Worker processes use it to open pools of their own. */
  service: Target;
  /** How the owner of the tables logs in, unless DATABASE_URL is that of the service's role. */
  owner: Target;
  /** Unset with DATABASE_URL. */
  embedded?: EmbeddedServer;
}

export interface DatabaseOptions extends Pick<ServerOptions, 'walArchive'> {
  /** If unset, the embedded PostgreSQL under `dataDir` is used. */
  databaseUrl?: string | undefined;
  dataDir: string;
  timeZone: string;
  /** The maximum number of connections of the pool. Default: 10. */
  connections?: number;
  timing?: ConnectionTiming;
  progress?: (sentence: string) => void;
  /** Aborts opening the database, which then fails with the signal's reason. */
  signal?: AbortSignal;
}

/** Opens the database, embedded or external, brings its tables up to date, and logs in as the service's own role. */
export function openDatabase(options: DatabaseOptions): Promise<PreparedDatabase> {
  return options.databaseUrl ? openExternal(options, options.databaseUrl) : openEmbedded(options);
}

export const openPool = (
  service: Target,
  {
    timeZone,
    connections = 10,
    timing = defaultConnectionTiming,
  }: Pick<DatabaseOptions, 'timeZone' | 'connections' | 'timing'>,
): Pool => createPool(connectService(timeZone, timing), connections, timing, hostsOf(service));

async function openEmbedded(options: DatabaseOptions): Promise<PreparedDatabase> {
  const dataDir = await acquireDataDir(options);
  try {
    options.signal?.throwIfAborted();
    const { owner, target, server } = dataDir;
    const pool = await prepare(owner, { host: server.socketDir, database: 'banyan' }, options);
    return {
      ...pool,
      owner: target,
      embedded: server,
      async close() {
        await pool.close();
        await dataDir.release();
      },
    };
  } catch (error) {
    await dataDir.release();
    throw error;
  }
}

async function openExternal(options: DatabaseOptions, url: string): Promise<PreparedDatabase> {
  let owner: Sql | undefined;
  try {
    owner = await openOwner({ url }, options);
    return { ...(await prepare(owner, { url }, options)), owner: { url } };
  } catch (error) {
    if (error instanceof StartupError || error === options.signal?.reason) throw error;
    if (/unsupported startup parameter/.test((error as Error).message)) throw poolerError(error as Error);
    const code = errorCode(error) ? ` (${errorCode(error)})` : '';
    throw new StartupError(
      `The database at DATABASE_URL can't be used${code}: ${(error as Error).message || 'no response'}. ` +
        'Check that it is running, and check host, port, name and password in the URL.',
    );
  } finally {
    await owner?.end({ timeout: 1 });
  }
}

/** Opens a connection as the owner of the tables: to the primary, if there are several hosts. */
async function openOwner(
  target: Target,
  { timing = defaultConnectionTiming, signal }: Pick<DatabaseOptions, 'timing' | 'signal'> = {},
): Promise<Sql> {
  const hosts = hostsOf(target);
  const { hostMs, waitMs } = timing;
  return searchPrimary(hosts, performance.now() + waitMs, async (host) => {
    signal?.throwIfAborted();
    const owner = connectOwner(host.target, undefined, timing);
    if (!hosts.primaryOnly) return owner;
    try {
      await within(hostMs, identifyServer(owner, hosts));
      return owner;
    } catch (error) {
      await owner.end({ timeout: 0 });
      throw error;
    }
  });
}

const standbyError = () =>
  new StartupError(
    'The server at DATABASE_URL is a standby and takes no writes. Use the primary, or name all servers: ' +
      'postgres://user:password@host1:5432,host2:5432/database?target_session_attrs=read-write (see docs/operations.md).',
  );

/** PgBouncer rejects startup parameters that it does not know, until its configuration tells it to ignore them. */
const poolerError = ({ message }: Error) =>
  new StartupError(
    `The pooler at DATABASE_URL rejects Banyan's settings (${message}). ` +
      `Add to PgBouncer's configuration: ignore_startup_parameters = ${Object.keys(connectionSettings(defaultConnectionTiming)).join(', ')} ` +
      '(see docs/operations.md).',
  );

/** Runs work as the owner of the tables, whether or not the service is running. */
export const withOwnerConnection = <T>(options: DatabaseOptions, work: (owner: Sql) => Promise<T>): Promise<T> =>
  withOwnerTarget(options, (target) => withOwner(target, work));

/**
 * Runs an operator's work in tenants, whether or not the service is running. It uses the service's role: a read as of an earlier
 * time waits for the open transactions that it finds in pg_stat_activity, where PostgreSQL shows a role the details of its own
 * sessions only.
 */
export const withServiceConnection = <T>(options: DatabaseOptions, work: (db: Database) => Promise<T>): Promise<T> =>
  withOwnerTarget(options, async (target) => {
    const login = await withOwner(target, async (sql) => ((await isServiceRole(sql)) ? {} : readServiceLogin(sql)));
    const db = openPool({ ...target, ...login }, { ...options, connections: 1 });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  });

/** Runs work as the owner of the tables, on the database of a running service. */
export async function withOwner<T>(target: Target, work: (owner: Sql) => Promise<T>): Promise<T> {
  const owner = await openOwner(target);
  try {
    return await work(owner);
  } finally {
    await owner.end({ timeout: 1 });
  }
}

/**
 * Calls `work` with the login of the tables' owner or, with DATABASE_URL, of the role in it. If the embedded PostgreSQL is not
 * running, starts it for the duration.
 */
const withOwnerTarget = <T>(options: DatabaseOptions, work: (target: Target) => Promise<T>): Promise<T> =>
  options.databaseUrl
    ? work({ url: options.databaseUrl })
    : withEmbedded(options, async (server) => work(await ensureDatabase(server)));

/** Calls `work` with the embedded PostgreSQL. If it is not running, starts it for the duration. */
export async function withEmbedded<T>(
  { dataDir, walArchive }: Pick<DatabaseOptions, 'dataDir' | 'walArchive'>,
  work: (server: EmbeddedServer) => Promise<T>,
): Promise<T> {
  if (!hasDatabase(dataDir)) {
    throw new StartupError(
      `There is no database in ${dataDir}. Run this command in the directory and with the settings of the service ` +
        '(BANYAN_DATA_DIR or DATABASE_URL).',
    );
  }
  const server = await startEmbedded(dataDir, () => {}, undefined, {}, { walArchive });
  try {
    return await work(server);
  } finally {
    // If others use it by now, it keeps running: a service stops it, and otherwise the next start adopts it.
    if (!server.adopted && !(await hasOtherClients(server))) await server.stop();
  }
}

/** The server has stopped, is starting or stopping, or its password file is wrong: no other process can be connected. */
const HAS_NO_CLIENTS = new Set(['ENOENT', 'ECONNREFUSED', '57P03', '28P01']);

/** Whether another process is connected, such as a service that was started meanwhile. */
async function hasOtherClients({ socketDir, password }: EmbeddedServer): Promise<boolean> {
  const superuser = connectOwner({ host: socketDir, database: 'postgres', username: 'postgres', password });
  try {
    // Connections of this process have its name. They are closed, but PostgreSQL may not have noticed yet.
    const others = await superuser`
      select from pg_stat_activity
      where backend_type = 'client backend' and application_name <> current_setting('application_name')`;
    return others.length > 0;
  } catch (error) {
    // If it cannot be asked although it is running (it may be overloaded), it keeps running: the next start adopts it.
    return !HAS_NO_CLIENTS.has(errorCode(error));
  } finally {
    await superuser.end({ timeout: 1 });
  }
}

/** Brings the tables up to date as their owner, then opens the service's own connections. */
async function prepare(owner: Sql, target: Target, options: DatabaseOptions): Promise<Omit<PreparedDatabase, 'owner'>> {
  const { progress = () => {}, signal, timing = defaultConnectionTiming } = options;
  // The owner's connection may be waiting for a long migration of another node. Aborting must not wait for that.
  const disconnect = () => void owner.end({ timeout: 0 });
  signal?.addEventListener('abort', disconnect);
  try {
    const [{ version, standby }] = await owner<[{ version: number; standby: boolean }]>`
      select current_setting('server_version_num')::int / 10000 as version, pg_is_in_recovery() as standby`;
    if (version < 15) throw new StartupError(`This is PostgreSQL ${version}; Banyan needs 15 or newer.`);
    if (standby) throw standbyError();
    let login: { username?: string; password?: string } = {};
    if (await isServiceRole(owner)) await assertUpToDate(owner);
    else {
      await migrate(owner, progress);
      login = await createServiceRole(owner, timing);
    }
    const service = { ...target, ...login };
    const pool = openPool(service, options);
    try {
      await pool
        .use((sql) => assertSettings(sql, options.timeZone, timing))
        .catch((error) => {
          // The owner could log in, so only the service's login is wrong. PgBouncer reports this as 08P01.
          if (!/^(28|08P01)/.test(errorCode(error)) || !login.username) throw error;
          throw new StartupError(
            `The service's own role ${login.username} cannot log in (${error.message}). A pooler in front of PostgreSQL must ` +
              'know it too (see docs/operations.md). Without a pooler, its password differs from the one in banyan.service_login.',
          );
        });
      await pool.use(assertSafeRole);
      signal?.throwIfAborted();
    } catch (error) {
      await pool.close();
      throw error;
    }
    return { ...pool, service };
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', disconnect);
  }
}

/** Starts or adopts the embedded server and locks the data directory. Retries: a server that we find may be shutting down. */
async function acquireDataDir(options: DatabaseOptions) {
  const { dataDir, walArchive = '', progress = () => {}, signal } = options;
  for (let retries = 100; ; retries--) {
    const server = await startEmbedded(dataDir, progress, signal, {}, { walArchive });
    try {
      const locked = await lockDataDir(server, await ensureDatabase(server), options);
      if (!server.adopted || (await archivesTo(locked.owner)) === walArchive) return locked;
      // A killed process left it behind, with other settings. They can be changed only at its start.
      progress('Restarting PostgreSQL, because BANYAN_WAL_ARCHIVE was changed');
      await locked.release();
    } catch (error) {
      if (error instanceof StartupError) throw error; // Another Banyan uses the server: we must not stop it.
      if (isTransient(errorCode(error)) && retries > 0) {
        await setTimeout(100);
        continue;
      }
      if (!server.adopted) await server.stop();
      if (errorCode(error) !== '28P01') throw error;
      throw new StartupError(
        `The file postgres-password in ${options.dataDir} does not contain the password of the database there. Restore it.`,
      );
    }
  }
}

/** Returns the folder in which the server archives its write-ahead log, or ''. */
async function archivesTo(owner: Sql): Promise<string> {
  const [row] = await owner<[{ folder: string | null }]>`
    select current_setting(${WAL_ARCHIVE_SETTING}, true) as folder`;
  return row.folder ?? '';
}

/** Whether PostgreSQL is shutting down, or another start is creating the same role or database right now. */
const isTransient = (code: string) =>
  /^(57P0|CONNECTION_|ECONN|ENOENT|EPIPE)/.test(code) || ['23505', '42710', '42P04', '55006'].includes(code);

/**
 * Locks the data directory with the owner's connection, because two services would stop each other's database. PostgreSQL
 * drops all connections when one of its processes is killed, and may be killed itself. So whenever this connection is lost,
 * PostgreSQL is restarted and the directory locked again.
 */
async function lockDataDir(
  server: EmbeddedServer,
  target: Target,
  { dataDir, signal, progress = () => {} }: DatabaseOptions,
) {
  const connect = () =>
    connectOwner(target, () => {
      // A SIGTERM may have arrived together with the loss. Handle it first: a shutdown must not restart PostgreSQL.
      setImmediate(() => {
        if (locked && !released && !signal?.aborted) recovery ??= recover();
      });
    });
  let owner = connect();
  let locked = false;
  let released = false;
  let recovery: Promise<void> | undefined;
  const recover = async () => {
    let lastMessage = 'PostgreSQL has stopped, restarting it';
    progress(lastMessage);
    let rejections = 0;
    for (locked = false; !locked && !released; ) {
      try {
        await server.restart();
        await owner.end({ timeout: 0 });
        owner = connect();
        await takeLock(owner, dataDir);
        locked = true;
      } catch (error) {
        const { message } = error as Error;
        if (message !== lastMessage) progress(message);
        lastMessage = message;
        // 57P03: the server runs but accepts no connections. That is normal while it starts; otherwise it is stuck.
        if (errorCode(error) === '57P03' && ++rejections % 10 === 0) await server.stopImmediately().catch(() => {});
        await setTimeout(500);
      }
    }
    recovery = undefined;
  };
  const release = async () => {
    released = true;
    // PostgreSQL's crash recovery may take minutes. Then it continues without us, and the next start adopts the server.
    await Promise.race([recovery, setTimeout(3_000, undefined, { ref: false })]);
    // Release the lock last, so that its next holder does not find a server that is about to stop. Without the lock the
    // server is not ours, and keeps running.
    if (locked) await server.stop();
    await owner.end({ timeout: 1 });
  };
  try {
    await takeLock(owner, dataDir);
    locked = true;
    return { owner, target, server, release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function takeLock(owner: Sql, dataDir: string) {
  for (let retries = 100; ; retries--) {
    // A session-level lock: PostgreSQL releases it with the connection, even when this process dies.
    const [{ acquired }] = await owner<[{ acquired: boolean }]>`
      select pg_try_advisory_lock(${LOCKS.service}) as acquired`;
    if (acquired) return;
    const [holder] = await owner<{ pid: number; name: string }[]>`
      select pid, a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.objid = ${LOCKS.service} and l.granted`;
    const pid = Number(holder?.name.replace(/\D/g, ''));
    if (isAlive(pid) || retries === 0) {
      throw new StartupError(
        `Another Banyan (process ${pid}) is using the data directory ${dataDir}. ` +
          'Stop it, or set BANYAN_DATA_DIR and PORT to run a second one.',
      );
    }
    // The holder was killed, and PostgreSQL has not noticed yet.
    if (holder) await owner`select pg_terminate_backend(${holder.pid})`;
    await setTimeout(100);
  }
}

/** Creates Banyan's database and its owner in the embedded server, if they don't exist. Returns the owner's login. */
async function ensureDatabase({ socketDir, password }: EmbeddedServer): Promise<Target> {
  const superuser = connectOwner({ host: socketDir, database: 'postgres', username: 'postgres', password });
  try {
    const [role] = await superuser`select 1 from pg_roles where rolname = 'banyan'`;
    if (!role) await superuser.unsafe(`create role banyan login createrole password '${password}'`);
    const [database] = await superuser`select 1 from pg_database where datname = 'banyan'`;
    if (!database) await superuser`create database banyan owner banyan`;
  } finally {
    await superuser.end({ timeout: 1 });
  }
  return { host: socketDir, database: 'banyan', username: 'banyan', password };
}
