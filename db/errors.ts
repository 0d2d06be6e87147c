/** Returns the code of an error: PostgreSQL's SQLSTATE or a code of the driver or the system. An error without one has ''. */
export const errorCode = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/** Returns the name of the constraint or unique index that a statement violated, or ''. */
export const constraintOf = (error: unknown): string =>
  String((error as { constraint_name?: unknown } | null)?.constraint_name ?? '');

/** Whether a connection that had been established broke: codes of the driver and of the system. */
export const isConnectionLost = (code: string): boolean =>
  /^(CONNECTION_|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ERR_STREAM_)/.test(code);

/** Whether the transaction conflicted with another one and may succeed when it is run again. */
export const isRetryable = (code: string): boolean => [DEADLOCK_DETECTED, SERIALIZATION_FAILURE].includes(code);

const DEADLOCK_DETECTED = '40P01';
const SERIALIZATION_FAILURE = '40001';

/** Thrown inside a transaction that holds its locks in the wrong order: it is rolled back and run again. */
export class RetryTransactionError extends Error {
  readonly code = SERIALIZATION_FAILURE;
}

/** Rolls back a transaction whose deadline has passed: the caller has already received TOO_BUSY and may send a retry. */
export class DeadlineExceededError extends Error {}
