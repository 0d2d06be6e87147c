import mysql from 'mysql2/promise';
import { connectSourceDatabase } from './driver.ts';
import { StartupError } from './startup-error.ts';

/** A row of another system. Every value is text: ids above 2^53-1 must not become numbers. */
export type SourceRow<Column extends string = string> = Record<Column, string | null>;

/** The columns of a table, by name, with their types as the database calls them. */
type SourceColumns = ReadonlyMap<string, string>;

/** A database of another system, in a read-only transaction: all reads see one snapshot, and nothing can be written. */
export interface SourceDatabase {
  /** The tables of the database or schema that the URL names, and their columns. */
  tables: ReadonlyMap<string, SourceColumns>;
  /** Reads columns of a table, as text. A column that does not exist is null. Names must never come from a caller. */
  select<Column extends string>(table: string, columns: readonly Column[]): Promise<SourceRow<Column>[]>;
  close(): Promise<void>;
}

/** The part of a driver that differs between the two kinds of database. */
interface Dialect {
  asText(column: string): string;
  schema: string;
  run(statement: string): Promise<SourceRow[]>;
  close(): Promise<void>;
}

/** Opens a MySQL, MariaDB or PostgreSQL database by its URL. */
export async function openSourceDatabase(url: string): Promise<SourceDatabase> {
  const dialect = await connect(url);
  try {
    const tables = await readTables(dialect);
    return {
      tables,
      async select(table, columns) {
        const known = tables.get(table);
        if (!known) return [];
        const list = columns.map((name) =>
          known.has(name) ? `${dialect.asText(name)} as ${name}` : `null as ${name}`,
        );
        return dialect.run(`select ${list.join(', ')} from ${table}`);
      },
      close: () => dialect.close(),
    };
  } catch (error) {
    await dialect.close();
    throw error;
  }
}

async function readTables(dialect: Dialect): Promise<Map<string, Map<string, string>>> {
  const rows = await dialect.run(
    `select ${dialect.asText('table_name')} as name, ${dialect.asText('column_name')} as col,
       ${dialect.asText('data_type')} as kind
     from information_schema.columns where table_schema = ${dialect.schema}`,
  );
  const tables = new Map<string, Map<string, string>>();
  for (const { name, col, kind } of rows) {
    const table = String(name).toLowerCase();
    const columns = tables.get(table) ?? new Map<string, string>();
    tables.set(table, columns.set(String(col).toLowerCase(), String(kind).toLowerCase()));
  }
  return tables;
}

function connect(url: string): Promise<Dialect> {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (/^postgres(ql)?:$/.test(protocol)) return connectPostgres(url);
  if (/^(mysql|mariadb):$/.test(protocol)) return connectMysql(url);
  throw new StartupError('The URL must begin with mysql:// or postgres://, such as mysql://user@host:3306/ry-vue.');
}

async function connectPostgres(url: string): Promise<Dialect> {
  const sql = connectSourceDatabase(url);
  try {
    await sql.unsafe('begin isolation level repeatable read read only');
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
  return {
    asText: (column) => `${column}::text`,
    schema: 'current_schema()',
    run: async (statement) => [...(await sql.unsafe<SourceRow[]>(statement))],
    close: () => sql.end({ timeout: 1 }),
  };
}

async function connectMysql(url: string): Promise<Dialect> {
  const connection = await mysql.createConnection({ uri: url.replace(/^mariadb:/, 'mysql:'), charset: 'utf8mb4' });
  // A lost connection fails the statement that uses it. Without a listener it would also end the process.
  connection.on('error', () => {});
  try {
    await connection.query('set session transaction isolation level repeatable read');
    await connection.query('start transaction with consistent snapshot, read only');
  } catch (error) {
    connection.destroy();
    throw error;
  }
  return {
    asText: (column) => `cast(${column} as char character set utf8mb4)`,
    schema: 'database()',
    run: async (statement) => (await connection.query<mysql.RowDataPacket[]>(statement))[0] as SourceRow[],
    close: () => connection.end().catch(() => connection.destroy()),
  };
}
