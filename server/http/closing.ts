import type { Server, ServerResponse } from 'node:http';
import net, { type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** A caller who asks often learns from his next answer that this connection ends; one who is quiet longer is sent away. */
const LAST_REQUESTS_MS = 500;

/**
 * Watches a server's connections, so that it can be closed without cutting off anybody who was let in. What is returned
 * lets nobody else in, tells each caller with his answer that it was the last on this connection, and is done when all
 * are gone. Node's own close() would at once end every connection on which no request is under way, also the one whose
 * next request is on the wire.
 */
export function watchConnections(server: Server): () => Promise<void> {
  const underWay = new Map<Socket, Set<ServerResponse>>();
  let closing = false;
  const tellLast = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('connection', 'close');
  };
  server.on('connection', (socket) => {
    underWay.set(socket, new Set());
    socket.on('close', () => underWay.delete(socket));
  });
  // Before whoever answers.
  server.prependListener('request', ({ socket }, response) => {
    if (closing) tellLast(response);
    underWay.get(socket)?.add(response);
    response.on('close', () => underWay.get(socket)?.delete(response));
  });
  return async () => {
    closing = true;
    net.Server.prototype.close.call(server);
    for (const responses of underWay.values()) for (const response of responses) tellLast(response);
    const quiet = performance.now() + LAST_REQUESTS_MS;
    for (; underWay.size > 0; await setTimeout(20)) {
      if (performance.now() < quiet) continue;
      for (const [socket, responses] of underWay) if (responses.size === 0) socket.destroySoon();
    }
  };
}
