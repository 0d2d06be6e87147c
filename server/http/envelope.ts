import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { codeOf, isLost } from '../../db/sql.ts';
import { isClash, TooLate } from '../../db/tenancy.ts';
import type { Config } from '../config.ts';
import { languageOf } from './language.ts';
import { type Language, Refusal, refuse } from './refusals.ts';
import { explain } from './validation.ts';

/** `操作成功` is a constant of the interface, in every language. */
export const ok = <T>(data: T) => ({ code: 200, msg: '操作成功', data }) as const;

/** The same as text, for data that is text already. */
export const okAround = (() => {
  const [before, after] = JSON.stringify(ok([])).split('[]') as [string, string];
  return { before, after };
})();

/** Creating answers with no data, so the new resource's address travels in a header. */
export function created(reply: FastifyReply, address: string) {
  reply.header('location', address);
  return ok(null);
}

/** Whatever was thrown, as a refusal. What isn't one is a fault of ours: logged whole, told without internals. */
export function refusalOf(error: unknown, request: FastifyRequest): Refusal {
  if (error instanceof Refusal) return error;
  const { validation, validationContext = 'body', statusCode = 500, message } = error as FastifyError;
  if (validation) return explain(validation, validationContext);
  if (error instanceof TooLate) return refuse('TOO_BUSY');
  const code = codeOf(error);
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return refuse('BODY_TOO_LARGE', { limit: request.routeOptions.bodyLimit ?? 0 });
    case 'FST_ERR_BAD_URL':
      return refuse('INVALID_UTF8');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return refuse('NOT_JSON');
  }
  // Hung up before all was sent: nobody hears this.
  if (code === 'ECONNRESET' && statusCode === 400) return refuse('BAD_REQUEST', { cause: 'aborted' });
  if (code.startsWith('FST_') && statusCode < 500) return refuse('BAD_REQUEST', { cause: message });
  // It needed too long, or waited too long for somebody else.
  if (code === CUT_OFF) {
    request.log.warn({ requestId: request.id, err: error }, 'a statement was cut off');
    return refuse('TOO_BUSY');
  }
  // Others came between, each time that it was tried. Nothing of it was done.
  if (isClash(code)) {
    request.log.warn({ requestId: request.id, err: error }, 'a transaction met others again and again');
    return refuse('TOO_BUSY');
  }
  if (isDatabaseAway(error, code)) {
    request.log.error({ requestId: request.id, err: error }, 'the database is away');
    return refuse('DATABASE_AWAY');
  }
  request.log.error({ requestId: request.id, err: error }, 'a request failed on our side');
  return refuse('INTERNAL', { requestId: request.id });
}

/** PostgreSQL's word for a statement that met its time limit. */
const CUT_OFF = '57014';

/**
 * Connections refused, cut or used up; the server stopping or starting; no room on its disk. What
 * PostgreSQL calls FATAL ends a connection or keeps it from being made.
 */
const isDatabaseAway = (error: unknown, code: string) =>
  (error as { severity?: string }).severity === 'FATAL' ||
  isLost(code) ||
  /^(CONNECT_|ENOENT|ENOTFOUND|EAI_|08|53|57|58)/.test(code) ||
  ['25P02', '25P03', '55P03'].includes(code) ||
  // What the disk refuses for a reason that has no letters of its own, such as a quota.
  (code === 'XX000' && ['md.c', 'fd.c', 'xlog.c'].includes((error as { file?: string }).file ?? ''));

/** The answer to a refusal: the envelope, or RFC 9457 for who asks for it. */
export function sendRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply, config: Config) {
  reply.refusedWith = refusal.status;
  const { status, headers, body } = answerTo(refusal, request.headers, request.id, config);
  return reply.code(status).headers(headers).send(body);
}

/** The same as bare HTTP, also for what never reaches the framework. */
export function answerTo(refusal: Refusal, asked: IncomingHttpHeaders, requestId: string, config: Config) {
  const language = languageOf(asked);
  const problem = /application\/problem\+json(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(asked.accept ?? '');
  const { status, facts } = refusal;
  return {
    status: config.errorStatus === '200' ? 200 : status,
    headers: {
      'content-type': `application/${problem ? 'problem+json' : 'json'}; charset=utf-8`,
      'content-language': language === 'en' ? 'en' : 'zh-CN',
      // The rest of what was to be sent is nobody's next request.
      ...(status === 408 ? { connection: 'close' } : {}),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(status === 429 || status === 503 ? { 'retry-after': String(facts.seconds ?? 2) } : {}),
      ...(facts.allowed ? { allow: String(facts.allowed) } : {}),
      ...everyAnswer(requestId),
    },
    body: JSON.stringify(problem ? asProblem(refusal, language, requestId) : asEnvelope(refusal, language)),
  };
}

/** Of the caller when it is one, so that a request can be followed through several services. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
}

/**
 * The headers of every answer. None is kept in a cache, because most belong to one caller and some carry tokens; none is
 * a page, so a browser that shows one all the same loads nothing, in no frame. The pages of /docs say otherwise.
 */
export const everyAnswer = (requestId: string) => ({
  'x-request-id': requestId,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
});

const asEnvelope = (refusal: Refusal, language: Language) => ({
  code: refusal.status,
  msg: refusal.text(language),
  data: refusal.data(language),
});

const asProblem = (refusal: Refusal, language: Language, requestId: string) => ({
  ...refusal.data(language),
  type: `urn:banyan:reason:${refusal.reason}`,
  title: refusal.reason,
  status: refusal.status,
  detail: refusal.text(language),
  instance: requestId,
});

declare module 'fastify' {
  interface FastifyReply {
    /** The code of a refusal, which its HTTP status need not tell; null: it is none. */
    refusedWith: number | null;
  }
}
