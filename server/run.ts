import { once } from 'node:events';
import { openDatabase, type Prepared } from '../db/connect.ts';
import { outliveLostConnections } from '../db/sql.ts';
import { StartRefused } from '../db/start-refused.ts';
import { keepArchiving } from './archiving.ts';
import { type Config, readConfig, readEnvironment } from './config.ts';
import { type FirstAdministrator, makeFirstAdministrator } from './first-start.ts';
import { type Footing, type Serving, serve } from './serve.ts';
import { version } from './version.ts';
import { serveInWorkers } from './workers.ts';

/** Words for people go to standard error; standard output carries the JSON log alone. */
const say = (line: string) => process.stderr.write(`${line}\n`);

/** Config, database, tables, first administrator, listen; and, once somebody says stop, the same way back. */
async function main(footing: Footing, stop: AbortSignal): Promise<void> {
  const config = readConfig(readEnvironment());
  say(`Banyan ${version} 榕树`);
  const progress = (sentence: string) => say(`  ${sentence} …`);
  const { connectionTiming, passwordCost } = footing;
  const db = await openDatabase({
    ...config,
    progress,
    stop,
    ...(connectionTiming ? { timing: connectionTiming } : {}),
  });
  try {
    const first = await makeFirstAdministrator(db, config, passwordCost);
    // Print this before listening: the account exists now, and its password is never shown again.
    if (first) say(introduction(first));
    const serving = await listen(config, db, footing, stop);
    const { ledgerDays } = config;
    const stopArchiving = ledgerDays === 'keep' ? undefined : keepArchiving(config, Number(ledgerDays), progress);
    say(greeting(config, addressOf(serving, config), first));
    if (!stop.aborted) await once(stop, 'abort');
    await serving.close();
    await stopArchiving?.();
  } finally {
    await db.close();
  }
}

async function listen(config: Config, db: Prepared, footing: Footing, stop: AbortSignal): Promise<Serving> {
  try {
    if (config.workers > 1) return await serveInWorkers({ config, database: db.service, footing }, say);
    const { connectionTiming: _, ...parts } = footing;
    return await serve({ db, config, ...parts });
  } catch (error) {
    // A terminal stops the workers too, in the middle of their start.
    stop.throwIfAborted();
    throw error;
  }
}

/** Not a failure: somebody said stop while we were starting. */
class Stopped extends Error {}

function stopOnSignal(): AbortSignal {
  const controller = new AbortController();
  // SIGHUP: the terminal was closed. Signals may come twice, from npm and from the terminal.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) return;
      say(`${signal}: finishing open requests`);
      controller.abort(new Stopped());
    });
  }
  return controller.signal;
}

function addressOf({ port }: Serving, { host }: Config): string {
  const name = ['127.0.0.1', '0.0.0.0', '::', '::1'].includes(host) ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function introduction({ userName, generatedPassword }: FirstAdministrator): string {
  const password = generatedPassword
    ? `${generatedPassword}   (shown this once; PUT /auth/password changes it)`
    : 'as BANYAN_ADMIN_PASSWORD says';
  return ['', '  Tenant     000000', `  User       ${userName}`, `  Password   ${password}`].join('\n');
}

function greeting(config: Config, address: string, first: FirstAdministrator | undefined): string {
  const lines = ['', `  Ready at   ${address}`, `  Reference  ${address}/docs`];
  if (!config.databaseUrl) lines.push(`  Data       ${config.dataDir}`);
  let call = `curl -s ${address}/health/ready`;
  if (first?.generatedPassword) {
    const body = JSON.stringify({ tenantId: '000000', username: first.userName, password: first.generatedPassword });
    call = `curl -s ${address}/auth/login -H 'content-type: application/json' -d '${body.replaceAll("'", "'\\''")}'`;
  }
  return [...lines, '', '  Try it:', `  ${call}`, ''].join('\n');
}

function explain(error: Error & { code?: string; port?: number }): string {
  if (error instanceof StartRefused) return ` ${error.message}`;
  if (error.code === 'EADDRINUSE')
    return ` Port ${error.port} is taken: stop what listens there, or set PORT to another.`;
  if (error.code === 'EACCES' && error.port) return ` Port ${error.port} is not for this user: set PORT to another.`;
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return ` HOST is no address of this machine: ${error.message}`;
  return `\n${error.stack ?? error}`;
}

/** Runs the service until a signal stops it; then the process ends. */
export function run(footing: Footing = {}): void {
  // The terminal may be closed. A write to it then fails, which must not interrupt the shutdown.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  outliveLostConnections();
  const stop = stopOnSignal();
  main(footing, stop)
    .catch((error) => {
      if (error instanceof Stopped) return;
      say(`\nBanyan did not ${stop.aborted ? 'stop cleanly' : 'start'}.${explain(error)}`);
      process.exit(1);
    })
    .then(() => {
      say('Stopped.');
      process.exit(0);
    });
}
