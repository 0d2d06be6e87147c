import { setTimeout } from 'node:timers/promises';
import { type EmbeddedServer, hasDatabase, isAlive, startEmbedded } from './embedded.ts';
import { migrate, refuseOutdated } from './migrate.ts';
import { makePool, type Pool } from './pool.ts';
import { isService, makeServiceRole, readServiceLogin, refuseLostSettings, refuseUnsafeRole } from './roles.ts';
import {
  type ConnectionTiming,
  codeOf,
  connectOwner,
  connectService,
  defaultConnectionTiming,
  LOCKS,
  type Sql,
  settingsOf,
  type Target,
} from './sql.ts';
import { StartRefused } from './start-refused.ts';

/** The service's connections: a role that owns nothing and sees one tenant at a time. */
export type Database = Pool;

/** Opened, and prepared. */
export interface Prepared extends Database {
  /** How the service's role logs in: for processes beside this one. */
  service: Target;
}

export interface Place {
  /** Unset: embedded, under `dataDir`. */
  databaseUrl?: string | undefined;
  dataDir: string;
  timeZone: string;
  /** How many connections the service keeps. */
  connections?: number;
  timing?: ConnectionTiming;
  progress?: (sentence: string) => void;
  /** Says that opening has become needless; then it fails with the signal's reason. */
  stop?: AbortSignal;
}

/** Opens the database, embedded or served, brings its tables up to date, and logs in as the service's own role. */
export function openDatabase(place: Place): Promise<Prepared> {
  return place.databaseUrl ? openServed(place, place.databaseUrl) : openEmbedded(place);
}

export const openPool = (
  service: Target,
  { timeZone, connections = 10, timing = defaultConnectionTiming }: Pick<Place, 'timeZone' | 'connections' | 'timing'>,
): Pool => makePool(connectService(service, timeZone, timing), connections, timing);

async function openEmbedded(place: Place): Promise<Prepared> {
  const folder = await takeDataFolder(place);
  try {
    place.stop?.throwIfAborted();
    const pool = await prepare(folder.owner, { host: folder.socketDir, database: 'banyan' }, place);
    return {
      ...pool,
      async close() {
        await pool.close();
        await folder.release();
      },
    };
  } catch (error) {
    await folder.release();
    throw error;
  }
}

async function openServed(place: Place, url: string): Promise<Prepared> {
  const owner = connectOwner({ url });
  try {
    return await prepare(owner, { url }, place);
  } catch (error) {
    if (error instanceof StartRefused || error === place.stop?.reason) throw error;
    if (/unsupported startup parameter/.test((error as Error).message)) throw refusePooler(error as Error);
    const told = codeOf(error) ? ` (${codeOf(error)})` : '';
    throw new StartRefused(
      `The database of DATABASE_URL can't be used${told}: ${(error as Error).message || 'no answer'}. ` +
        'Check that it runs, and the host, port, name and password in the address.',
    );
  } finally {
    await owner.end({ timeout: 1 });
  }
}

/** PgBouncer's words, before it is told to leave such settings to the role. */
const refusePooler = ({ message }: Error) =>
  new StartRefused(
    `The pooler at DATABASE_URL takes no settings (${message}). ` +
      `In PgBouncer's configuration: ignore_startup_parameters = ${Object.keys(settingsOf(defaultConnectionTiming)).join(', ')} ` +
      '(docs/operations.md tells the rest).',
  );

/** For what the tables' owner does beside the service, whether that runs or not. */
export const asOwner = <T>(place: Place, work: (owner: Sql) => Promise<T>): Promise<T> =>
  besideService(place, (target) => withOwner(target, work));

/**
 * For what an operator does within tenants, beside the service: as its role and over a connection like its own, because
 * the ledger notes times as texts in its zone, and who asks for the past waits for those who write as that role.
 */
export const asOperator = <T>(place: Place, work: (db: Database) => Promise<T>): Promise<T> =>
  besideService(place, async (target) => {
    const login = await withOwner(target, async (sql) => ((await isService(sql)) ? {} : readServiceLogin(sql)));
    const db = openPool({ ...target, ...login }, { ...place, connections: 1 });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  });

async function withOwner<T>(target: Target, work: (owner: Sql) => Promise<T>): Promise<T> {
  const owner = connectOwner(target);
  try {
    return await work(owner);
  } finally {
    await owner.end({ timeout: 1 });
  }
}

async function besideService<T>({ databaseUrl, dataDir }: Place, work: (target: Target) => Promise<T>): Promise<T> {
  if (databaseUrl) return work({ url: databaseUrl });
  if (!hasDatabase(dataDir)) {
    throw new StartRefused(
      `There is no database in ${dataDir}: run this where the service is started, with its BANYAN_DATA_DIR or DATABASE_URL.`,
    );
  }
  const server = await startEmbedded(dataDir, () => {});
  try {
    return await work(await ownerInside(server));
  } finally {
    if (!server.adopted) await server.stop();
  }
}

