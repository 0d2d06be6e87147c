import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../context.ts';
import { apiError } from './errors.ts';
import { InFlight } from './in-flight.ts';
import { hasBody } from './server.ts';

/** A request that waits for its response. */
interface Pending {
  /** When the wait began; `NEVER` while the body is still arriving, and once the deadline is lifted. */
  since: number;
  withinMs: number;
  expire: () => void;
}

const NEVER = Number.POSITIVE_INFINITY;
const CHECK_MS = 100;

/** The milliseconds within which a request must get its response. */
export const deadlineOf = (request: FastifyRequest): number => {
  const { responseMs, bulkResponseMs, importResponseMs } = request.server.timing;
  const { importsFile, undoesImports, writesMany } = request.routeOptions.config ?? {};
  if (importsFile || undoesImports) return importResponseMs;
  return writesMany?.(request) ? bulkResponseMs : responseMs;
};

/**
 * Responds `TOO_BUSY` to requests that exceed their deadline. The time in which the body arrives does not count. Node's
 * own timeout no longer covers a request once its body has arrived. All requests share one timer: a timer for each would
 * cost more than everything else here.
 */
export function enforceDeadlines(app: App): void {
  const pending = new InFlight<Pending>();
  app.decorateReply('pending', null);
  const timer = setInterval(() => {
    const now = performance.now();
    for (const each of pending) {
      if (now - each.since < each.withinMs) continue;
      each.since = NEVER;
      each.expire();
    }
  }, CHECK_MS).unref();
  app.addHook('onClose', async () => clearInterval(timer));
  app.addHook('onRequest', (request, reply, done) => {
    const expire = () => respondTooBusy(request, reply);
    reply.pending = { since: performance.now(), withinMs: deadlineOf(request), expire };
    reply.raw.once('close', pending.add(reply.pending));
    done();
  });
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (reply.pending && hasBody(request.raw)) reply.pending.since = NEVER;
    done(null, payload);
  });
  // The body has arrived.
  app.addHook('preValidation', (request, reply, done) => {
    if (reply.pending && hasBody(request.raw)) reply.pending.since = performance.now();
    done();
  });
}

/** Exempts a request from the deadline: a subscription, an upload, long work before a transaction, or a rejection that waits. */
export function liftDeadline({ pending }: FastifyReply): void {
  if (pending) pending.since = NEVER;
}

/** Lets the deadline begin now, after work that has no deadline. */
export function restartDeadline({ pending }: FastifyReply): void {
  if (pending) pending.since = performance.now();
}

function respondTooBusy(request: FastifyRequest, reply: FastifyReply): void {
  // A streamed response whose headers are sent has begun in time.
  if (reply.sent || reply.raw.headersSent) return;
  request.log.warn({ requestId: request.id }, 'request timed out');
  reply.send(apiError('TOO_BUSY'));
}

declare module 'fastify' {
  interface FastifyReply {
    /** null before the hook of `enforceDeadlines` runs: Fastify rejects some requests before any hook. */
    pending: Pending | null;
  }
  interface FastifyContextConfig {
    /** Whether the request may write many records, and so gets the longer deadline (`bulkResponseMs`). */
    writesMany?: (request: FastifyRequest) => boolean;
    /** The body is a file whose rows are written. */
    importsFile?: boolean;
    /** The request may undo an import, which takes as long as the import. */
    undoesImports?: boolean;
    /** The work before the transaction may take minutes, so the deadline begins after it. */
    hasLongPreparation?: boolean;
  }
}
