import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { codeOf, isLost } from '../../db/sql.ts';
import { TooLate } from '../../db/tenancy.ts';
import type { Config } from '../config.ts';
import { languageOf } from './language.ts';
import { type Language, Refusal, refuse } from './refusals.ts';
import { explain } from './validation.ts';

/** `操作成功` is a constant of the interface, in every language. */
export const ok = <T>(data: T) => ({ code: 200, msg: '操作成功', data }) as const;

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
  if (isDatabaseAway(error, code)) {
    request.log.error({ err: error }, 'the database is away');
    return refuse('DATABASE_AWAY');
  }
  request.log.error({ err: error }, 'a request failed on our side');
  return refuse('INTERNAL', { requestId: request.id });
}

/**
 * Connections refused, cut or used up; the server stopping or starting; no room on its disk; a statement cut off. What
 * PostgreSQL calls FATAL ends a connection or keeps it from being made.
 */
const isDatabaseAway = (error: unknown, code: string) =>
  (error as { severity?: string }).severity === 'FATAL' ||
  isLost(code) ||
  /^(CONNECT_|ENOENT|ENOTFOUND|EAI_|08|53|57|58)/.test(code) ||
  ['25P02', '25P03', '55P03'].includes(code);

/** The answer to a refusal: the envelope, or RFC 9457 for who asks for it. */
export function sendRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply, config: Config) {
  const language = languageOf(request.headers);
  // Here too: what the framework refuses passes no hook.
  reply.headers(everyAnswer(request.id));
  if (refusal.status === 401) reply.header('www-authenticate', 'Bearer');
  if (refusal.status === 429 || refusal.status === 503) reply.header('retry-after', String(refusal.facts.seconds ?? 2));
  if (refusal.facts.allowed) reply.header('allow', String(refusal.facts.allowed));
  const problem = /application\/problem\+json(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(request.headers.accept ?? '');
  return reply
    .code(config.errorStatus === '200' ? 200 : refusal.status)
    .header('content-language', language === 'en' ? 'en' : 'zh-CN')
    .type(`application/${problem ? 'problem+json' : 'json'}; charset=utf-8`)
    .send(JSON.stringify(problem ? asProblem(refusal, language, request.id) : asEnvelope(refusal, language)));
}

/** The headers of every answer. */
export const everyAnswer = (requestId: string) => ({
  'x-request-id': requestId,
  'x-content-type-options': 'nosniff',
});

/** Also for what never becomes a request, see app.ts. */
export const asEnvelope = (refusal: Refusal, language: Language) => ({
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
