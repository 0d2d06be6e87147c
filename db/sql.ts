import postgres from 'postgres';

export type Sql = postgres.Sql<{ bigint: number }>;
/** Inside a transaction. What takes a `Tx` cannot escape it. */
export type Tx = postgres.TransactionSql<{ bigint: number }>;

/** A piece of a statement, to be put into another. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** Advisory locks of a database. */
export const LOCKS = { service: 828201, migrate: 828202 };

export interface Target {
  url?: string | undefined;
  host?: string;
  database?: string;
  username?: string;
  password?: string;
}

/** The service's many connections. */
export const connectService = (target: Target, connections: number, timeZone: string): Sql =>
  connect(target, connections, {
    // `current_date` and the texts of times are of this zone.
    TimeZone: timeZone,
    // Sooner than the service's own deadline, so that a blocked statement doesn't keep its connection.
    statement_timeout: 8_000,
    idle_in_transaction_session_timeout: 20_000,
  });

/** One connection that prepares the database, however long that takes, and holds locks until it is `lost`. */
export const connectOwner = (target: Target, lost = () => {}): Sql => connect(target, 1, {}, lost);

function connect(
  { url, ...target }: Target,
  max: number,
  settings: Record<string, string | number>,
  onclose = () => {},
): Sql {
  const options = {
    ...target,
    max,
    connect_timeout: 10,
    // By default the driver makes callers wait, up to 20 seconds, before it tries again a database that was away.
    backoff: () => 0.1,
    onclose,
    // By default the driver renews connections every hour or so, and locks would go with them.
    max_lifetime: null,
    onnotice: () => {},
    types: {
      // Every bigint that is read this way is at most 2^53-1 by its sequence; tenants' ids are read as text.
      bigint: { to: 20, from: [20], serialize: (n: number) => String(n), parse: (text: string) => Number(text) },
    },
    connection: { application_name: `banyan ${process.pid}`, search_path: 'banyan', ...settings },
  };
  if (!url) return postgres({ ...options, port: 5432 }) as Sql;
  // A Unix socket, as libpq spells it: `?host=/folder`, or the folder escaped as the host.
  const address = new URL(url);
  const socket = [address.searchParams.get('host'), decodeURIComponent(address.hostname)].find(
    (name) => name?.[0] === '/',
  );
  address.searchParams.delete('host');
  return postgres(address.href, { ...options, ...(socket ? { host: socket } : {}) }) as Sql;
}

/** A transaction: what `work` does counts as a whole, or not at all. */
export async function begin<T>(sql: Sql, work: (tx: Tx) => Promise<T>, mode = ''): Promise<T> {
  const { silence, giveUp } = untilGivenUp();
  const told = sql.begin(mode, async (tx) => ({ value: await unlessLost(work(tx), giveUp) }));
  const result = await Promise.race([told, silence]);
  return result.value;
}

/** A part of a transaction that may fail on its own. */
export async function attempt<T>(tx: Tx, work: (inner: Tx) => Promise<T>): Promise<T> {
  const { silence, giveUp } = untilGivenUp();
  const told = tx.savepoint(async (inner) => ({ value: await unlessLost(work(inner), giveUp) }));
  const result = await Promise.race([told, silence]);
  return result.value;
}

/**
 * A transaction whose connection is lost is over, and has nothing to roll back. The driver would send a rollback all the
 * same: to a socket that is gone, which ends the process, or into whatever its next connection is used for. So it does
 * not hear of the failure from us; it sees the lost connection itself, and tells the caller of that. When it was lost
 * between begin and work, the driver does not see it, and we tell.
 */
const unlessLost = <T>(work: Promise<T>, giveUp: (error: unknown) => void): Promise<T> =>
  work.catch((error) => {
    if (!isLost(codeOf(error))) throw error;
    setTimeout(giveUp, 500, error);
    return new Promise<never>(() => {});
  });

function untilGivenUp() {
  let giveUp: (error: unknown) => void = () => {};
  const silence = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  return { silence, giveUp };
}

/** The driver's words, and the system's, for a connection that was there and broke. */
export const isLost = (code: string): boolean =>
  /^(CONNECTION_|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ERR_STREAM_)/.test(code);

/** PostgreSQL's five letters for an error, or the driver's word for it. */
export const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/** An id as PostgreSQL takes it. Digits beyond its bigint are no error: they match no row. */
export const long = (digits: string): string => (BigInt(digits) <= 9223372036854775807n ? digits : '-1');
