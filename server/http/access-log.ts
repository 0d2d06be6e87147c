import os from 'node:os';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { traceContextOf } from './trace-context.ts';

/** API keys that a caller has put into the path by mistake. */
const API_KEYS = /byk_\w+/g;

/** The destination of the log. */
export interface Output {
  write(line: string): void;
}

/**
 * Collects the lines of one turn of the event loop and writes them together, in chunks of at most `MAX_WRITE` characters; a longer
 * line is a chunk of its own. The logger's own stream would block the process indefinitely when the terminal is closed.
 */
export function standardOutput(): Output {
  let lines: string[] = [];
  const flush = () => {
    let chunk = '';
    for (const line of lines) {
      if (chunk.length + line.length > MAX_WRITE) {
        process.stdout.write(chunk);
        chunk = '';
      }
      chunk += line;
    }
    if (chunk) process.stdout.write(chunk);
    lines = [];
  };
  process.once('exit', flush);
  return {
    write(line: string) {
      if (lines.length === 0) setImmediate(flush);
      lines.push(line);
    },
  };
}

/** Several workers write to one pipe, and only writes of up to 4,096 bytes are atomic. A UTF-16 unit takes up to three bytes. */
const MAX_WRITE = 1_365;

const ACCESS_LOG_LEVELS: Config['logLevel'][] = ['trace', 'debug', 'info'];

/** The status that web servers log for a client that disconnected before its response began. */
const CLIENT_CLOSED_REQUEST = 499;

/**
 * Returns the status of a response, or 499. With BANYAN_ERROR_STATUS=200 it is the code in the body, which then differs from
 * the HTTP status.
 */
export const loggedStatusOf = ({ raw, errorStatus, statusCode }: FastifyReply): number =>
  raw.headersSent ? errorStatus || statusCode : CLIENT_CLOSED_REQUEST;

/**
 * Writes the access log: one line for each response, in the format of the logger. The line is assembled by hand, because the
 * logger took longer to write it than the service takes to process a read. Ids need no escaping: they have been validated.
 */
export function createAccessLog(
  output: Output,
  level: Config['logLevel'],
): (request: FastifyRequest, reply: FastifyReply) => void {
  if (!ACCESS_LOG_LEVELS.includes(level)) return () => {};
  const origin = `"pid":${process.pid},"hostname":${JSON.stringify(os.hostname())}`;
  return (request, reply) => {
    const status = reply.raw.headersSent ? reply.statusCode : CLIENT_CLOSED_REQUEST;
    const code = loggedStatusOf(reply);
    const outcome = `"status":${status}${code === status ? '' : `,"code":${code}`}`;
    // Log only the path: a query may contain names.
    const path = JSON.stringify(request.url.split('?')[0]?.replaceAll(API_KEYS, 'byk_…'));
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    const token = request.token ?? null;
    const id = token?.keyId === undefined ? `"userId":"${token?.userId}"` : `"keyId":"${token.keyId}"`;
    const caller = token ? `,"tenantId":"${token.tenantId}",${id}` : '';
    const trace = traceContextOf(request.raw.headers);
    const traceId = trace ? `,"traceId":"${trace.traceId}"` : '';
    const message = reply.raw.writableFinished ? 'request completed' : 'request aborted';
    output.write(
      `{"level":30,"time":${Date.now()},${origin},"requestId":"${request.id}","method":"${request.method}","path":${path},` +
        `${outcome},"ms":${ms},"from":${JSON.stringify(request.ip ?? '')}${caller}${traceId},"msg":"${message}"}\n`,
    );
  };
}

/**
 * Drops Fastify's warning about a response that is ready after the deadline error was sent. The access log has a line for
 * the request, and the warning would contain the whole URL: search terms do not belong in the log.
 */
export function logMethod(this: unknown, args: unknown[], method: (...args: unknown[]) => void): void {
  const { err } = (args[0] ?? {}) as { err?: { code?: string } };
  if (err?.code !== 'FST_ERR_REP_ALREADY_SENT') method.apply(this, args);
}
