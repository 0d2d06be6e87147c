import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { raw, type Sql, type Tx } from './driver.ts';
import { StartupError } from './startup-error.ts';
import { ROOT_TENANT } from './tenant-scope.ts';
import { begin } from './transaction.ts';

/**
 * Copies all data to a folder, and from a folder into an empty database: one file for each table, one line of JSON for each row,
 * keyed by column name. The tables are found in the catalog, so a new table is copied too unless it is listed here.
 */

/** Tables that are not copied, and why. */
const LEFT_OUT: Record<string, string> = {
  migrations: 'describes the database',
  functions: 'describes the database',
  service_login: 'the database has its own',
  tenant_tree_lock: 'holds no data',
  department_trees: 'is measured again',
  signing_keys: 'tokens must not be valid in two installations',
  sessions: 'users log in again',
  login_failures: 'only delays attackers; an empty table trusts no address yet',
  login_addresses: 'expires within minutes',
  login_name_key: 'hashes names of failed logins, and stays secret',
  request_buckets: 'fills again within a minute',
  idempotency_keys: 'expires within a day',
};

/** What the file `export.json` says. */
interface Manifest {
  format: 1;
  /** The last migration of the database. */
  schema: string;
  time: string;
  tables: Record<string, { rows: number; sha256: string }>;
  /** The next value of each sequence. */
  sequences: Record<string, string>;
}

type Progress = (line: string) => void;

