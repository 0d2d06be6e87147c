import type { Server, ServerResponse } from 'node:http';
import net, { type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { defaultTiming } from '../timing.ts';
import { UnderWay } from './under-way.ts';

/**
 * Watches a server's connections, so that it can be closed without cutting off anybody who was let in. What is returned
 * lets nobody else in, tells each caller with his answer that it was the last on this connection, and is done when all
 * are gone. Node's own close() would at once end every connection on which no request is under way, also the one whose
 * next request is on the wire. A caller that sends none for `lastRequestsMs` is sent away.
 */
export function watchConnections(server: Server, lastRequestsMs = defaultTiming.lastRequestsMs): () => Promise<void> {
  const sockets = new Set<Socket>();
  const underWay = new UnderWay<ServerResponse>();
  let closing = false;
  const tellLast = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('connection', 'close');
  };
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      // An answer that waits behind others on its connection never closes when that does.
      underWay.forget(({ req }) => req.socket === socket);
    });
  });
  // Before whoever answers.
  server.prependListener('request', (_request, response) => {
    if (closing) tellLast(response);
    response.on('close', underWay.add(response));
  });
  return async () => {
    closing = true;
    net.Server.prototype.close.call(server);
    for (const response of underWay) tellLast(response);
    const quiet = performance.now() + lastRequestsMs;
    for (; sockets.size > 0; await setTimeout(20)) {
      if (performance.now() < quiet) continue;
      const busy = new Set([...underWay].map(({ req }) => req.socket));
      for (const socket of sockets) if (!busy.has(socket)) socket.destroySoon();
    }
  };
}
