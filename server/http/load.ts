import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import type { Config } from '../config.ts';
import type { Timing } from '../timing.ts';
import { deadlineOf } from './deadline.ts';
import { answerTo, requestIdOf } from './envelope.ts';
import { refuse } from './refusals.ts';
import { UnderWay } from './under-way.ts';

/** How often we look at how much gets done. */
const SLOT_MS = 100;
/** Beyond this many requests at work the next would only wait, and all would be late: as many as five slots answer. */
const AT_WORK = { least: 200, slots: 5, most: 1_000 };
/**
 * Refusing costs time too, and many callers ask again at once. So that it takes no more than a small part, there is a
 * refusal for every fourth answer, and some when there are none; beyond them, who was just refused is not heard for a
 * moment.
 */
const REFUSALS = { forEachAnswer: 0.25, aSlotAtLeast: 50 };
const HEADER_LIMIT = 262_144; // ten thousand ids in a path shall reach the sentence that refuses them
const CONNECTIONS = 10_000;
/** Who waits for news takes no time and no place at work, but a connection and some memory. */
const WAITING_AT_MOST = 1_000;
/** Since when a caller waits for us: never, while we wait for his body. And until when at most. */
interface Waiting {
  socket: Socket;
  since: number;
  within: number;
  late: () => void;
}
const NEVER = Number.POSITIVE_INFINITY;

/** undefined: it is not for it. Otherwise a promise of the answer; of nothing, if it is for the long way after all. */
export type ShortWay = (
  request: IncomingMessage,
) => Promise<((response: ServerResponse) => void) | undefined> | undefined;

/**
 * Keeps the service useful under more load than it can bear: what is too much is refused at once and cheaply, before
 * any other work, with the time to come back.
 */
