import type { FastifyReply, FastifyRequest } from 'fastify';
import { toApiError } from '../http/envelope.ts';
import { ApiError, type ErrorCode } from '../http/errors.ts';

/** The error codes of RFC 6749 5.2 and RFC 6750 3.1, and those of RFC 6749 4.1.2.1 for errors of the service itself. */
const statuses = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  invalid_token: 401,
  insufficient_scope: 403,
  server_error: 500,
  temporarily_unavailable: 503,
} as const;
type OAuthErrorCode = keyof typeof statuses;

/** An error in the form of the OAuth standards, without our envelope. Its description is English: it may contain ASCII only. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  readonly status: number;
  /** Seconds to wait before a retry. */
  readonly retryAfter: number | undefined;

  constructor(
    code: OAuthErrorCode,
    description: string,
    { status, retryAfter }: { status?: number; retryAfter?: number } = {},
  ) {
    // RFC 6749 allows neither quotation marks nor backslashes.
    super(description.replace(/["\\]/g, "'").replace(/[^ -~]/g, '?'));
    this.code = code;
    this.status = status ?? statuses[code];
    this.retryAfter = retryAfter;
  }
}

/** Errors of the grant: the refresh token, or the account or tenant that it belongs to, is no longer valid. */
const grantErrors = new Set<ErrorCode>([
  'REFRESH_REFUSED',
  'SESSION_ENDED',
  'USER_DELETED',
  'USER_DISABLED',
  'TENANT_DELETED',
  'TENANT_DISABLED',
  'TENANT_NOT_STARTED',
  'TENANT_ENDED',
]);

const NOT_A_FORM = 'The body must be a form with the content type application/x-www-form-urlencoded.';

function fromApiError(error: ApiError): OAuthError {
  const { code, status, details } = error;
  const text = error.text('en');
  if (grantErrors.has(code)) return new OAuthError('invalid_grant', text);
  if (status === 429 || status === 503) {
    return new OAuthError('temporarily_unavailable', text, { status, retryAfter: Number(details.seconds ?? 2) });
  }
  if (status >= 500) return new OAuthError('server_error', text);
  if (code === 'NOT_JSON' || code === 'BODY_REQUIRED') return new OAuthError('invalid_request', NOT_A_FORM);
  // Keep statuses that are about the request as such, for example 413.
  return new OAuthError('invalid_request', text, { status: status === 401 || status === 403 ? 400 : status });
}

/** Sends any error in the form of RFC 6749 5.2. BANYAN_ERROR_STATUS does not apply: clients rely on the status. */
export function sendOAuthError(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const error = thrown instanceof OAuthError ? thrown : fromApiError(toApiError(thrown, request));
  reply.errorStatus = error.status;
  if (error.code === 'invalid_client') reply.header('www-authenticate', 'Basic realm="banyan", charset="UTF-8"');
  if (error.code === 'invalid_token' || error.code === 'insufficient_scope') {
    reply.header('www-authenticate', `Bearer realm="banyan", error="${error.code}"`);
  }
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter));
  if (error.status === 408) reply.header('connection', 'close');
  return reply
    .code(error.status)
    .headers({ 'content-type': JSON_TYPE, 'cache-control': 'no-store', pragma: 'no-cache' })
    .send(JSON.stringify({ error: error.code, error_description: error.message }));
}

/**
 * The same for operations that programs call with an API key or a token of one (RFC 6750). A 401 or 403 is about the caller,
 * not about a grant.
 */
export function sendCallerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const error = thrown instanceof OAuthError ? thrown : toApiError(thrown, request);
  return sendOAuthError(error instanceof ApiError ? fromCallerError(error, request) : error, request, reply);
}

function fromCallerError(error: ApiError, { clientId }: FastifyRequest): unknown {
  const { code, status } = error;
  if (status !== 401 && status !== 403) return error;
  if (code === 'NOT_ALLOWED')
    return new OAuthError('insufficient_scope', "This requires an API key with the permission 'check'.");
  const isClient = clientId !== null || code === 'NO_TOKEN';
  return new OAuthError(isClient ? 'invalid_client' : 'invalid_token', error.text('en'));
}

export const JSON_TYPE = 'application/json; charset=utf-8';
