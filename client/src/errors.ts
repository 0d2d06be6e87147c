import type { Operations, Reason } from './generated/operations.ts';

/**
 * An error response of the service. `reason` is its stable code and `message` is for people, in the language of the client.
 * Later versions of the service may send codes that are not in `Reason`: handle those by `status`.
 */
export class ApiError<R extends string = Reason> extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly reason: R;
  /** Details of the error, such as `field` or `deptIds`. */
  readonly details: Record<string, unknown>;
  /** The wait that the service asked for with `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: number,
    reason: R,
    message: string,
    details: Record<string, unknown> = {},
    retryAfterMs?: number | undefined,
  ) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }
}

/** One type for each error code, so that `reason` tells them apart. */
export type ApiErrorWith<R extends Reason> = R extends Reason ? ApiError<R> : never;

/** The error codes of an operation: `ReasonOf<'readDepartment'>`. */
export type ReasonOf<Name extends keyof Operations> = Operations[Name]['reason'];

/** Whether an error is a response of the service: any, or one with one of the given codes. */
export const isApiError = <R extends Reason = Reason>(error: unknown, ...reasons: R[]): error is ApiErrorWith<R> =>
  error instanceof ApiError && (reasons.length === 0 || reasons.includes(error.reason as R));

/** No response came from the service: there is no network, the service is down, or a proxy cannot reach it. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
}

/** An error in the format of OAuth (RFC 6749), which the OAuth operations return. It has no `reason`. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly status: number;
  /** The code, such as `invalid_client`. */
  readonly error: string;

  constructor(status: number, error: string, description: string) {
    super(description || error);
    this.status = status;
    this.error = error;
  }
}