export function boundLoad(config: Config, timing: Timing) {
  let atWork = 0;
  let waitingForNews = 0;
  let mostAtWork = AT_WORK.least;
  let answers = 0;
  const pace = paceRefusals();
  /** What it could do a moment ago it can do now; when it becomes slow, that is soon forgotten. */
  let pulse = 0;
  const clock = setInterval(() => {
    pulse = Math.max(answers, pulse * 0.8);
    mostAtWork = Math.min(Math.max(AT_WORK.least, pulse * AT_WORK.slots), AT_WORK.most);
    pace.nextSlot(answers);
    answers = 0;
  }, SLOT_MS).unref();
  const open = new UnderWay<{ socket: Socket; end: () => void }>();
  const waiting = new UnderWay<Waiting>();
  /** Of those who tried the short way in vain: their time counts from then. */
  const arrivals = new WeakMap<IncomingMessage, number>();
  /** By connection, the last request with a body. */
  const withBody = new WeakMap<Socket, IncomingMessage>();
  let shortWay: ShortWay | undefined;
  const isTooMuch = (request: IncomingMessage) =>
    waitsForNews(request)
      ? waitingForNews >= WAITING_AT_MOST
      : atWork >= mostAtWork && !request.url?.startsWith('/health/');
  const begin = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    if (socket.destroyed) return; // its caller has gone
    const work = { socket, end: () => {} };
    const leave = open.add(work);
    const forNews = waitsForNews(request);
    if (forNews) waitingForNews++;
    else atWork++;
    work.end = () => {
      if (!leave()) return;
      if (forNews) {
        waitingForNews--;
        return;
      }
      atWork--;
      answers++;
    };
    response.once('close', work.end);
  };
  /** An answer that waits behind others on its connection never closes when that does, nor one that was not begun. */
  const endAll = (socket: Socket) => {
    for (const work of open) if (work.socket === socket) work.end();
    waiting.forget((one) => one.socket === socket);
  };
  return {
    serverFactory(handler: RequestListener): http.Server {
      // A missing Host is refused in app.ts, in the envelope: Node's own answer would be empty.
      const server = http.createServer(
        {
          maxHeaderSize: HEADER_LIMIT,
          keepAliveTimeout: 72_000,
          requireHostHeader: false,
          // How often Node looks for the slow. By default that is every 30 seconds, whatever the timeouts below say.
          connectionsCheckingInterval: timing.requestCheckMs,
        },
        (request, response) => {
          if (isTooMuch(request)) {
            refuseAtOnce(request, response, config);
            pace.refused(request.socket);
            return;
          }
          // Now, not later: of a thousand that come in one moment, all would find the place empty.
          if (hasBody(request)) withBody.set(request.socket, request);
          else begin(request, response);
          const answer = shortWay?.(request);
          if (!answer) return handler(request, response);
          const since = performance.now();
          const goOn = (tell?: (response: ServerResponse) => void) => {
            // Answered before, or its caller has gone.
            if (!leave()) return;
            if (tell) return tell(response);
            arrivals.set(request, since);
            handler(request, response);
          };
          const leave = waiting.add({ socket: request.socket, since, within: timing.responseMs, late: goOn });
          answer.then(goOn, () => goOn());
        },
      );
      // A caller who is slow to send his request holds a connection, not a place at work, and not for long.
      server.headersTimeout = timing.requestMs;
      server.requestTimeout = timing.requestMs;
      server.maxConnections = CONNECTIONS;
      server.on('connection', (socket) => socket.once('close', () => endAll(socket)));
      server.on('close', () => clearInterval(clock));
      return server;
    },
    /** What comes with a body counts once that has arrived; until the answer, or until its caller has gone. */
    count(app: App): void {
      app.addHook('preHandler', ({ raw: request }, { raw: response }, done) => {
        if (!hasBody(request)) return done();
        if (isTooMuch(request)) return done(refuse('TOO_BUSY'));
        begin(request, response);
        done();
      });
    },
    /**
     * Who is not answered in time is told to come again. The time in which a body arrives is its sender's. The framework's
     * own limit would forget a request as soon as its body is there.
     */
    keepDeadline(app: App): void {
      app.decorateReply('waiting', null);
      // One clock for all: a timer for each would cost more than the rest of this file.
      const clock = setInterval(() => {
        const now = performance.now();
        for (const one of waiting) {
          if (now - one.since < one.within) continue;
          one.since = NEVER;
          one.late();
        }
      }, 100).unref();
      const tellLate = (request: FastifyRequest, reply: FastifyReply) => {
        // Of an answer that goes out piece by piece the headers are sent: it was begun in time.
        if (reply.sent || reply.raw.headersSent) return;
        request.log.warn({ requestId: request.id }, 'a request was not answered in time');
        reply.send(refuse('TOO_BUSY'));
      };
      app.addHook('onClose', async () => clearInterval(clock));
      app.addHook('onRequest', (request, reply, done) => {
        // Its own deadline is what it asked for.
        if (waitsForNews(request.raw)) return done();
        const since = arrivals.get(request.raw) ?? performance.now();
        const within = deadlineOf(request);
        reply.waiting = { socket: request.raw.socket, since, within, late: () => tellLate(request, reply) };
        reply.raw.once('close', waiting.add(reply.waiting));
        done();
      });
      app.addHook('preParsing', (request, reply, payload, done) => {
        if (reply.waiting && hasBody(request.raw)) reply.waiting.since = NEVER;
        done(null, payload);
      });
      app.addHook('preValidation', (request, reply, done) => {
        // Its body has arrived.
        if (reply.waiting && hasBody(request.raw)) reply.waiting.since = performance.now();
        done();
      });
    },
    /** When it came, if it tried the short way in vain before the framework knew of it. */
    arrivalOf: (request: IncomingMessage): number | undefined => arrivals.get(request),
    /** For what is so frequent and so plain that it need not go through the framework. */
    open(way: ShortWay | undefined): void {
      shortWay = way;
    },
    /** The request whose body is on its way over a connection, if there is one. */
    arrivingAt(socket: Socket): IncomingMessage | undefined {
      const request = withBody.get(socket);
      return request?.complete ? undefined : request;
    },
    headerLimit: HEADER_LIMIT,
  };
}

/** The change feed, when it is asked to wait. */
const waitsForNews = ({ url = '' }: IncomingMessage) =>
  url.startsWith('/system/change-api') &&
  (url.startsWith('/system/change-api/stream') || /^\/system\/change-api\?(.*&)?wait=[1-9]/.test(url));

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function refuseAtOnce(request: IncomingMessage, response: ServerResponse, config: Config): void {
  const { status, headers, body } = answerTo(refuse('TOO_BUSY'), request.headers, requestIdOf(request), config);
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Stops reading from the refused beyond the measure, and slot by slot lets the first of them go on. */
function paceRefusals() {
  const held = new Set<Socket>();
  let refusals = 0;
  let most = REFUSALS.aSlotAtLeast;
  return {
    nextSlot(answers: number): void {
      most = Math.max(REFUSALS.aSlotAtLeast, answers * REFUSALS.forEachAnswer);
      refusals = 0;
      let left = most;
      for (const socket of held) {
        if (left-- <= 0) break;
        held.delete(socket);
        socket.resume();
      }
    },
    refused(socket: Socket): void {
      if (++refusals <= most) return;
      held.add(socket);
      // Later: Node itself lets a connection go on once its request is answered.
      setImmediate(() => held.has(socket) && socket.pause());
    },
  };
}

declare module 'fastify' {
  interface FastifyReply {
    /** null: it is to take as long as it takes. */
    waiting: Waiting | null;
  }
}
