/** Returns the code of an error: PostgreSQL's SQLSTATE or a code of the driver or the system. An error without one has ''. */
export const errorCode = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/** Returns the name of the constraint or unique index that a statement violated, or ''. */
export const constraintOf = (error: unknown): string =>
  String((error as { constraint_name?: unknown } | null)?.constraint_name ?? '');

/** Whether a connection broke or was refused, or the server is unreachable: codes of the driver and of the system. */
export const isConnectionLost = (code: string): boolean =>
  /^(CONNECTION_|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ERR_STREAM_)/.test(code);

/** Whether PostgreSQL sent the error, as opposed to the driver or the system. */
export const isFromPostgres = (error: unknown): boolean => severityOf(error) !== undefined;

/** Whether PostgreSQL ended the connection with this error, or did not open it. */
export const isFatal = (error: unknown): boolean => severityOf(error) === 'FATAL';

const severityOf = (error: unknown) => (error as { severity?: string } | null)?.severity;

/** Whether the server rejected a write because it is a standby. It rejects `begin read write` like an unsupported setting. */
export const isStandby = (error: unknown): boolean =>
  errorCode(error) === '25006' ||
  (errorCode(error) === '0A000' && (error as { routine?: string }).routine === 'call_bool_check_hook');

/**
 * Whether the database cannot be used: it refuses or drops connections, has no free connection, is starting or shutting down, is
 * a standby, cancelled a statement, or its disk is full.
 */
export function isUnavailable(error: unknown): boolean {
  const code = errorCode(error);
  return (
    isFatal(error) ||
    isConnectionLost(code) ||
    isStandby(error) ||
    /^(CONNECT_|ENOENT|ENOTFOUND|EAI_|08|53|57|58)/.test(code) ||
    // 25P02: a statement after a failed one. 25P03: idle_in_transaction_session_timeout.
    ['25P02', '25P03'].includes(code) ||
    // Storage errors without an SQLSTATE of their own, such as an exceeded disk quota.
    (code === 'XX000' && ['md.c', 'fd.c', 'xlog.c'].includes((error as { file?: string }).file ?? ''))
  );
}

/** Whether the transaction conflicted with another one and may succeed when it is run again. */
export const isRetryable = (code: string): boolean => [DEADLOCK_DETECTED, SERIALIZATION_FAILURE].includes(code);

const DEADLOCK_DETECTED = '40P01';
const SERIALIZATION_FAILURE = '40001';

/** Thrown inside a transaction that needs another lock, but out of the lock order: it is rolled back and run again. */
export class RetryTransactionError extends Error {
  readonly code = SERIALIZATION_FAILURE;
}

/** Rolls back a transaction that has no time left before its deadline: the caller receives TOO_BUSY and may send a retry. */
export class DeadlineExceededError extends Error {}
