import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { beginAlone, codeOf, type Sql, type Tx } from './sql.ts';
import { StartRefused } from './start-refused.ts';

interface Migration {
  version: number;
  name: string;
  text: string;
  checksum: string;
}

// The sources' folder: the compiler copies no SQL, and one place for it is enough. We run from dist/db.
const folder = new URL('../../db/migrations/', import.meta.url);

const migrations: Migration[] = fs
  .readdirSync(folder)
  .sort()
  .map((name) => {
    const text = fs.readFileSync(new URL(name, folder), 'utf8');
    return { version: Number(name.slice(0, 4)), name, text, checksum: createHash('sha256').update(text).digest('hex') };
  });

/** Runs what has not run yet: in order, each in a transaction of its own, one process at a time. */
export async function migrate(owner: Sql, timeZone: string, progress: (sentence: string) => void): Promise<void> {
  try {
    await beginAlone(owner, async (tx) => {
      await tx`create schema if not exists banyan`;
      await tx`
        create table if not exists banyan.migrations (
          version int primary key, name text not null, checksum text not null, applied timestamptz not null default now()
        )`;
    });
    const next = (tx: Tx) => runNext(tx, timeZone, progress);
    while (await beginAlone(owner, next));
  } catch (error) {
    if (codeOf(error) !== '42501') throw error;
    throw new StartRefused(
      `The role of DATABASE_URL may not prepare the tables (${(error as Error).message}). ` +
        'Give it the right to create in this database: grant create on database … to …',
    );
  }
}

/** False when there is none left. */
async function runNext(tx: Tx, timeZone: string, progress: (sentence: string) => void): Promise<boolean> {
  const applied = await read(tx);
  refuseForeign(applied);
  const migration = migrations[applied.length];
  if (!migration) return false;
  progress(`Preparing tables: ${migration.name}`);
  // What a migration writes as text is in the zone that the service shows.
  await tx`select set_config('TimeZone', ${timeZone}, true)`;
  await tx.unsafe(migration.text);
  await tx`insert into banyan.migrations ${tx(migration, 'version', 'name', 'checksum')}`;
  return true;
}

/** For a role that may not migrate: what is there must be what this version needs. */
export async function refuseOutdated(service: Sql): Promise<void> {
  const applied = await read(service);
  refuseForeign(applied);
  if (applied.length < migrations.length) {
    throw new StartRefused(
      'The tables are older than this version of Banyan, and the role of DATABASE_URL may not change them. ' +
        'Start once with the DATABASE_URL of their owner.',
    );
  }
}

const read = (sql: Sql | Tx) => sql<{ name: string; checksum: string }[]>`
  select name, checksum from banyan.migrations order by version`;

/** Migrations are frozen once released: a database that ran other ones is not ours to go on with. */
function refuseForeign(applied: { name: string; checksum: string }[]) {
  for (const [index, row] of applied.entries()) {
    const known = migrations[index];
    if (!known)
      throw new StartRefused(`The tables are newer than this version of Banyan (${row.name}). Update Banyan.`);
    if (known.name !== row.name || known.checksum !== row.checksum) {
      throw new StartRefused(`The migration ${known.name} is not the one that made these tables. Restore its file.`);
    }
  }
}
