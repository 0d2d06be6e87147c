import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../db/connect.ts';
import type { Target } from '../../db/driver.ts';
import type { Config } from '../config.ts';
import { BACKLOG } from '../http/connections.ts';
import { type MetricsEndpoint, serveMetrics } from '../metrics/endpoint.ts';
import type { Snapshot } from '../metrics/metrics.ts';
import { defaultTiming } from '../timing.ts';
import type { ServiceUser } from './privileges.ts';
import type { ProcessOptions, RunningServer } from './serve.ts';
import { startWorkerMetrics } from './worker-metrics.ts';

/** The data that a worker needs to start. It is a message, because an environment variable would expose the password. */
export interface WorkerTask {
  config: Config;
  database: Target;
  processOptions?: ProcessOptions;
}
/** The messages to a worker, after its task. A `connection` comes with its socket. */
export type ParentMessage = 'connection' | 'stop' | { collect: number } | { scraped: string | null };
/** The messages of a worker; `accepted` acknowledges a connection, and `scrape` asks for the metrics of all workers. */
export type WorkerMessage = 'started' | 'ready' | 'accepted' | 'scrape' | { collected: number; snapshot: Snapshot };

/** The pause after a worker failed to start: the next one will probably fail too, and must not keep the CPU busy. */
const RESTART_DELAY_MS = 1_000;

/**
 * V8 pretenures the objects of an allocation site, that is, allocates them in the old generation, if most of them survive
 * minor collections. Here dozens of requests always wait for the database, so their objects survive. Once pretenured, they
 * keep whole requests alive until a major collection: minor collections then took seven milliseconds instead of one, and a
 * quarter of the CPU time. `npm start` passes the same flag to a single process, and `npx banyan` sets it (cli/banyan.ts).
 */
const V8_FLAGS = ['--no-allocation-site-pretenuring'];

/**
 * Serves requests in several worker processes, which share nothing but the database, as nodes do. This process accepts
 * connections, passes them to the workers in turn, and replaces a worker that exits. Node's cluster module would drop
 * connections that it has accepted but not yet passed on when it is closed.
 */
export async function serveInWorkers(
  task: WorkerTask,
  db: Database,
  { print, user }: { print: (line: string) => void; user: ServiceUser | undefined },
): Promise<RunningServer> {
  const { host, port, workers, metricsPort } = task.config;
  const timing = { ...defaultTiming, ...task.processOptions?.timing };
  const ready: Worker[] = [];
  const needsMetrics = task.config.metrics || metricsPort !== null;
  const metrics = needsMetrics ? await startWorkerMetrics(db, timing, { ready, configured: workers }) : undefined;
  let closing = false;

  async function start(): Promise<void> {
    const worker = new Worker(user);
    // Wait for its first message: anything sent before it listens is lost.
    await worker.receive('started');
    worker.send(task);
    await worker.receive('ready');
    ready.push(worker);
    metrics?.watch(worker);
    void worker.exited.then((cause) => {
      ready.splice(ready.indexOf(worker), 1);
      if (!closing) void replace(cause);
    });
  }

  async function replace(cause: string) {
    print(`Worker exited (${cause}), starting another one`);
    while (!closing) {
      try {
        return await start();
      } catch (error) {
        print(`Worker failed to start: ${(error as Error).message}`);
        await setTimeout(RESTART_DELAY_MS);
      }
    }
  }

  function dispatch(socket: net.Socket) {
    const worker = ready.shift();
    if (!worker) return void socket.destroy();
    ready.push(worker);
    worker.pass(socket);
  }

  const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, dispatch);
  const close = async () => {
    closing = true;
    server.close();
    await Promise.all(ready.map((worker) => worker.stop(timing.shutdownMs + 500)));
    endpoint?.close();
  };
  let endpoint: MetricsEndpoint | undefined;
  try {
    await Promise.all(Array.from({ length: workers }, start));
    if (metrics && metricsPort !== null) endpoint = await serveMetrics({ metricsPort, host }, metrics.scrape);
    server.listen({ port, host, backlog: BACKLOG });
    await once(server, 'listening');
  } catch (error) {
    await close();
    throw error;
  }
  return {
    port: (server.address() as net.AddressInfo).port,
    ...(endpoint && { metricsPort: endpoint.port }),
    backupCounter: metrics?.backupCounter,
    close,
  };
}

export class Worker {
  /** Resolves to the exit code or the signal, or to why the process could not be created. */
  readonly exited: Promise<string>;
  private readonly process: ChildProcess;
  /**
   * Sockets that the worker has not acknowledged. This process closes its copy of a socket when the worker has accepted the
   * connection or has exited; otherwise the client would wait indefinitely.
   */
  private readonly unacknowledged: net.Socket[] = [];

  /** `user` is set if this process is root: workers don't need its privileges. */
  constructor(user: ServiceUser | undefined) {
    this.process = fork(fileURLToPath(new URL('./worker.js', import.meta.url)), { execArgv: V8_FLAGS, ...user });
    this.process.on('message', (message: WorkerMessage) => {
      if (message === 'accepted') this.unacknowledged.shift()?.destroy();
    });
    this.exited = new Promise((resolve) => {
      this.process.once('exit', (code, signal) => {
        for (const socket of this.unacknowledged) socket.destroy();
        resolve(String(signal ?? code));
      });
      this.process.on('error', (error) => {
        // A process that could not be created, because there are too many, never exits.
        if (this.process.pid === undefined) resolve(error.message);
        // A worker that cannot receive messages is useless.
        else this.process.kill('SIGKILL');
      });
    });
  }

  /** Waits for a message. Rejects if the worker exits first. */
  receive(expected: WorkerMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      const onMessage = (message: WorkerMessage) => {
        if (message !== expected) return;
        this.process.off('message', onMessage);
        resolve();
      };
      this.process.on('message', onMessage);
      void this.exited.then((cause) => reject(new Error(`worker exited (${cause})`)));
    });
  }

  onMessage(listener: (message: WorkerMessage) => void): void {
    this.process.on('message', listener);
  }

  send(message: WorkerTask | ParentMessage, socket?: net.Socket) {
    // Ignore errors: if the worker has just exited, `exited` reports it.
    this.process.send(message, socket, { keepOpen: true }, () => {});
  }

  pass(socket: net.Socket) {
    this.unacknowledged.push(socket);
    this.send('connection', socket);
  }

  async stop(withinMs: number) {
    // The message arrives after all connections that were passed before.
    if (this.process.connected) this.send('stop');
    await Promise.race([this.exited, setTimeout(withinMs)]);
    this.process.kill('SIGKILL');
  }
}
