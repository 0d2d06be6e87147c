import { createHash } from 'node:crypto';
import fs from 'node:fs';
import type { Sql, Tx } from './driver.ts';
import { errorCode } from './errors.ts';
import { StartupError } from './startup-error.ts';
import { withMigrationLock } from './transaction.ts';

/** A file of SQL: a migration such as `0002_fax.sql`, or a function such as `tenant_state.sql`. */
interface SqlFile {
  name: string;
  text: string;
  checksum: string;
}

/** The migrations, in the order in which they are applied, and the functions. */
export interface Schema {
  migrations: (SqlFile & { version: number })[];
  functions: SqlFile[];
}

/** Reads a folder of SQL. Other files, such as those that editors and file managers leave behind, are ignored. */
export function readSchema(folder: URL): Schema {
  const migrations = readSqlFiles(folder, /^\d{4}_\w+\.sql$/);
  return {
    migrations: migrations.map((file) => ({ ...file, version: Number(file.name.slice(0, 4)) })),
    functions: readSqlFiles(new URL('functions/', folder), /^\w+\.sql$/),
  };
}

const readSqlFiles = (folder: URL, pattern: RegExp): SqlFile[] =>
  fs
    .readdirSync(folder)
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => {
      const text = fs.readFileSync(new URL(name, folder), 'utf8');
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
    });

// The compiler copies no SQL, so it is read from the sources. This code runs from dist/db.
const folder = new URL('../../db/schema/', import.meta.url);

/** The tables and functions of this version. */
export const shipped = readSchema(folder);

/** The statements that grant the service's role its privileges. */
export const grants = fs.readFileSync(new URL('grants.sql', folder), 'utf8');

type Progress = (sentence: string) => void;

/**
 * Brings the database up to date, one process at a time. Each migration runs in a transaction of its own, after the functions
 * that do not exist yet, because its indexes and triggers may use them. Functions whose file has changed are replaced last.
 */
export async function migrate(owner: Sql, progress: Progress, schema = shipped): Promise<void> {
  try {
    await withMigrationLock(owner, async (tx) => {
      await tx`create schema if not exists banyan`;
      await tx`
        create table if not exists banyan.migrations (
          version int primary key, name text not null, checksum text not null, applied timestamptz not null default now()
        )`;
      await tx`
        create table if not exists banyan.functions (
          name text primary key, checksum text not null, applied timestamptz not null default now()
        )`;
    });
    while (await withMigrationLock(owner, (tx) => applyNextMigration(tx, progress, schema)));
    await withMigrationLock(owner, (tx) => applyFunctions(tx, schema, 'changed'));
  } catch (error) {
    if (errorCode(error) !== '42501') throw error;
    throw new StartupError(
      `The role of DATABASE_URL may not prepare the tables (${(error as Error).message}). ` +
        'Allow it to create objects in this database: grant create on database … to …',
    );
  }
}

/** Returns false when no migration is left. */
async function applyNextMigration(tx: Tx, progress: Progress, schema: Schema): Promise<boolean> {
  const applied = await readApplied(tx);
  assertKnown(applied, schema);
  const migration = schema.migrations[applied.length];
  if (!migration) return false;
  progress(`Preparing tables: ${migration.name}`);
  await applyFunctions(tx, schema, 'missing');
  await tx.unsafe(migration.text);
  await tx`insert into migrations ${tx(migration, 'version', 'name', 'checksum')}`;
  return true;
}

async function applyFunctions(tx: Tx, { functions }: Schema, which: 'missing' | 'changed'): Promise<void> {
  const rows = await tx<{ name: string; checksum: string }[]>`select name, checksum from functions`;
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  // The tables that a function uses may not exist yet.
  await tx`set local check_function_bodies = off`;
  for (const file of functions) {
    const known = applied.get(file.name);
    if (which === 'missing' ? known !== undefined : known === file.checksum) continue;
    await tx.unsafe(file.text);
    await tx`
      insert into functions ${tx(file, 'name', 'checksum')}
      on conflict (name) do update set checksum = excluded.checksum, applied = now()`;
  }
}

/** Throws unless the tables and functions are those of this version. For a role that may not migrate. */
export async function assertUpToDate(service: Sql): Promise<void> {
  const applied = await readApplied(service);
  assertKnown(applied, shipped);
  const rows = await service<{ checksum: string }[]>`select checksum from banyan.functions`;
  const checksums = new Set(rows.map(({ checksum }) => checksum));
  const { migrations, functions } = shipped;
  if (applied.length < migrations.length || functions.some(({ checksum }) => !checksums.has(checksum))) {
    throw new StartupError(
      'The tables are older than this version of Banyan, and the role of DATABASE_URL may not change them. ' +
        'Start once with the DATABASE_URL of their owner.',
    );
  }
}

const readApplied = (sql: Sql | Tx) => sql<{ name: string; checksum: string }[]>`
  select name, checksum from banyan.migrations order by version`;

/** Migrations are frozen once released: a database that applied other ones cannot be upgraded by this version. */
function assertKnown(applied: { name: string; checksum: string }[], { migrations }: Schema): void {
  for (const [index, row] of applied.entries()) {
    const known = migrations[index];
    if (!known)
      throw new StartupError(`The tables are newer than this version of Banyan (${row.name}). Update Banyan.`);
    if (known.name !== row.name || known.checksum !== row.checksum) {
      throw new StartupError(`The migration ${known.name} is not the one that created these tables. Restore its file.`);
    }
  }
}
