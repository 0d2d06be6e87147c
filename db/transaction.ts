import { setImmediate } from 'node:timers/promises';
import { LOCKS, type Sql, type Tx } from './driver.ts';
import { errorCode, isConnectionLost } from './errors.ts';

/**
 * The isolation level, and whether the transaction writes. Every transaction states its level, because an administrator may
 * have changed the default: locks and the checks after them rely on the new snapshot of each statement in `read committed`,
 * and lists and their totals on the one snapshot of `repeatable read`.
 */
export type TransactionMode =
  `isolation level ${'read committed' | 'repeatable read'}${'' | ' read write' | ' read only'}`;

/** Runs `work` in a transaction. Until it ends, nothing else may use the connection. */
export async function begin<T>(sql: Sql, work: (tx: Tx) => Promise<T>, mode: TransactionMode): Promise<T> {
  // Sent together with the first statement of `work`, so it costs no round trip of its own.
  const started = sql.unsafe(`begin ${mode}`).execute();
  return runWork(sql, started, work, {
    allowEarlyCommit: true,
    commit: async (connection, committing = connection`commit`) => {
      const { command } = await committing;
      // PostgreSQL rolls back instead if a statement failed, even if `work` ignored the error.
      if (command !== 'COMMIT') throw new Error(`The transaction ended with ${command}.`);
    },
    rollback: (connection) =>
      connection`rollback`.catch((cause) => {
        const error = new Error('The transaction could not be rolled back.', { cause });
        throw Object.assign(error, { code: 'CONNECTION_UNUSABLE' });
      }),
  });
}

/**
 * Runs a transaction of the tables' owner that holds the migration lock, so that one process at a time prepares the
 * database. Lock and settings are local to the transaction: behind a pooler the next one may use another connection.
 */
export const withMigrationLock = <T>(owner: Sql, work: (tx: Tx) => Promise<T>): Promise<T> =>
  begin(
    owner,
    async (tx) => {
      await tx`select pg_advisory_xact_lock(${LOCKS.migrate})`;
      await tx`select set_config('search_path', 'banyan', true)`;
      return work(tx);
    },
    // Each statement takes a new snapshot, so `work` sees what another process committed while we waited for the lock.
    'isolation level read committed read write',
  );

/**
 * Sends the last statements of a transaction together with its commit, which saves a round trip. `work` must send all of
 * them at once, and their results must not be a reason to roll back.
 */
export async function commitWith<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const working = work();
  let failed = false;
  working.catch(() => {
    failed = true;
  });
  // The driver sends a statement a few microtasks after it was created, and the commit has to be sent last.
  await setImmediate();
  if (!failed) earlyCommits.get(tx)?.();
  return working;
}
const earlyCommits = new WeakMap<Tx, () => void>();

/** Runs part of a transaction in a savepoint. If it fails, the rest of the transaction can go on. */
export const withSavepoint = <T>(tx: Tx, work: (inner: Tx) => Promise<T>): Promise<T> =>
  runWork(tx, tx`savepoint attempt`.execute(), work, {
    commit: (inner) => inner`release savepoint attempt`,
    rollback: (inner) => inner`rollback to savepoint attempt`,
  });

interface Ending {
  commit: (connection: Sql | Tx, committing?: PromiseLike<{ command: string }>) => PromiseLike<unknown>;
  rollback: (connection: Sql | Tx) => PromiseLike<unknown>;
  /** Whether `commitWith` may send the commit. */
  allowEarlyCommit?: boolean;
}

async function runWork<T>(
  sql: Sql | Tx,
  started: PromiseLike<unknown>,
  work: (tx: Tx) => Promise<T>,
  ending: Ending,
): Promise<T> {
  let ended = false;
  let cause: unknown;
  let committing: Promise<{ command: string }> | undefined;
  const apply = (target: Sql | Tx, self: unknown, args: unknown[]) => {
    // Statements that `work` left behind when it failed must not run in the next transaction of this connection.
    if (ended) throw new Error('The transaction is over.');
    const query = Reflect.apply(target as never, self, args) as { reject?: (error: unknown) => void };
    const { reject } = query;
    // The driver calls `reject` in the order of the statements, whichever of them `work` awaits first.
    if (reject) {
      query.reject = (error) => {
        if (errorCode(error) !== IN_FAILED_TRANSACTION) cause = error;
        reject(error);
      };
    }
    return query;
  };
  const tx = new Proxy(sql, { apply }) as Tx;
  const commitEarly = () => {
    ended = true;
    committing = sql`commit`.then((result) => result);
    // The commit is awaited below, unless `work` fails first; then nothing else would handle its rejection.
    committing.catch(() => {});
  };
  if (ending.allowEarlyCommit) earlyCommits.set(tx, commitEarly);
  try {
    const [, value] = await Promise.all([started, work(tx)]);
    ended = true;
    await ending.commit(sql, committing);
    return value;
  } catch (error) {
    ended = true;
    // PostgreSQL rolls back the transaction of a lost connection by itself.
    if (!isConnectionLost(errorCode(error))) await ending.rollback(sql);
    // When statements are sent together, those after a failed one fail too: report the one that caused it.
    throw errorCode(error) === IN_FAILED_TRANSACTION ? (cause ?? error) : error;
  }
}

/** The SQLSTATE of statements that follow a failed one in the same transaction. */
const IN_FAILED_TRANSACTION = '25P02';
