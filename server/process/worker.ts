import { once } from 'node:events';
import type { Socket } from 'node:net';
import { openPool } from '../../db/connect.ts';
import { ignoreLostConnections } from '../../db/driver.ts';
import { serveSockets } from './serve.ts';
import { createRemoteScrape } from './worker-metrics.ts';
import type { ParentMessage, WorkerMessage, WorkerTask } from './workers.ts';

/** A worker process. Its parent (workers.ts) starts it and passes it connections. */

const send = (message: WorkerMessage) => process.send?.(message);

ignoreLostConnections();
process.setSourceMapsEnabled(true);
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
// Ignore signals: a terminal sends them to all processes, but only the parent decides when a worker stops.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => {});
// The parent has exited.
process.once('disconnect', () => process.exit(1));
send('started');
const [{ config, database, processOptions }] = (await once(process, 'message')) as [WorkerTask];
const { connectionTiming, backupTiming: _, ...appOptions } = processOptions ?? {};
const db = openPool(database, { ...config, ...(connectionTiming ? { timing: connectionTiming } : {}) });
const { scrape, receiveScrape } = createRemoteScrape(() => send('scrape'));
const { accept, close, metrics } = await serveSockets({ db, config, scrape, ...appOptions });
process.on('message', async (message: ParentMessage, socket: Socket) => {
  if (message === 'connection') {
    // The socket is missing if the client has disconnected in the meantime.
    if (socket) accept(socket);
    send('accepted');
  }
  if (typeof message === 'object') {
    if ('scraped' in message) receiveScrape(message.scraped);
    else if (metrics) send({ collected: message.collect, snapshot: await metrics.snapshot() });
  }
  if (message !== 'stop') return;
  await close();
  await db.close();
  process.exit(0);
});
send('ready');
