import net from 'node:net';
import { setImmediate } from 'node:timers/promises';
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

/** How long the service's connections may take. Tests pass other values. */
export interface ConnectionTiming {
  /** Shorter than the service's own deadline, so that a blocked statement does not keep its connection. */
  statementMs: number;
  idleInTransactionMs: number;
  /** Work that waited longer than this for a connection is not begun: its caller has been answered. */
  waitMs: number;
  /** How often connections are checked for silence; after five checks without a byte one is given up. */
  checkMs: number;
}

export const defaultConnectionTiming: ConnectionTiming = {
  statementMs: 8_000,
  idleInTransactionMs: 20_000,
  waitMs: 8_000,
  checkMs: 5_000,
};

/** Of each of the service's connections, and of its role: a pooler passes no such settings on (docs/operations.md). */
export const settingsOf = ({ statementMs, idleInTransactionMs }: ConnectionTiming) => ({
  search_path: 'banyan',
  statement_timeout: `${statementMs}`,
  idle_in_transaction_session_timeout: `${idleInTransactionMs}`,
  // Plans are kept. One that was made while a table was small must not read the whole of it when it is large. Where
  // there is no other way the cost that is put on it must not make PostgreSQL compile the plan.
  enable_seqscan: 'off',
  jit: 'off',
});

/** Makes the service's connections, one at each call. */
export function connectService(target: Target, timeZone: string, timing: ConnectionTiming): (watch: Watch) => Sql {
  // `current_date` and the texts of times are of this zone.
  const settings = { ...settingsOf(timing), TimeZone: timeZone };
  let first: Sql | undefined;
  return (watch) => {
    const sql = connect(target, watch, settings, first?.options);
    first ??= sql;
    return sql;
  };
}

/** One connection that prepares the database, however long that takes, and holds locks until it is `lost`. */
export const connectOwner = (target: Target, lost = () => {}): Sql => connect(target, { lost }, {});

/** What is told of a connection. */
export interface Watch {
  opened?: (socket: net.Socket) => void;
  lost: () => void;
}

/**
 * One connection, opened when it is first used. Once lost it stays lost, and whatever is asked of it fails: the driver
 * (3.4.9) would connect again, and might send what is left of a dead transaction, or never send anything any more.
 * `like`: the options of another one, with the types of the database that it asked for.
 */
function connect(
  { url, ...target }: Target,
  watch: Watch,
  settings: Record<string, string>,
  like?: Sql['options'],
): Sql {
  let opened = false;
  const own = {
    socket: ({ path, host: [host], port: [port] }: { path: string | false; host: string[]; port: number[] }) => {
      if (opened) return lostSocket();
      opened = true;
      const socket = new net.Socket();
      // Not at once: an address that cannot be reached may fail before the driver listens.
      queueMicrotask(() => (path ? socket.connect(path) : socket.connect(port as number, host as string)));
      watch.opened?.(socket);
      // The driver compares the certificate with it.
      return Object.assign(socket, { host });
    },
    onclose: watch.lost,
  };
  if (like) return postgres({ ...like, ...own, fetch_types: !knowsTypes(like) } as never) as Sql;
  const options = {
    ...target,
    ...own,
    max: 1,
    connect_timeout: 10,
    backoff: () => 0,
    // By default the driver renews connections every hour or so, and locks would go with them.
    max_lifetime: null,
    onnotice: () => {},
    types: {
      // Every bigint that is read this way is at most 2^53-1 by its sequence; tenants' ids are read as text.
      bigint: { to: 20, from: [20], serialize: (n: number) => String(n), parse: (text: string) => Number(text) },
    },
    connection: { application_name: `banyan ${process.pid}`, search_path: 'banyan', ...settings },
  } as postgres.Options<{ bigint: postgres.PostgresType<number> }>;
  if (!url) return postgres({ ...options, port: 5432 }) as Sql;
  // A Unix socket, as libpq spells it: `?host=/folder`, or the folder escaped as the host.
  const address = new URL(url);
  const folder = [address.searchParams.get('host'), decodeURIComponent(address.hostname)].find(
    (name) => name?.[0] === '/',
  );
  address.searchParams.delete('host');
  return postgres(address.href, { ...options, ...(folder ? { host: folder } : {}) }) as Sql;
}

const knowsTypes = (options: object): boolean =>
  Object.keys((options as { shared: { typeArrayMap: object } }).shared.typeArrayMap).length > 0;

/** Fails once the driver listens to it. */
function lostSocket(): net.Socket {
  const socket = new net.Socket();
  const error = Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' });
  setImmediate().then(() => socket.destroy(error));
  return socket;
}

