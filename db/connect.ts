import { type EmbeddedServer, StartRefused, startEmbedded } from './embedded.ts';
import { migrate, refuseOutdated } from './migrate.ts';
import { isService, makeServiceRole, refuseUnsafeRole } from './roles.ts';
import { codeOf, connectOwner, connectService, LOCKS, type Sql, type Target } from './sql.ts';

export interface Database {
  /** The service's connections: a role that owns nothing and sees one tenant at a time. */
  sql: Sql;
  close(): Promise<void>;
}

export interface Place {
  /** Unset: embedded, under `dataDir`. */
  databaseUrl?: string | undefined;
  dataDir: string;
  timeZone: string;
  /** How many connections the service keeps. */
  connections?: number;
  progress?: (sentence: string) => void;
}

/** Opens the database, embedded or served, brings its tables up to date, and logs in as the service's own role. */
export async function openDatabase(place: Place): Promise<Database> {
  if (place.databaseUrl) return openServed(place, place.databaseUrl);
  const server = await startEmbedded(place.dataDir, place.progress ?? (() => {}));
  let stop = () => server.stop();
  try {
    const owner = connectOwner(await ownerInside(server));
    stop = async () => {
      await owner.end({ timeout: 5 });
      await server.stop();
    };
    await refuseSecondService(owner, place.dataDir).catch(async (error) => {
      // Not ours to stop.
      stop = () => owner.end({ timeout: 1 });
      throw error;
    });
    const sql = await prepare(owner, { host: server.socketDir, database: 'banyan' }, place);
    return {
      sql,
      async close() {
        await sql.end({ timeout: 5 });
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openServed(place: Place, url: string): Promise<Database> {
  const owner = connectOwner({ url });
  try {
    const sql = await prepare(owner, { url }, place);
    return { sql, close: () => sql.end({ timeout: 5 }) };
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    const told = codeOf(error) ? ` (${codeOf(error)})` : '';
    throw new StartRefused(
      `The database of DATABASE_URL can't be used${told}: ${(error as Error).message || 'no answer'}. ` +
        'Check that it runs, and the host, port, name and password in the address.',
    );
  } finally {
    await owner.end({ timeout: 1 });
  }
}

/** Brings the tables up to date as their owner, then opens the service's own connections. */
async function prepare(owner: Sql, target: Target, place: Place): Promise<Sql> {
  const { timeZone, connections = 10, progress = () => {} } = place;
  const [{ version }] = await owner<[{ version: number }]>`
    select current_setting('server_version_num')::int / 10000 as version`;
  if (version < 15) throw new StartRefused(`This is PostgreSQL ${version}; Banyan needs 15 or newer.`);
  let login = {};
  if (await isService(owner)) await refuseOutdated(owner);
  else {
    await migrate(owner, progress);
    login = await makeServiceRole(owner);
  }
  const sql = connectService({ ...target, ...login }, connections, timeZone);
  try {
    await refuseUnsafeRole(sql);
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
  return sql;
}

/** Two services on one data folder would stop each other's database. */
async function refuseSecondService(owner: Sql, dataDir: string) {
  // Held as long as this connection lives; PostgreSQL lets it go when we die.
  const [{ free }] = await owner<[{ free: boolean }]>`select pg_try_advisory_lock(${LOCKS.service}) as free`;
  if (free) return;
  const [holder] = await owner<{ name: string }[]>`
    select a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.objid = ${LOCKS.service} and l.granted`;
  const who = holder ? ` (process ${holder.name.replace(/\D/g, '')})` : '';
  throw new StartRefused(
    `Another Banyan${who} is using the data folder ${dataDir}. ` +
      'Stop it, or set BANYAN_DATA_DIR and PORT to start a second one beside it.',
  );
}

/** Banyan's database in the embedded server, and its owner, made when they are not there yet. */
async function ownerInside({ socketDir, password }: EmbeddedServer): Promise<Target> {
  const superuser = connectOwner({ host: socketDir, database: 'postgres', username: 'postgres', password });
  try {
    const [role] = await superuser`select 1 from pg_roles where rolname = 'banyan'`;
    if (!role) await superuser.unsafe(`create role banyan login createrole password '${password}'`);
    const [database] = await superuser`select 1 from pg_database where datname = 'banyan'`;
    if (!database) await superuser`create database banyan owner banyan`;
  } catch (error) {
    const faster = ['23505', '42710', '42P04']; // another start made it a moment before us
    if (!faster.includes(codeOf(error))) throw error;
  } finally {
    await superuser.end();
  }
  return { host: socketDir, database: 'banyan', username: 'banyan', password };
}
