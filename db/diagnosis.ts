import type { Sql } from './driver.ts';
import { shipped } from './migrate.ts';

/** Facts about the database, for the operator's check (server/cli/doctor-command.ts). All of them can be read by the service's role. */

export interface ServerFacts {
  version: string;
  autovacuum: boolean;
  maxConnections: number;
  /** Transactions since the oldest row that is not frozen. PostgreSQL stops accepting writes at about 2^31. */
  transactionAge: number;
}

export async function readServerFacts(sql: Sql): Promise<ServerFacts> {
  const [facts] = await sql<[ServerFacts]>`
    select current_setting('server_version') as version, current_setting('autovacuum')::boolean as autovacuum,
      current_setting('max_connections')::int as "maxConnections", age(datfrozenxid) as "transactionAge"
    from pg_database where datname = current_database()`;
  return facts;
}

/**
 * Returns by how much the database's clock is ahead of ours, and the uncertainty of that measurement: half of the round trip.
 */
export async function measureClock(sql: Sql): Promise<{ aheadMs: number; uncertaintyMs: number }> {
  const sentAt = Date.now();
  const [{ now }] = await sql<[{ now: number }]>`select extract(epoch from clock_timestamp())::float8 * 1000 as now`;
  const uncertaintyMs = (Date.now() - sentAt) / 2;
  return { aheadMs: Math.round(now - sentAt - uncertaintyMs), uncertaintyMs: Math.ceil(uncertaintyMs) };
}

interface Index {
  name: string;
  /** The statement that creates it. */
  statement: string;
}

/** Returns indexes that PostgreSQL does not use, because building them failed, and indexes of the migrations that are missing. */
export async function findIndexProblems(sql: Sql): Promise<{ checked: number; invalid: string[]; missing: Index[] }> {
  const rows = await sql<{ name: string; valid: boolean }[]>`
    select c.relname as name, i.indisvalid and i.indisready as valid
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = 'banyan'::regnamespace order by c.relname`;
  const names = new Set(rows.map(({ name }) => name));
  return {
    checked: rows.length,
    invalid: rows.filter(({ valid }) => !valid).map(({ name }) => name),
    missing: shippedIndexes().filter(({ name }) => !names.has(name)),
  };
}

const shippedFunctions = new Set(shipped.functions.map(({ name }) => name));

/** Returns the indexes that the migrations create and do not drop again, except those of keys, which PostgreSQL names. */
function shippedIndexes(): Index[] {
  const indexes = new Map<string, Index>();
  const pattern = /^(?:create (?:unique )?index (\w+) on [^;]*|drop index (?:if exists )?(\w+)|drop table (\w+));/gm;
  for (const { text } of shipped.migrations) {
    for (const [match, created, dropped, droppedTable] of text.replace(/--.*$/gm, '').matchAll(pattern)) {
      const statement = match
        .replace(/\s+/g, ' ')
        .replace(/ on (\w+)/, ' on banyan.$1')
        .replace(/\w+(?=\()/g, (name) => (shippedFunctions.has(`${name}.sql`) ? `banyan.${name}` : name));
      if (created) indexes.set(created, { name: created, statement });
      if (dropped) indexes.delete(dropped);
      if (droppedTable) {
        for (const [name, each] of indexes)
          if (each.statement.includes(` on banyan.${droppedTable} `)) indexes.delete(name);
      }
    }
  }
  return [...indexes.values()];
}

/** A table with at least this many dead rows, and more than this share of the live ones, is bloated. Autovacuum starts at 0.2. */
const BLOAT = { rows: 10_000, share: 0.4 };

export interface BloatedTable {
  table: string;
  dead: number;
  live: number;
}

/**
 * Returns tables whose dead rows (deleted rows and old row versions) take up a lot of space, as PostgreSQL's statistics estimate
 * them.
 */
export const findBloatedTables = (sql: Sql) => sql<BloatedTable[]>`
  select relname as table, n_dead_tup as dead, n_live_tup as live from pg_stat_user_tables
  where schemaname = 'banyan' and n_dead_tup >= ${BLOAT.rows} and n_dead_tup > ${BLOAT.share}::float8 * n_live_tup
  order by n_dead_tup desc`;
