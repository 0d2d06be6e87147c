import type { FastifyReply, FastifyRequest } from 'fastify';
import { toApiError } from '../http/envelope.ts';
import { type ApiError, apiError, type Detail, type ErrorCode } from '../http/errors.ts';
import type { Rows } from '../http/fields.ts';
import { languageOf } from '../http/language.ts';

/** The response to a list: RuoYi's front ends expect `rows` and `total` at the top level. */
export const table = <T>({ rows, total }: Rows<T>) => ({ total, rows, code: 200, msg: '查询成功' }) as const;

/** The error for features of RuoYi that Banyan does not have. A call that changes nothing must not look like a success. */
export const notOffered = (feature: Detail): ApiError => apiError('RUOYI_NOT_OFFERED', { feature });

/** The code of an error in RuoYi's responses. Front ends log in again after 401, and show their own text for 403. */
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
const FAILED = 500;
const WARNING = 601;

const warnings = new Set<ErrorCode>(['DEPT_HAS_CHILDREN', 'DEPT_HAS_USERS']);
/** The caller is known, but their user, tenant or API key is not active. The front end shows the login, which tells users why. */
const lockedOut = new Set<ErrorCode>([
  'USER_DISABLED',
  'TENANT_DISABLED',
  'TENANT_NOT_STARTED',
  'TENANT_ENDED',
  'KEY_DISABLED',
]);
const missingRights = new Set<ErrorCode>(['NOT_ALLOWED', 'USERS_ONLY']);

function codeOf({ code, status }: ApiError): number {
  if (status === 401 || lockedOut.has(code)) return UNAUTHORIZED;
  if (missingRights.has(code)) return FORBIDDEN;
  return warnings.has(code) ? WARNING : FAILED;
}

/** Sends any error as RuoYi does: with the HTTP status 200 and a code in the body. `data` has our own error code. */
export const sendRuoyiError = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
  const error = toApiError(thrown, request);
  return send(error, codeOf(error), request, reply);
};

/** The same for a login, where 401 would tell the front end that a session has expired. */
export const sendLoginError = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) =>
  send(toApiError(thrown, request), FAILED, request, reply);

function send(error: ApiError, code: number, request: FastifyRequest, reply: FastifyReply) {
  reply.errorStatus = error.status;
  const language = languageOf(request.headers);
  const { status, details } = error;
  reply.header('content-language', language === 'en' ? 'en' : 'zh-CN');
  if (status === 429 || status === 503) reply.header('retry-after', String(details.seconds ?? 2));
  // Close the connection: the rest of the body must not be parsed as the next request.
  if (status === 408) reply.header('connection', 'close');
  return reply
    .code(200)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ code, msg: error.text(language), data: error.data(language) }));
}

/** Throws if a request is encrypted. The keys of plus-ui are published with its source, so HTTPS must protect requests anyway. */
export function rejectEncrypted({ headers }: FastifyRequest): void {
  if (headers['encrypt-key'] !== undefined) throw apiError('RUOYI_ENCRYPTED');
}
