import type { AddressInfo, Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { buildApp, type Parts } from './app.ts';
import { watchConnections } from './http/closing.ts';

// V8 makes objects old from the start where most of their kind outlived a small collection. Here dozens of requests wait
// for the database whenever one comes: their objects look as if they lived long. Made old they keep alive what they point
// to, whole requests, until a large collection; then small ones took seven milliseconds instead of one, and a quarter of
// the processor time.
setFlagsFromString('--no-allocation-site-pretenuring');

/** What listens: this process, or one that hands out to others. */
export interface Serving {
  port: number;
  /** Ends it without cutting off anybody who was let in. */
  close(): Promise<void>;
}

/** Every answer comes within its deadline. What is still open then is a caller who doesn't finish his request. */
export const LAST_ANSWERS_MS = 9_000;

export async function serve(parts: Parts): Promise<Serving> {
  const { server, listen, close } = await makeServer(parts);
  await listen();
  return { port: (server.address() as AddressInfo).port, close };
}

/** The same for connections that another process has taken in. */
export async function serveGiven(parts: Parts): Promise<{ take: (socket: Socket) => void; close(): Promise<void> }> {
  const { server, close } = await makeServer(parts);
  // It does not listen, and yet has to look for slow callers.
  server.emit('listening');
  let open = 0;
  const take = (socket: Socket) => {
    if (open >= server.maxConnections) return void socket.destroy();
    open++;
    socket.once('close', () => open--);
    // As a server that listens makes them.
    socket.allowHalfOpen = true;
    server.emit('connection', socket);
    socket.resume();
  };
  return { take, close };
}

async function makeServer(parts: Parts) {
  const { port, host } = parts.config;
  const app = await buildApp(parts);
  await app.ready();
  const closeConnections = watchConnections(app.server);
  return {
    server: app.server,
    listen: () => app.listen({ port, host }),
    close: () => {
      app.letFollowersGo();
      return Promise.race([closeConnections().then(() => app.close()), setTimeout(LAST_ANSWERS_MS)]);
    },
  };
}
