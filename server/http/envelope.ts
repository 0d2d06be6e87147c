import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { DeadlineExceededError, errorCode, isRetryable, isUnavailable } from '../../db/errors.ts';
import type { Config } from '../config.ts';
import { ApiError, apiError, type Language } from './errors.ts';
import { languageOf } from './language.ts';
import { traceContextOf, tracedRequestId } from './trace-context.ts';
import { PATCH_TYPES, toValidationError } from './validation.ts';

/** The envelope of a success. `操作成功` is part of the API: it is the same in every language. */
export const ok = <T>(data: T) => ({ code: 200, msg: '操作成功', data }) as const;

/** The same envelope as text, for data that is serialized already. */
export const successEnvelope = (() => {
  const [before, after] = JSON.stringify(ok([])).split('[]') as [string, string];
  return { before, after };
})();

/** The response to a creation: it has no data, and `Location` contains the path of the new record. */
export function created(reply: FastifyReply, path: string) {
  reply.header('location', path);
  return ok(null);
}

/** Converts anything that was thrown to an API error. Unexpected errors are logged in full; the caller gets no internals. */
export function toApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  const { validation, validationContext = 'body', statusCode = 500, message } = error as FastifyError;
  if (validation) return toValidationError(validation, validationContext);
  const code = errorCode(error);
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return apiError('BODY_TOO_LARGE', { limit: request.routeOptions.bodyLimit ?? 0 });
    case 'FST_ERR_BAD_URL':
      return apiError('INVALID_UTF8');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return apiError('NOT_JSON');
  }
  // @fastify/static reports a path outside of its folder, such as `/docs/static/..`, as an error of its own.
  if (request.routeOptions.url === '/docs/static/*' && statusCode < 500) return apiError('PATH_NOT_FOUND');
  // The client disconnected while it was sending the body; it never receives this response.
  if (code === 'ECONNRESET' && statusCode === 400) return apiError('BAD_REQUEST', { cause: 'aborted' });
  if (code.startsWith('FST_') && statusCode < 500) return apiError('BAD_REQUEST', { cause: message });
  if (isTooBusy(error)) {
    const failure = isRetryable(code) ? 'transaction failed after several retries' : 'statement timed out';
    if (!(error instanceof DeadlineExceededError)) request.log.warn({ requestId: request.id, err: error }, failure);
    return apiError('TOO_BUSY');
  }
  if (isUnavailable(error)) {
    request.log.error({ requestId: request.id, err: error }, 'database unavailable');
    return apiError('DATABASE_AWAY');
  }
  request.log.error({ requestId: request.id, err: error }, 'internal error');
  return apiError('INTERNAL', { requestId: request.id });
}

/** The SQLSTATE of a statement that exceeded `statement_timeout`. */
const QUERY_CANCELED = '57014';
/** The SQLSTATE of a statement that exceeded `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Whether the caller gets `TOO_BUSY` for this error: their request waited too long for a connection or has no time left
 * before its deadline, its statement ran too long or waited too long for a lock, or every attempt of its transaction
 * met a serialization failure or deadlock and was rolled back.
 */
export function isTooBusy(error: unknown): boolean {
  if (error instanceof ApiError) return error.code === 'TOO_BUSY';
  const code = errorCode(error);
  const isTimeout = code === QUERY_CANCELED || code === LOCK_NOT_AVAILABLE;
  return error instanceof DeadlineExceededError || isTimeout || isRetryable(code);
}

/** Sends an error: in the envelope, or as problem details (RFC 9457) if the client accepts them. */
export function sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply, config: Config) {
  reply.errorStatus = error.status;
  const { status, headers, body } = renderError(error, request.headers, request.id, config);
  // RFC 5789: tell the client which patch formats this path accepts.
  const isPatchable = error.code === 'NOT_JSON' ? request.method === 'PATCH' : /\bPATCH\b/.test(headers.allow ?? '');
  if (isPatchable) reply.header('accept-patch', PATCH_TYPES.join(', '));
  return reply.code(status).headers(headers).send(body);
}

/** Renders an error as status, headers and body: requests that never reach Fastify get the same response. */
export function renderError(error: ApiError, requestHeaders: IncomingHttpHeaders, requestId: string, config: Config) {
  const language = languageOf(requestHeaders);
  const isProblem = /application\/problem\+json(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(requestHeaders.accept ?? '');
  const { status, details } = error;
  return {
    status: config.errorStatus === '200' ? 200 : status,
    headers: {
      'content-type': `application/${isProblem ? 'problem+json' : 'json'}; charset=utf-8`,
      'content-language': language === 'en' ? 'en' : 'zh-CN',
      // Close the connection: the rest of the body must not be parsed as the next request.
      ...(status === 408 ? { connection: 'close' } : {}),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(status === 429 || status === 503 ? { 'retry-after': String(details.seconds ?? 2) } : {}),
      ...(details.allowed ? { allow: String(details.allowed) } : ({} as { allow?: string })),
      ...commonHeaders(requestId),
    },
    body: JSON.stringify(isProblem ? toProblem(error, language, requestId) : toEnvelope(error, language)),
  };
}

/**
 * The caller's request id if it is valid, so that a request can be traced through several services; otherwise a new one, with the
 * trace that the request belongs to.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const id = headers['x-request-id'];
  if (typeof id === 'string' && /^[\w.-]{1,64}$/.test(id)) return id;
  const trace = traceContextOf(headers);
  return trace ? tracedRequestId(trace) : randomUUID();
}

/**
 * The headers of every response. Responses are not cached, because most are private and some contain tokens. They are not
 * pages, so a browser that displays one must not load anything or put it into a frame. /docs and the console have
 * policies of their own.
 */
export const commonHeaders = (requestId: string) => ({
  'x-request-id': requestId,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
});

const toEnvelope = (error: ApiError, language: Language) => ({
  code: error.status,
  msg: error.text(language),
  data: error.data(language),
});

const toProblem = (error: ApiError, language: Language, requestId: string) => ({
  ...error.data(language),
  type: `urn:banyan:reason:${error.code}`,
  title: error.code,
  status: error.status,
  detail: error.text(language),
  instance: requestId,
});

declare module 'fastify' {
  interface FastifyReply {
    /** The status of an error, even if the HTTP status is 200 (BANYAN_ERROR_STATUS). null if the response is a success. */
    errorStatus: number | null;
  }
}