/** A transaction: what `work` does counts as a whole, or not at all. Nobody else may use the connection meanwhile. */
export async function begin<T>(sql: Sql, work: (tx: Tx) => Promise<T>, mode = ''): Promise<T> {
  // Sent together with the first statement of `work`.
  const begun = sql.unsafe(`begin ${mode}`).execute();
  return within(sql, begun, work, {
    early: true,
    done: async (tx, committing = tx`commit`) => {
      const { command } = await committing;
      // A failed statement that `work` made nothing of: PostgreSQL did, and has rolled back.
      if (command !== 'COMMIT') throw new Error(`The transaction ended with ${command}.`);
    },
    undo: (tx) =>
      tx`rollback`.catch((cause) => {
        throw Object.assign(new Error('It could not be rolled back.', { cause }), { code: 'CONNECTION_UNSURE' });
      }),
  });
}

/**
 * A transaction of the tables' owner, who prepares them one process at a time. Lock and settings are the transaction's
 * own: behind a pooler the next one may be on another connection.
 */
export const beginAlone = <T>(owner: Sql, work: (tx: Tx) => Promise<T>): Promise<T> =>
  begin(
    owner,
    async (tx) => {
      await tx`select pg_advisory_xact_lock(${LOCKS.migrate})`;
      await tx`select set_config('search_path', 'banyan', true)`;
      return work(tx);
    },
    // What another process did while it was waited for is seen.
    'isolation level read committed',
  );

/**
 * The last statements of a transaction, with the commit sent right behind them: one wait instead of two. `work` sends
 * all of them at once, and nothing that they tell may be a reason to undo them.
 */
export async function commitWith<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const working = work();
  let failed = false;
  working.catch(() => {
    failed = true;
  });
  // The driver takes statements a few microtasks after they are written down, and the commit must come last.
  await setImmediate();
  if (!failed) endings.get(tx)?.();
  return working;
}
const endings = new WeakMap<Tx, () => void>();

/** A part of a transaction that may fail on its own. */
export const attempt = <T>(tx: Tx, work: (inner: Tx) => Promise<T>): Promise<T> =>
  within(tx, tx`savepoint attempt`.execute(), work, {
    done: (inner) => inner`release savepoint attempt`,
    undo: (inner) => inner`rollback to savepoint attempt`,
  });

async function within<T>(
  sql: Sql | Tx,
  begun: PromiseLike<unknown>,
  work: (tx: Tx) => Promise<T>,
  end: {
    done: (tx: Sql | Tx, committing?: PromiseLike<{ command: string }>) => PromiseLike<unknown>;
    undo: (tx: Sql | Tx) => PromiseLike<unknown>;
    /** Whether `commitWith` may end it. */
    early?: boolean;
  },
): Promise<T> {
  let over = false;
  let failed: unknown;
  let committing: Promise<{ command: string }> | undefined;
  // What `work` left running when it failed must not go on in the next transaction of this connection.
  const apply = (target: Sql | Tx, self: unknown, args: unknown[]) => {
    if (over) throw new Error('The transaction is over.');
    const query = Reflect.apply(target as never, self, args) as { reject?: (error: unknown) => void };
    const { reject } = query;
    // How the driver tells a failure; it does so in the order of the statements, whoever hears of it first.
    if (reject) {
      query.reject = (error) => {
        if (codeOf(error) !== ABORTED) failed = error;
        reject(error);
      };
    }
    return query;
  };
  const tx = new Proxy(sql, { apply }) as Tx;
  const commit = () => {
    over = true;
    committing = sql`commit`.then((result) => result);
    // It is waited for below, unless something else fails before.
    committing.catch(() => {});
  };
  if (end.early) endings.set(tx, commit);
  try {
    const [, value] = await Promise.all([begun, work(tx)]);
    over = true;
    await end.done(sql, committing);
    return value;
  } catch (error) {
    over = true;
    // What was lost with its connection has been undone.
    if (!isLost(codeOf(error))) await end.undo(sql);
    // Of statements that were sent together the later ones fail because of an earlier one: that is the reason.
    throw codeOf(error) === ABORTED ? (failed ?? error) : error;
  }
}

/** PostgreSQL's word for whatever comes behind a statement that failed, until the transaction ends. */
const ABORTED = '25P02';

/**
 * The driver leaves a query of its own unwatched, by which it asks for the types of a database: lost with its
 * connection, it would end the process.
 */
export const outliveLostConnections = () =>
  process.on('unhandledRejection', (error) => {
    if (!isLost(codeOf(error))) throw error;
  });

/** The driver's words, and the system's, for a connection that was there and broke. */
export const isLost = (code: string): boolean =>
  /^(CONNECTION_|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ERR_STREAM_)/.test(code);

/** PostgreSQL's five letters for an error, or the driver's word for it. */
export const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/**
 * Ids whose number the planner does not see. For a few it would find the plan that it keeps for any number too dear, and
 * make a new one each time, which takes several times as long as to carry it out.
 */
export const anyNumberOf = (tx: Tx, ids: (string | number)[]): Fragment => tx`(select ${ids}::bigint[])`;

/** An id as PostgreSQL takes it. Digits beyond its bigint are no error: they match no row. */
export const long = (digits: string): string => (BigInt(digits) <= 9223372036854775807n ? digits : '-1');
