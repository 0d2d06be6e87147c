import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../config.ts';
import type { App } from '../context.ts';
import type { Timing } from '../timing.ts';
import { renderError, requestIdOf } from './envelope.ts';
import { apiError } from './errors.ts';
import { InFlight } from './in-flight.ts';

/** How often throughput is measured. */
const INTERVAL_MS = 100;
/** The limit of requests in flight: as many as five intervals complete. Further requests would only wait. */
const IN_FLIGHT = { min: 200, intervals: 5, max: 1_000 };
/**
 * Rejecting costs time too, and many clients retry at once. So an interval has one rejection for every four requests that
 * were completed in the previous one, and at least 50. Further rejected connections are not read until a later interval.
 */
const REJECTIONS = { perCompleted: 0.25, minPerInterval: 50 };
/** Large enough for ten thousand ids in a path, so that they get the error that says there are too many. */
const HEADER_LIMIT = 262_144;
const MAX_CONNECTIONS = 10_000;
/** A subscriber takes no request slot, but a connection and some memory. */
const MAX_SUBSCRIBERS = 1_000;

/** Which requests are treated differently. Only routes know their paths, so the application passes this in. */
export interface RequestKinds {
  /** Health checks are never rejected. */
  isHealthCheck(request: IncomingMessage): boolean;
  /** Subscriptions wait for changes, so they take no request slot and have no deadline. */
  isSubscription(request: IncomingMessage): boolean;
}

/**
 * Sheds load beyond the capacity of the service: further requests are rejected at once and cheaply, before any other work,
 * with a `Retry-After` header.
 */
export function createLoadShedder(config: Config, timing: Timing, { isHealthCheck, isSubscription }: RequestKinds) {
  let inFlight = 0;
  let subscribers = 0;
  let limit = IN_FLIGHT.min;
  let completed = 0;
  const rejections = paceRejections();
  /** Recent throughput: rises at once, and falls within seconds when the service gets slower. */
  let throughput = 0;
  const timer = setInterval(() => {
    throughput = Math.max(completed, throughput * 0.8);
    limit = Math.min(Math.max(IN_FLIGHT.min, throughput * IN_FLIGHT.intervals), IN_FLIGHT.max);
    rejections.nextInterval(completed);
    completed = 0;
  }, INTERVAL_MS).unref();
  const tracked = new InFlight<{ socket: Socket; end: () => void }>();
  /** The last request with a body of each connection. */
  const withBody = new WeakMap<Socket, IncomingMessage>();

  const isOverLimit = (request: IncomingMessage) =>
    isSubscription(request) ? subscribers >= MAX_SUBSCRIBERS : inFlight >= limit && !isHealthCheck(request);

  function track(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    if (socket.destroyed) return; // The client has disconnected.
    const entry = { socket, end: () => {} };
    const remove = tracked.add(entry);
    const subscribes = isSubscription(request);
    if (subscribes) subscribers++;
    else inFlight++;
    entry.end = () => {
      if (!remove()) return;
      if (subscribes) {
        subscribers--;
        return;
      }
      inFlight--;
      completed++;
    };
    response.once('close', entry.end);
  }

  return {
    headerLimit: HEADER_LIMIT,

    serverFactory(handler: RequestListener): http.Server {
      // A missing Host header is rejected by the application: Node's own response would have no body.
      const server = http.createServer(
        {
          maxHeaderSize: HEADER_LIMIT,
          keepAliveTimeout: 72_000,
          requireHostHeader: false,
          // By default Node checks every 30 seconds, whatever the timeouts below are.
          connectionsCheckingInterval: timing.requestCheckMs,
        },
        (request, response) => {
          if (isOverLimit(request)) {
            reject(request, response, config);
            rejections.count(request.socket);
            return;
          }
          // Count the request now: otherwise a thousand requests that arrive at once would all find the service idle.
          if (hasBody(request)) withBody.set(request.socket, request);
          else track(request, response);
          handler(request, response);
        },
      );
      // A client that sends its request slowly holds a connection, but no request slot, and only until these timeouts.
      server.headersTimeout = timing.requestMs;
      server.requestTimeout = timing.requestMs;
      server.maxConnections = MAX_CONNECTIONS;
      server.on('connection', (socket) =>
        socket.once('close', () => {
          // A response that has not begun, or that is queued behind others, is not closed together with its connection.
          for (const entry of tracked) if (entry.socket === socket) entry.end();
        }),
      );
      server.on('close', () => clearInterval(timer));
      return server;
    },

    /** Counts requests with a body once the body has arrived. */
    countRequestsWithBody(app: App): void {
      app.addHook('preHandler', ({ raw: request }, { raw: response }, done) => {
        if (!hasBody(request)) return done();
        if (isOverLimit(request)) return done(apiError('TOO_BUSY'));
        track(request, response);
        done();
      });
    },

    /** Returns the request whose body is still arriving on a connection. */
    requestArrivingOn: (socket: Socket): IncomingMessage | undefined => {
      const request = withBody.get(socket);
      return request?.complete ? undefined : request;
    },
  };
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function reject(request: IncomingMessage, response: ServerResponse, config: Config): void {
  const { status, headers, body } = renderError(apiError('TOO_BUSY'), request.headers, requestIdOf(request), config);
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Pauses connections whose rejections exceed the limit of an interval, and resumes the first of them in each interval. */
function paceRejections() {
  const paused = new Set<Socket>();
  let rejected = 0;
  let max = REJECTIONS.minPerInterval;
  return {
    nextInterval(completed: number): void {
      max = Math.max(REJECTIONS.minPerInterval, completed * REJECTIONS.perCompleted);
      rejected = 0;
      let left = max;
      for (const socket of paused) {
        if (left-- <= 0) break;
        paused.delete(socket);
        socket.resume();
      }
    },
    count(socket: Socket): void {
      if (++rejected <= max) return;
      paused.add(socket);
      // Pause later: Node resumes a connection by itself once its response is sent.
      setImmediate(() => paused.has(socket) && socket.pause());
    },
  };
}
