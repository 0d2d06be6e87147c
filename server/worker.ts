import { once } from 'node:events';
import type { Socket } from 'node:net';
import { openPool } from '../db/connect.ts';
import { outliveLostConnections } from '../db/sql.ts';
import { serveGiven } from './serve.ts';
import type { Said, Task, Told } from './workers.ts';

/** One of several processes that serve; see workers.ts, which starts it, and hands it its connections. */

const tell = (told: Told) => process.send?.(told);

outliveLostConnections();
process.setSourceMapsEnabled(true);
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
// A terminal sends its signals to all; it is for the one that started us to say when we stop. Without him we go.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => {});
process.once('disconnect', () => process.exit(1));
tell('here');
const [{ config, database, footing }] = (await once(process, 'message')) as [Task];
const { connectionTiming, ...parts } = footing ?? {};
const db = openPool(database, { ...config, ...(connectionTiming ? { timing: connectionTiming } : {}) });
const { take, close } = await serveGiven({ db, config, ...parts });
process.on('message', async (said: Said, socket: Socket) => {
  if (said === 'connection') {
    // Its caller may have gone on the way.
    if (socket) take(socket);
    tell('taken');
  }
  if (said !== 'stop') return;
  await close();
  await db.close();
  process.exit(0);
});
tell('ready');
