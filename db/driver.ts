import net from 'node:net';
import { setImmediate } from 'node:timers/promises';
import postgres from 'postgres';
import { errorCode, isConnectionLost } from './errors.ts';

export type Sql = postgres.Sql<{ bigint: number }>;
/** A connection inside a transaction. A function that takes a `Tx` cannot run statements outside of it. */
export type Tx = postgres.TransactionSql<{ bigint: number }>;

/** Part of a statement, to be embedded in another. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** A statement that is sent when it is awaited. */
export type Query<Row extends object> = postgres.PendingQuery<Row[]>;

/** Embeds SQL text in a statement. The text must never contain anything that a caller sent. */
export const raw = (tx: Tx, text: string): Fragment => tx.unsafe(text) as unknown as Fragment;

/** Keys of the advisory locks that Banyan takes in its database. */
export const LOCKS = { service: 828201, migrate: 828202, departmentLevels: 828203 };

/** Where to connect to, and as which role. */
export interface Target {
  url?: string | undefined;
  host?: string;
  database?: string;
  username?: string;
  password?: string;
}

/** Time limits of the service's connections. Tests pass other values. */
export interface ConnectionTiming {
  /** How long opening a connection may take. */
  connectMs: number;
  /**
   * With several hosts: how long a server may take to accept a connection and to respond before the next one is tried. A server
   * whose connections are silent has the same time to show that it is alive.
   */
  hostMs: number;
  /** Shorter than the service's own deadline, so that a blocked statement releases its connection in time. */
  statementMs: number;
  idleInTransactionMs: number;
  /**
   * How long a transaction that holds the lock of the tenant tree waits for each further lock. Changes of other tenants
   * wait for it meanwhile.
   */
  treeLockMs: number;
  /** Work that waited longer than this for a connection is not started: its caller gets TOO_BUSY. */
  waitMs: number;
  /** How often connections are checked. After two checks without a byte their server is probed, see liveness.ts. */
  checkMs: number;
}

export const defaultConnectionTiming: ConnectionTiming = {
  connectMs: 10_000,
  hostMs: 2_000,
  statementMs: 8_000,
  idleInTransactionMs: 20_000,
  treeLockMs: 1_000,
  waitMs: 8_000,
  checkMs: 1_000,
};

/**
 * Settings of every connection. Transactions state their isolation level themselves (`begin`); single statements, which are
 * transactions of their own, have the level of the connection.
 */
const everyConnection = { search_path: 'banyan', default_transaction_isolation: 'read committed' };

/**
 * Settings of each of the service's connections. The service's role has them too, because a pooler does not pass them on
 * (docs/operations.md).
 */
export const connectionSettings = ({ statementMs, idleInTransactionMs }: ConnectionTiming) => ({
  ...everyConnection,
  statement_timeout: `${statementMs}`,
  idle_in_transaction_session_timeout: `${idleInTransactionMs}`,
  // Plans are cached: one that was made while a table was small must not scan the table once it is large. Where a scan is
  // unavoidable, the high cost that this setting puts on it must not trigger JIT compilation.
  enable_seqscan: 'off',
  jit: 'off',
});

/** Returns a function that opens one of the service's connections at each call. */
export function connectService(
  timeZone: string,
  timing: ConnectionTiming,
): (listener: ConnectionListener, host: { target: Target }) => Sql {
  // `current_date`, and times that PostgreSQL formats, use this time zone.
  const settings = { ...connectionSettings(timing), TimeZone: timeZone };
  const first = new Map<Target, Sql>();
  return (listener, { target }) => {
    const sql = connect(target, listener, settings, timing.connectMs, first.get(target)?.options);
    if (!first.has(target)) first.set(target, sql);
    return sql;
  };
}

/**
 * Opens a connection as the owner of the tables. Its statements have no time limits: migrations and locks may take a long time.
 */
export const connectOwner = (
  target: Target,
  onLost = () => {},
  { connectMs }: Pick<ConnectionTiming, 'connectMs'> = defaultConnectionTiming,
): Sql => connect(target, { onLost }, everyConnection, connectMs);

/** Opens a connection to a database that is not ours, with the settings of its own role. */
export const connectSourceDatabase = (
  url: string,
  { connectMs }: Pick<ConnectionTiming, 'connectMs'> = defaultConnectionTiming,
): Sql => connect({ url }, { onLost: () => {} }, {}, connectMs);

export interface ConnectionListener {
  onOpen?: (socket: net.Socket) => void;
  onLost: () => void;
}

