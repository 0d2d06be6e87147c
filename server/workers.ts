import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Target } from '../db/sql.ts';
import type { Config } from './config.ts';
import { LAST_ANSWERS_MS, type Serving } from './serve.ts';

/** What a worker needs to begin. The login goes this way because others may read an environment. */
export interface Task {
  config: Config;
  database: Target;
}
/** What is said to a worker, beside its task. With a connection comes its socket. */
export type Said = 'connection' | 'stop';
/** What it says itself. */
export type Told = 'here' | 'ready';

/** A worker that dies at once dies again: it is given time, so that nobody is kept busy with that. */
const PAUSE_MS = 1_000;

/**
 * Several processes that serve together. They share nothing but the database, like nodes do. This one has prepared it
 * and keeps it; it takes connections in and hands them out in turn, and replaces a worker that dies. Node's own cluster
 * would drop connections that it has taken in and not yet handed out when it is closed.
 */
export async function serveInWorkers(task: Task, say: (line: string) => void): Promise<Serving> {
  const { host, port, workers } = task.config;
  const serving: ChildProcess[] = [];
  let closing = false;

  async function begin(): Promise<void> {
    const worker = fork(fileURLToPath(new URL('./worker.js', import.meta.url)), { execArgv: [] });
    const dead = once(worker, 'exit').then(([code, signal]) => {
      throw new Error(`a worker ended (${signal ?? code})`);
    });
    const ready = async () => {
      // It listens to us once it has said something: what is sent before that is lost.
      await once(worker, 'message');
      worker.send(task);
      await once(worker, 'message');
    };
    await Promise.race([ready(), dead]);
    serving.push(worker);
    dead.catch(({ message }) => {
      serving.splice(serving.indexOf(worker), 1);
      if (!closing) void replace(message);
    });
  }

  async function replace(message: string) {
    say(`${message}; another begins`);
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
    worker.send('connection' satisfies Said, socket);
  }

  async function end(worker: ChildProcess) {
    const exit = once(worker, 'exit');
    // Behind all connections that it was given.
    if (worker.connected) worker.send('stop' satisfies Said);
    await Promise.race([exit, setTimeout(LAST_ANSWERS_MS + 500)]);
    worker.kill('SIGKILL');
  }

  const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, handOut);
  const close = async () => {
    closing = true;
    server.close();
    await Promise.all(serving.map(end));
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