/** Brings the tables up to date as their owner, then opens the service's own connections. */
async function prepare(owner: Sql, target: Target, place: Place): Promise<Prepared> {
  const { progress = () => {}, stop, timing = defaultConnectionTiming } = place;
  // Another node may be migrating, for as long as it takes: who stops us does not wait for that.
  const cut = () => void owner.end({ timeout: 0 });
  stop?.addEventListener('abort', cut);
  try {
    const [{ version }] = await owner<[{ version: number }]>`
      select current_setting('server_version_num')::int / 10000 as version`;
    if (version < 15) throw new StartRefused(`This is PostgreSQL ${version}; Banyan needs 15 or newer.`);
    let login: { username?: string; password?: string } = {};
    if (await isService(owner)) await refuseOutdated(owner);
    else {
      await migrate(owner, place.timeZone, progress);
      login = await makeServiceRole(owner, timing);
    }
    const service = { ...target, ...login };
    const pool = openPool(service, place);
    try {
      await pool
        .use((sql) => refuseLostSettings(sql, place.timeZone, timing))
        .catch((error) => {
          // The owner was let in. 08P01: in PgBouncer's words.
          if (!/^(28|08P01)/.test(codeOf(error)) || !login.username) throw error;
          throw new StartRefused(
            `The service's own role ${login.username} is not let in (${error.message}). A pooler before PostgreSQL has to know ` +
              'it too (docs/operations.md); else its password is not the one in banyan.service_login.',
          );
        });
      await pool.use(refuseUnsafeRole);
      stop?.throwIfAborted();
    } catch (error) {
      await pool.close();
      throw error;
    }
    return { ...pool, service };
  } catch (error) {
    stop?.throwIfAborted();
    throw error;
  } finally {
    stop?.removeEventListener('abort', cut);
  }
}

/** Starts or finds the embedded server, and knocks until it opens: it may be on its way down when we find it. */
async function takeDataFolder(place: Place) {
  for (let patience = 100; ; patience--) {
    const server = await startEmbedded(place.dataDir, place.progress ?? (() => {}), place.stop);
    try {
      return await holdFolder(server, await ownerInside(server), place);
    } catch (error) {
      if (error instanceof StartRefused) throw error; // It is another's: not ours to stop.
      if (isPassing(codeOf(error)) && patience > 0) {
        await setTimeout(100);
        continue;
      }
      if (!server.adopted) await server.stop();
      if (codeOf(error) !== '28P01') throw error;
      throw new StartRefused(
        `postgres-password in ${place.dataDir} is not the password of the database beside it. Restore that file.`,
      );
    }
  }
}

/** PostgreSQL goes down; or another start is making the same role and database in this moment. */
const isPassing = (code: string) =>
  /^(57P0|CONNECTION_|ECONN|ENOENT|EPIPE)/.test(code) || ['23505', '42710', '42P04', '55006'].includes(code);

/**
 * The owner's connection, which keeps any other service off the data folder: two would stop each other's database.
 * PostgreSQL drops all connections when one of its processes is killed, and may be killed itself; so whenever the
 * connection is lost, PostgreSQL is brought back and the folder taken again.
 */
async function holdFolder(server: EmbeddedServer, target: Target, { dataDir, stop, progress = () => {} }: Place) {
  const connect = () =>
    connectOwner(target, () => {
      if (held && !released && !stop?.aborted) regaining ??= regain();
    });
  let owner = connect();
  let held = false;
  let released = false;
  let regaining: Promise<void> | undefined;
  const regain = async () => {
    let told = 'PostgreSQL went away, bringing it back';
    progress(told);
    let refused = 0;
    for (held = false; !held && !released; ) {
      try {
        await server.revive();
        await owner.end({ timeout: 0 });
        owner = connect();
        await lockFolder(owner, dataDir);
        held = true;
      } catch (error) {
        const { message } = error as Error;
        if (message !== told) progress(message);
        told = message;
        // It is there, and takes nobody in: for a few seconds that is as it should be.
        if (codeOf(error) === '57P03' && ++refused % 10 === 0) await server.endStuck().catch(() => {});
        await setTimeout(500);
      }
    }
    regaining = undefined;
  };
  const release = async () => {
    released = true;
    // Bringing it back may take minutes, after a crash; then it goes on without us, and the next start finds it.
    await Promise.race([regaining, setTimeout(3_000, undefined, { ref: false })]);
    // The lock goes last: whoever gets it finds no server that is about to stop. A server that isn't ours goes on.
    if (held) await server.stop();
    await owner.end({ timeout: 1 });
  };
  try {
    await lockFolder(owner, dataDir);
    held = true;
    return { owner, socketDir: server.socketDir, release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function lockFolder(owner: Sql, dataDir: string) {
  for (let patience = 100; ; patience--) {
    // Held as long as this connection lives; PostgreSQL lets it go when we die.
    const [{ free }] = await owner<[{ free: boolean }]>`select pg_try_advisory_lock(${LOCKS.service}) as free`;
    if (free) return;
    const [holder] = await owner<{ pid: number; name: string }[]>`
      select pid, a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.objid = ${LOCKS.service} and l.granted`;
    const pid = Number(holder?.name.replace(/\D/g, ''));
    if (isAlive(pid) || patience === 0) {
      throw new StartRefused(
        `Another Banyan (process ${pid}) is using the data folder ${dataDir}. ` +
          'Stop it, or set BANYAN_DATA_DIR and PORT to start a second one beside it.',
      );
    }
    // It was killed, and PostgreSQL did not notice yet.
    if (holder) await owner`select pg_terminate_backend(${holder.pid})`;
    await setTimeout(100);
  }
}

/** Banyan's database in the embedded server, and its owner, made when they are not there yet. */
async function ownerInside({ socketDir, password }: EmbeddedServer): Promise<Target> {
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
