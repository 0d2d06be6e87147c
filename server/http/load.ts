import { randomUUID } from 'node:crypto';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import type { Config } from '../config.ts';
import { asEnvelope, everyAnswer } from './envelope.ts';
import { languageOf } from './language.ts';
import { refuse } from './refusals.ts';

/** Beyond this many requests at work the next would only wait, and all would be late. */
const AT_WORK = 200;
const HEADER_LIMIT = 262_144; // ten thousand ids in a path shall reach the sentence that refuses them
const CONNECTIONS = 10_000;
/** An answer comes within this time, whatever happens below. */
const DEADLINE_MS = 10_000;

/**
 * Keeps the service useful under more load than it can bear: what is too much is refused at once and cheaply, before
 * any other work, with the time to come back.
 */
export function boundLoad(config: Config) {
  let atWork = 0;
  return {
    serverFactory(handler: RequestListener): http.Server {
      // A missing Host is refused in app.ts, in the envelope: Node's own answer would be empty.
      const server = http.createServer(
        { maxHeaderSize: HEADER_LIMIT, keepAliveTimeout: 72_000, requireHostHeader: false },
        (request, response) => {
          if (atWork >= AT_WORK && !request.url?.startsWith('/health/')) refuseAtOnce(request, response, config);
          else handler(request, response);
        },
      );
      // A caller who is slow to send his request holds a connection, not a place at work, and not for long.
      server.headersTimeout = 10_000;
      server.requestTimeout = 30_000;
      server.maxConnections = CONNECTIONS;
      return server;
    },
    /** Counts from when a request has arrived whole until it is answered, or its caller has gone. */
    count(app: App): void {
      app.addHook('preHandler', async (_request, reply) => {
        atWork++;
        reply.raw.once('close', () => atWork--);
      });
    },
    /**
     * Who is not answered in time is told to come again. The time in which a body arrives is its sender's. The framework's
     * own limit would forget a request as soon as its body is there.
     */
    keepDeadline(app: App): void {
      const deadlines = new WeakMap<FastifyRequest, NodeJS.Timeout>();
      const begin = (request: FastifyRequest, reply: FastifyReply) => {
        const deadline = setTimeout(() => {
          if (reply.sent) return;
          request.log.warn('a request was not answered in time');
          reply.send(refuse('TOO_BUSY'));
        }, DEADLINE_MS);
        deadlines.set(request, deadline);
        reply.raw.once('close', () => clearTimeout(deadline));
      };
      app.addHook('onRequest', (request, reply, done) => {
        begin(request, reply);
        done();
      });
      app.addHook('preParsing', (request, _reply, payload, done) => {
        clearTimeout(deadlines.get(request));
        done(null, payload);
      });
      app.addHook('preValidation', (request, reply, done) => {
        begin(request, reply);
        done();
      });
    },
    headerLimit: HEADER_LIMIT,
  };
}

function refuseAtOnce({ headers }: IncomingMessage, response: ServerResponse, config: Config): void {
  const refusal = refuse('TOO_BUSY');
  response.writeHead(config.errorStatus === '200' ? 200 : refusal.status, {
    'content-type': 'application/json; charset=utf-8',
    'retry-after': '1',
    ...everyAnswer(randomUUID()),
  });
  response.end(JSON.stringify(asEnvelope(refusal, languageOf(headers))));
}