/**
 * Returns one connection, which is opened when it is first used. Once lost it stays lost, and every statement on it fails:
 * the driver (3.4.9) would reconnect, and then might send the rest of a dead transaction or stop sending anything.
 * `parsedOptions` are those of an earlier connection; they include the types that it has read from the database.
 */
function connect(
  { url, ...target }: Target,
  listener: ConnectionListener,
  settings: Record<string, string>,
  connectMs: number,
  parsedOptions?: Sql['options'],
): Sql {
  let opened = false;
  const hooks = {
    socket: ({ path, host: [host], port: [port] }: { path: string | false; host: string[]; port: number[] }) => {
      if (opened) return createLostSocket();
      opened = true;
      const socket = new net.Socket();
      // Connect a little later: an unreachable address may fail before the driver has added its listeners.
      queueMicrotask(() => (path ? socket.connect(path) : socket.connect(port as number, host as string)));
      listener.onOpen?.(socket);
      // The driver compares the server's certificate with `host`.
      return Object.assign(socket, { host });
    },
    onclose: listener.onLost,
  };
  if (parsedOptions) {
    return postgres({ ...parsedOptions, ...hooks, fetch_types: !hasTypes(parsedOptions) } as never) as Sql;
  }
  const options = {
    ...target,
    ...hooks,
    max: 1,
    connect_timeout: connectMs / 1000,
    backoff: () => 0,
    // By default the driver replaces connections after 30 to 60 minutes, which would release their locks.
    max_lifetime: null,
    onnotice: () => {},
    types: {
      // Every bigint that is read this way is at most 2^53-1: sequences limit ids, and check constraints and request schemas
      // limit the numbers of quotas. Ids of tenants are read as text.
      bigint: { to: 20, from: [20], serialize: (n: number) => String(n), parse: (text: string) => Number(text) },
      // A string is sent as it is, and PostgreSQL interprets it in the time zone of the connection. The driver would interpret it
      // in that of the process.
      date: {
        to: 1184,
        from: [1082, 1114, 1184],
        serialize: (time: Date | string) => (typeof time === 'string' ? time : time.toISOString()),
        parse: (text: string) => new Date(text),
      },
    },
    connection: { application_name: `banyan ${process.pid}`, ...settings },
  } as postgres.Options<{ bigint: postgres.PostgresType<number>; date: postgres.PostgresType<Date | string> }>;
  if (!url) return postgres({ ...options, port: 5432 }) as Sql;
  // libpq has two notations for a Unix socket: `?host=/folder`, and the escaped folder in place of the host.
  const address = new URL(url);
  const socketDir = [address.searchParams.get('host'), decodeURIComponent(address.hostname)].find(
    (name) => name?.[0] === '/',
  );
  address.searchParams.delete('host');
  return postgres(address.href, { ...options, ...(socketDir ? { host: socketDir } : {}) }) as Sql;
}

const hasTypes = (options: object): boolean =>
  Object.keys((options as { shared: { typeArrayMap: object } }).shared.typeArrayMap).length > 0;

/** Returns a socket that fails as soon as the driver has added its listeners. */
function createLostSocket(): net.Socket {
  const socket = new net.Socket();
  const error = Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' });
  setImmediate().then(() => socket.destroy(error));
  return socket;
}

/**
 * Keeps the process alive when a connection is lost while the driver reads the types of the database: it does not handle
 * the rejection of that query. Any other unhandled rejection is a defect and ends the process, lost connection or not.
 */
export const ignoreLostConnections = () =>
  process.on('unhandledRejection', (error) => {
    if (!isLostWhileReadingTypes(error)) throw error;
  });

/** The driver adds the text of the statement to an error. */
export const isLostWhileReadingTypes = (error: unknown): boolean =>
  isConnectionLost(errorCode(error)) &&
  /^\s*select b\.oid, b\.typarray\s/.test(String((error as { query?: unknown }).query));

/**
 * Passes ids so that the planner does not see how many there are. Otherwise a few ids would look cheaper than the generic
 * plan assumes, and PostgreSQL would plan the statement again each time, which takes several times as long as running it.
 */
export const idsForGenericPlan = (tx: Tx, ids: (string | number)[]): Fragment => tx`(select ${ids}::bigint[])`;

/** Returns an id that PostgreSQL accepts. Digits beyond the range of bigint are not an error: they match no row. */
export const bigintOf = (digits: string): string => (BigInt(digits) <= 9223372036854775807n ? digits : '-1');

/** Formats a timestamptz as UTC text with microseconds, which a Date would drop. */
export const exactTime = (sql: Sql | Tx, time: Fragment): Fragment =>
  sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