/** Writes all data, as of one moment, into a folder that does not exist yet. Returns the number of rows. */
export async function exportTables(owner: Sql, folder: string, progress: Progress): Promise<number> {
  // Password hashes and the secrets of webhooks are among the data.
  fs.mkdirSync(folder, { mode: 0o700 });
  const work = async (tx: Tx) => {
    await tx`select set_config('search_path', 'banyan', true), set_config('TimeZone', 'UTC', true)`;
    const tenantIds = await listTenants(tx);
    const manifest: Manifest = {
      format: 1,
      schema: await readSchemaVersion(tx),
      time: new Date().toISOString(),
      tables: {},
      sequences: await readSequences(tx),
    };
    for (const table of await listTables(tx)) {
      progress(table.name);
      manifest.tables[table.name] = await exportTable(tx, folder, table, tenantIds);
    }
    fs.writeFileSync(path.join(folder, 'export.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    return sum(Object.values(manifest.tables).map(({ rows }) => rows));
  };
  return begin(owner, work, 'isolation level repeatable read read only');
}

async function exportTable(tx: Tx, folder: string, { name, hasTenant, order }: Table, tenantIds: string[]) {
  const hash = createHash('sha256');
  const file = await fs.promises.open(fileOf(folder, name), 'wx', 0o600);
  let rows = 0;
  const write = async (condition: ReturnType<typeof raw>) => {
    const query = tx<{ line: string }[]>`
      select to_jsonb(t)::text as line from ${raw(tx, name)} t ${condition} order by ${raw(tx, order)}`;
    for await (const fetched of query.cursor(1_000)) {
      const text = fetched.map(({ line }) => `${line}\n`).join('');
      hash.update(text);
      await file.write(text);
      rows += fetched.length;
    }
  };
  try {
    if (!hasTenant) await write(tx``);
    for (const tenantId of hasTenant ? tenantIds : []) {
      // In some tables row-level security shows even the owner only one tenant at a time.
      await tx`select set_config('banyan.tenant', ${tenantId}, true)`;
      await write(tx`where t.tenant_id = ${tenantId}`);
    }
  } finally {
    await file.close();
  }
  return { rows, sha256: hash.digest('hex') };
}

/** Inserts the rows of an export (`exportTables`) into an empty database: all or none. Returns the number of rows. */
export async function importTables(owner: Sql, folder: string, progress: Progress): Promise<number> {
  const manifest = readManifest(folder);
  return begin(
    owner,
    async (tx) => {
      await tx`select set_config('search_path', 'banyan', true), set_config('TimeZone', 'UTC', true)`;
      const tables = await listTables(tx);
      await assertImportable(tx, manifest, tables);
      // Rows that the first start created are in the export too.
      await tx.unsafe(`truncate ${tables.map(({ name }) => name).join(', ')} cascade`);
      await withoutTriggers(tx, tables, async () => {
        for (const table of tables) {
          progress(table.name);
          await importTable(tx, folder, table, manifest.tables[table.name] as Manifest['tables'][string]);
        }
      });
      for (const [name, value] of Object.entries(manifest.sequences)) {
        await tx`select setval(${`banyan.${name}`}::regclass, ${value}::text::bigint, false)`;
      }
      return sum(Object.values(manifest.tables).map(({ rows }) => rows));
    },
    'isolation level read committed read write',
  );
}

/** The maximum number of rows, and about the maximum number of characters, that one statement inserts. */
const CHUNK = { rows: 1_000, length: 4_000_000 };

async function importTable(
  tx: Tx,
  folder: string,
  { name, hasTenant }: Table,
  expected: { rows: number; sha256: string },
): Promise<void> {
  const hash = createHash('sha256');
  let chunk: string[] = [];
  let length = 0;
  let tenantId: string | undefined;
  const insert = async () => {
    if (chunk.length === 0) return;
    if (tenantId !== undefined) await tx`select set_config('banyan.tenant', ${tenantId}, true)`;
    await tx`
      insert into ${raw(tx, name)}
      select * from jsonb_populate_recordset(null::${raw(tx, name)}, ${`[${chunk.join(',')}]`}::text::jsonb)`;
    chunk = [];
    length = 0;
  };
  let rows = 0;
  for await (const line of readLines(fileOf(folder, name), (bytes) => hash.update(bytes))) {
    // Rows of the table tenants are inserted as 000000, which sees all of its descendants. Rows of other tables are inserted as
    // their own tenant.
    const insertAs =
      hasTenant && name !== 'tenants'
        ? (JSON.parse(line).tenant_id as string)
        : name === 'tenants'
          ? ROOT_TENANT
          : undefined;
    if (insertAs !== tenantId || chunk.length === CHUNK.rows || length > CHUNK.length) await insert();
    tenantId = insertAs;
    chunk.push(line);
    length += line.length;
    rows++;
  }
  await insert();
  if (rows !== expected.rows || hash.digest('hex') !== expected.sha256) {
    throw new StartupError(
      `The file ${name}.ndjson differs from what was exported. Export again, or copy the folder again.`,
    );
  }
}

/**
 * Yields the lines of a file, and passes its bytes to `onBytes`. Only \n ends a line: Node's readline may also end one at U+2028
 * and U+2029, which a name may contain.
 */
async function* readLines(file: string, onBytes: (bytes: Buffer) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of fs.createReadStream(file) as AsyncIterable<Buffer>) {
    onBytes(bytes);
    const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function readManifest(folder: string): Manifest {
  const file = path.join(folder, 'export.json');
  if (!fs.existsSync(file)) {
    throw new StartupError(`There is no export in ${folder}: export.json, which an export writes last, is missing.`);
  }
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8')) as Manifest;
  if (manifest.format !== 1) throw new StartupError(`The format of the export in ${folder} is not known.`);
  return manifest;
}

/** Locks out all other writers, and throws unless the database has the same tables and no data. */
async function assertImportable(tx: Tx, manifest: Manifest, tables: Table[]): Promise<void> {
  await tx`lock table tenants in access exclusive mode`;
  await tx`select set_config('banyan.tenant', ${ROOT_TENANT}, true)`;
  const [found] = await tx<[{ tenants: number; departments: number; users: number }]>`
    select (select count(*)::int from tenants where tenant_id <> ${ROOT_TENANT}) as tenants,
      (select count(*)::int from departments) as departments,
      (select count(*)::int from users where tenant_id = ${ROOT_TENANT}) as users`;
  if (found.tenants > 0 || found.departments > 0 || found.users > 1) {
    throw new StartupError(
      `The database is not empty: it has ${found.tenants} tenants besides ${ROOT_TENANT}, ${found.departments} departments and ` +
        `${found.users} users of ${ROOT_TENANT}. Import into a new database, in which the service has been started at most once.`,
    );
  }
  const schema = await readSchemaVersion(tx);
  const [own, theirs] = [tables.map(({ name }) => name).sort(), Object.keys(manifest.tables).sort()];
  if (schema !== manifest.schema || own.join() !== theirs.join()) {
    throw new StartupError(
      `The export has the tables of another version (${manifest.schema} instead of ${schema}). ` +
        'Import it with the version that exported it, and then update.',
    );
  }
}

/** Runs work that inserts rows in any order, without recording them as changes. References are checked at the end. */
async function withoutTriggers(tx: Tx, tables: Table[], work: () => Promise<void>): Promise<void> {
  const names = tables.map(({ name }) => name);
  const references = await tx<{ table: string; name: string }[]>`
    select r.relname as table, c.conname as name from pg_constraint c join pg_class r on r.oid = c.conrelid
    where c.contype = 'f' and r.relnamespace = 'banyan'::regnamespace and r.relname = any (${names})`;
  const alterReferences = async (how: string) => {
    for (const { table, name } of references) await tx.unsafe(`alter table ${table} alter constraint ${name} ${how}`);
  };
  await alterReferences('deferrable initially deferred');
  for (const name of names) await tx.unsafe(`alter table ${name} disable trigger user`);
  await work();
  await tx`set constraints all immediate`;
  for (const name of names) await tx.unsafe(`alter table ${name} enable trigger user`);
  await alterReferences('not deferrable');
}

interface Table {
  name: string;
  hasTenant: boolean;
  /** The columns of the primary key. */
  order: string;
}

async function listTables(tx: Tx): Promise<Table[]> {
  return tx<Table[]>`
    select r.relname as name, bool_or(a.attname = 'tenant_id') as "hasTenant",
      coalesce(string_agg(a.attname::text, ', ' order by array_position(i.indkey::int2[], a.attnum))
        filter (where a.attnum = any (i.indkey::int2[])), '1') as order
    from pg_class r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
      left join pg_index i on i.indrelid = r.oid and i.indisprimary
    where r.relnamespace = 'banyan'::regnamespace and r.relkind = 'r' and r.relname <> all (${Object.keys(LEFT_OUT)})
    group by r.relname order by r.relname`;
}

/** Returns the ids of all tenants, and `none`, which has the logins to unknown tenants. */
async function listTenants(tx: Tx): Promise<string[]> {
  const rows = await tx<{ tenantId: string }[]>`select tenant_id as "tenantId" from tenants order by path`;
  return [...rows.map(({ tenantId }) => tenantId), 'none'];
}

async function readSchemaVersion(tx: Tx): Promise<string> {
  const [row] = await tx<[{ name: string }]>`select name from migrations order by version desc limit 1`;
  return row.name;
}

async function readSequences(tx: Tx): Promise<Record<string, string>> {
  const names = await tx<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'banyan'::regnamespace and relkind = 'S' order by relname`;
  const values: Record<string, string> = {};
  for (const { name } of names) {
    const [row] = await tx<[{ next: string }]>`
      select (last_value + is_called::int)::text as next from ${raw(tx, name)}`;
    values[name] = row.next;
  }
  return values;
}

const fileOf = (folder: string, table: string) => path.join(folder, `${table}.ndjson`);

const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
