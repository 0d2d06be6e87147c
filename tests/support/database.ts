import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { openDatabase } from '../../db/connect.ts';
import { type ConnectionTiming, connectOwner, type Sql } from '../../db/driver.ts';
import { readConfig } from '../../server/config.ts';
import { createFirstAdministratorOnce } from '../../server/process/first-start.ts';

/** The databases of the tests, in the PostgreSQL that `npm test` starts. */

export const PASSWORD = 'correct horse';

/** The cheapest password hash. Only one test depends on the real cost. */
export const CHEAP_HASH = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/** Timeouts that no test reaches, even on a slow machine. Tests of a timeout set their own. */
export const NO_DEADLINES: ConnectionTiming = {
  connectMs: 600_000,
  hostMs: 600_000,
  statementMs: 600_000,
  idleInTransactionMs: 600_000,
  treeLockMs: 600_000,
  waitMs: 600_000,
  checkMs: 600_000,
};

/** Opens a connection for the test itself, with timeouts that are not reached even on a slow machine. */
export const connectWithoutDeadline = (target: Parameters<typeof connectOwner>[0]): Sql =>
  connectOwner(target, undefined, NO_DEADLINES);

/** What scripts/test.js passes to its workers. */
interface TestServer {
  /** Removed after all tests. */
  folder: string;
  socketDir: string;
  password: string;
  /** A database with all tables, tenant 000000 and its administrator. */
  template?: string;
}

const server: TestServer = JSON.parse(process.env.BANYAN_TEST_SERVER ?? '{}');

/** Returns the folder for files that the processes of a test run share. */
export const testFolder = (): string => server.folder;

interface Addresses {
  databaseUrl: string;
  superuserUrl: string;
}
export interface TestDatabase extends Addresses {
  name: string;
}

/**
 * Returns the addresses of a test database for its owner and for the superuser, who have the same password. Returns undefined for
 * an address on another server.
 */
export function addressesOf(databaseUrl = ''): Addresses | undefined {
  const superuserUrl = databaseUrl.replace(/^postgres:\/\/test_owner:/, 'postgres://postgres:');
  return superuserUrl === databaseUrl ? undefined : { databaseUrl, superuserUrl };
}

/** Creates a database with all tables, tenant 000000 and its administrator, as a copy of the template. */
export const createDatabase = (): Promise<TestDatabase> => create(`template ${server.template}`);

/** Creates a database without tables. */
export const createEmptyDatabase = (): Promise<TestDatabase> => create('');

async function create(template: string): Promise<TestDatabase> {
  if (!server.socketDir) throw new Error('Run tests with: npm test (or npm test -- part-of-a-file-name)');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const { password } = server;
  const superuser = postgres({ host: server.socketDir, username: 'postgres', password, database: 'postgres', max: 1 });
  await superuser.unsafe(`
    do $$ begin create role test_owner login createrole password '${password}';
    exception when duplicate_object or unique_violation then null; end $$`);
  // Copying files takes half the CPU time of copying pages through the write-ahead log.
  await superuser.unsafe(`create database ${name} owner test_owner ${template} strategy file_copy`);
  await superuser.end();
  const host = encodeURIComponent(server.socketDir);
  const address = (user: string) => `postgres://${user}:${password}@localhost/${name}?host=${host}`;
  return { name, databaseUrl: address('test_owner'), superuserUrl: address('postgres') };
}

/** Creates the template database once for all tests: migrations and the first administrator. Returns its name. */
export async function createTemplate(): Promise<string> {
  const { name, databaseUrl } = await createEmptyDatabase();
  const config = readConfig({ DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: PASSWORD });
  const db = await openDatabase({ ...config, timing: NO_DEADLINES });
  await createFirstAdministratorOnce(db, config, CHEAP_HASH);
  await db.close();
  return name;
}
