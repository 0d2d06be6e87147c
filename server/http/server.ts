import http, { type IncomingMessage, type RequestListener } from 'node:http';
import type { Timing } from '../timing.ts';
import type { Connections } from './connections.ts';
import { MergingRequest } from './merging-request.ts';
import { TrackedResponse } from './tracked-response.ts';

/** Large enough for ten thousand ids in a path, so that they get the error that says there are too many. */
export const HEADER_LIMIT = 262_144;

/** Creates the HTTP server. `connections` passes its requests to the handler. */
export function createServer(
  connections: Connections,
  { requestMs, requestCheckMs }: Timing,
  handler: RequestListener,
) {
  const server = http.createServer<typeof IncomingMessage, typeof TrackedResponse>(
    {
      IncomingMessage: MergingRequest,
      ServerResponse: TrackedResponse,
      maxHeaderSize: HEADER_LIMIT,
      keepAliveTimeout: 72_000,
      // The application rejects a missing Host header: Node's own response would have no body.
      requireHostHeader: false,
      // By default Node checks every 30 seconds, whatever the timeouts below are.
      connectionsCheckingInterval: requestCheckMs,
    },
    (_request, response) => connections.receive(response),
  );
  // A client that sends its request slowly holds a connection, but no request slot, and only until these timeouts. If its
  // request was rejected, `Connections` closes the connection.
  server.headersTimeout = requestMs;
  server.requestTimeout = requestMs;
  connections.watch(server, handler);
  return server as unknown as http.Server;
}

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
