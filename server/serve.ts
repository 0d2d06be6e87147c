import type { AddressInfo, Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { ConnectionTiming } from '../db/sql.ts';
import { buildApp, type Options } from './app.ts';
import { watchConnections } from './http/closing.ts';

// V8 makes objects old from the start where most of their kind outlived a small collection. Here dozens of requests wait
// for the database whenever one comes: their objects look as if they lived long. Made old they keep alive what they point
// to, whole requests, until a large collection; then small ones took seven milliseconds instead of one, and a quarter of
// the processor time.
setFlagsFromString('--no-allocation-site-pretenuring');

/** What the tests' processes run with: other deadlines than the usual ones, and a cheaper password hash. */
export interface Footing extends Pick<Options, 'timing' | 'passwordCost'> {
  connectionTiming?: ConnectionTiming;
}

/** What listens: this process, or one that hands out to others. */
export interface Serving {
  port: number;
  /** Ends it without cutting off anybody who was let in. */
  close(): Promise<void>;
}

export async function serve(options: Options): Promise<Serving> {
  const { server, listen, close } = await makeServer(options);
  await listen();
  return { port: (server.address() as AddressInfo).port, close };
}

/** The same for connections that another process has taken in. */
export async function serveGiven(
  options: Options,
): Promise<{ take: (socket: Socket) => void; close(): Promise<void> }> {
  const { server, close } = await makeServer(options);
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

async function makeServer(options: Options) {
  const { port, host } = options.config;
  const app = await buildApp(options);
  await app.ready();
  const closeConnections = watchConnections(app.server, app.timing.lastRequestsMs);
  return {
    server: app.server,
    listen: () => app.listen({ port, host }),
    close: () => {
      app.letFollowersGo();
      return Promise.race([closeConnections().then(() => app.close()), setTimeout(app.timing.lastAnswersMs)]);
    },
  };
}
