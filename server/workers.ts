import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Target } from '../db/sql.ts';
import type { Config } from './config.ts';
import type { Footing, Serving } from './serve.ts';
import { defaultTiming } from './timing.ts';

/** What a worker needs to begin. The login goes this way because others may read an environment. */
export interface Task {
  config: Config;
  database: Target;
  footing?: Footing;
}
/** What is said to a worker, beside its task. With a connection comes its socket. */
export type Said = 'connection' | 'stop';
/** What it says itself; `taken` for each connection that it was given. */
export type Told = 'here' | 'ready' | 'taken';

/** A worker that dies at once dies again: it is given time, so that nobody is kept busy with that. */
const PAUSE_MS = 1_000;

/**
 * Several processes that serve together. They share nothing but the database, like nodes do. This one has prepared it
 * and keeps it; it takes connections in and hands them out in turn, and replaces a worker that dies. Node's own cluster
 * would drop connections that it has taken in and not yet handed out when it is closed.
 */
export async function serveInWorkers(task: Task, say: (line: string) => void): Promise<Serving> {
  const { host, port, workers } = task.config;
  const { lastAnswersMs } = { ...defaultTiming, ...task.footing?.timing };
  const serving: Worker[] = [];
  let closing = false;

  async function begin(): Promise<void> {
    const worker = new Worker();
    // It listens to us once it has said something: what is sent before that is lost.
    await worker.says('here');
    worker.send(task);
    await worker.says('ready');
    serving.push(worker);
    void worker.ended.then((how) => {
      serving.splice(serving.indexOf(worker), 1);
      if (!closing) void replace(how);
    });
  }

  async function replace(how: string) {
    say(`a worker ended (${how}); another begins`);
    while (!closing) {
      try {
        return await begin();
      } catch (error) {
        say(`it did not: ${(error as Error).message}`);
        await setTimeout(PAUSE_MS);
      }
    }
  }

  function handOut(socket: net.Socket) {
    const worker = serving.shift();
    if (!worker) return void socket.destroy();
    serving.push(worker);
    worker.give(socket);
  }

  const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, handOut);
  const close = async () => {
    closing = true;
    server.close();
    await Promise.all(serving.map((worker) => worker.stop(lastAnswersMs + 500)));
  };
  try {
    await Promise.all(Array.from({ length: workers }, begin));
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    await close();
    throw error;
  }
  return { port: (server.address() as net.AddressInfo).port, close };
}

class Worker {
  /** How: its exit code, or the signal. */
  readonly ended: Promise<string>;
  private readonly process: ChildProcess;
  /** On their way to it. Ours is closed when it has taken its own, or has died: its caller would wait for ever. */
  private readonly given: net.Socket[] = [];

  constructor() {
    this.process = fork(fileURLToPath(new URL('./worker.js', import.meta.url)), { execArgv: [] });
    this.process.on('message', (told: Told) => told === 'taken' && this.given.shift()?.destroy());
    // What cannot be told anything any more is of no use.
    this.process.on('error', () => this.process.kill('SIGKILL'));
    this.ended = new Promise((resolve) =>
      this.process.once('exit', (code, signal) => {
        for (const socket of this.given) socket.destroy();
        resolve(String(signal ?? code));
      }),
    );
  }

  /** Waits until it says so. */
  says(word: Told): Promise<void> {
    return new Promise((resolve, reject) => {
      const hear = (told: Told) => {
        if (told !== word) return;
        this.process.off('message', hear);
        resolve();
      };
      this.process.on('message', hear);
      void this.ended.then((how) => reject(new Error(`a worker ended (${how})`)));
    });
  }

  send(message: Task | Said, socket?: net.Socket) {
    // It may have died a moment ago; then we hear of that elsewhere.
    this.process.send(message, socket, { keepOpen: true }, () => {});
  }

  give(socket: net.Socket) {
    this.given.push(socket);
    this.send('connection', socket);
  }

  async stop(withinMs: number) {
    // Behind all connections that it was given.
    if (this.process.connected) this.send('stop');
    await Promise.race([this.ended, setTimeout(withinMs)]);
    this.process.kill('SIGKILL');
  }
}
