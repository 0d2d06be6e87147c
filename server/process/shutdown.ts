import type { Server, ServerResponse } from 'node:http';
import net, { type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { InFlight } from '../http/in-flight.ts';
import { defaultTiming } from '../timing.ts';

/**
 * Tracks the connections of a server, for a graceful shutdown. The returned function stops accepting connections, sends
 * `Connection: close` with each further response, and resolves when all connections are closed. Connections without a
 * request are closed after `shutdownIdleMs`. Node's own close() would close them at once, including one whose next request
 * is already on its way.
 */
export function watchConnections(server: Server, shutdownIdleMs = defaultTiming.shutdownIdleMs): () => Promise<void> {
  const sockets = new Set<Socket>();
  const inFlight = new InFlight<ServerResponse>();
  let closing = false;
  const announceClose = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('connection', 'close');
  };
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      // A response queued behind others on its connection is not closed together with the connection.
      inFlight.removeWhere(({ req }) => req.socket === socket);
    });
  });
  // Run before the handler that sends the response.
  server.prependListener('request', (_request, response) => {
    if (closing) announceClose(response);
    response.on('close', inFlight.add(response));
  });
  return async () => {
    closing = true;
    net.Server.prototype.close.call(server);
    for (const response of inFlight) announceClose(response);
    const idleDeadline = performance.now() + shutdownIdleMs;
    for (; sockets.size > 0; await setTimeout(20)) {
      if (performance.now() < idleDeadline) continue;
      const busy = new Set([...inFlight].map(({ req }) => req.socket));
      for (const socket of sockets) if (!busy.has(socket)) socket.destroySoon();
    }
  };
}
