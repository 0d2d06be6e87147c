import type { AddressInfo, Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { ConnectionTiming } from '../../db/driver.ts';
import { buildApp } from '../app.ts';
import type { AppOptions } from '../context.ts';
import { BACKLOG } from '../http/connections.ts';
import { serveMetrics } from '../metrics/endpoint.ts';
import type { CountBackup, Metrics } from '../metrics/metrics.ts';
import type { BackupTiming } from './backups.ts';
import { watchConnections } from './shutdown.ts';

/** Options that tests pass to the processes they start: other deadlines and a cheaper password hash. */
export interface ProcessOptions extends Pick<AppOptions, 'timing' | 'passwordCost'> {
  connectionTiming?: ConnectionTiming;
  backupTiming?: BackupTiming;
}

/** A listening server, which processes requests itself or passes its connections to workers. */
export interface RunningServer {
  port: number;
  /** The metrics port, if there is a separate one. */
  metricsPort?: number;
  /** Counts scheduled backups in the metrics. undefined: metrics are switched off. */
  backupCounter?: (() => CountBackup) | undefined;
  /** Stops accepting connections and waits for the requests in flight. */
  close(): Promise<void>;
}

/** Serves requests in this process. */
export async function serve(options: AppOptions): Promise<RunningServer> {
  const { server, listen, close, metrics } = await createServer(options);
  const { metricsPort, host } = options.config;
  if (!metrics || metricsPort === null) {
    await listen();
    return { port: (server.address() as AddressInfo).port, backupCounter: metrics?.backupCounter, close };
  }
  const endpoint = await serveMetrics({ metricsPort, host }, metrics.scrape);
  await listen();
  return {
    port: (server.address() as AddressInfo).port,
    metricsPort: endpoint.port,
    backupCounter: metrics.backupCounter,
    async close() {
      await close();
      endpoint.close();
    },
  };
}

/** The same for connections that another process has accepted. */
export async function serveSockets(options: AppOptions): Promise<{
  accept: (socket: Socket) => void;
  close(): Promise<void>;
  metrics: Pick<Metrics, 'snapshot'> | undefined;
}> {
  let port: number | undefined;
  const { server, close, metrics } = await createServer({ ...options, listeningPort: () => port });
  // Node checks for slow clients only after this event, and this server never listens.
  server.emit('listening');
  const accept = (socket: Socket) => {
    port ??= socket.localPort;
    // A listening server sets this on its sockets too.
    socket.allowHalfOpen = true;
    server.emit('connection', socket);
    socket.resume();
  };
  return { accept, close, metrics };
}

async function createServer(options: AppOptions) {
  const { port, host } = options.config;
  const app = await buildApp(options);
  await app.ready();
  const closeConnections = watchConnections(app.server, app.timing.shutdownIdleMs);
  return {
    server: app.server,
    metrics: app.metrics,
    listen: () => app.listen({ port, host, backlog: BACKLOG }),
    close: () => {
      app.endSubscriptions();
      return Promise.race([closeConnections().then(() => app.close()), setTimeout(app.timing.shutdownMs)]);
    },
  };
}
