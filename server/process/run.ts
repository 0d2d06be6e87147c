import { once } from 'node:events';
import { openDatabase, type PreparedDatabase } from '../../db/connect.ts';
import { ignoreLostConnections } from '../../db/driver.ts';
import { isConnectionLost, isFatal, isStandby } from '../../db/errors.ts';
import { StartupError } from '../../db/startup-error.ts';
import { type Config, readConfig, readEnvironment } from '../config.ts';
import { version } from '../version.ts';
import { startArchiving } from './archiving.ts';
import { openBackups, watchArchive } from './backups.ts';
import { createFirstAdministratorOnce, type FirstAdministrator } from './first-start.ts';
import { chooseServiceUser, dropPrivileges, type ServiceUser } from './privileges.ts';
import { type ProcessOptions, type RunningServer, serve } from './serve.ts';
import { serveInWorkers } from './workers.ts';

type Print = (line: string) => void;

/** Messages for people go to standard error; standard output contains only the JSON log. */
const print: Print = (line) => void process.stderr.write(`${line}\n`);

/** Starts everything in order: settings, database, first administrator, server. Shuts down in reverse when `stop` aborts. */
async function main(processOptions: ProcessOptions, stop: AbortSignal): Promise<void> {
  const config = readConfig(readEnvironment());
  print(`Banyan ${version} 榕树`);
  const progress = (step: string) => print(`  ${step} …`);
  const { connectionTiming, passwordCost } = processOptions;
  const db = await openDatabase({
    ...config,
    progress,
    signal: stop,
    ...(connectionTiming ? { timing: connectionTiming } : {}),
  });
  try {
    const first = await createFirstAdministratorOnce(db, config, passwordCost);
    // Print this before listening: the account exists now, and its password is never shown again.
    if (first) print(describeFirstAdministrator(first));
    const user = chooseServiceUser(db.embedded, config.databaseUrl, print);
    const startJobs = prepareJobs(config, db, processOptions, print);
    const server = await listen({ ...config, adminPassword: '' }, db, processOptions, { stop, user });
    if (user) dropPrivileges(user, print);
    const stopJobs = startJobs(server);
    print(describeService(config, server, first));
    if (!stop.aborted) await once(stop, 'abort');
    await server.close();
    await stopJobs();
  } finally {
    await db.close();
  }
}

/** Prepares what runs in the background in this process only, and returns a function that starts it. */
function prepareJobs(config: Config, db: PreparedDatabase, { backupTiming }: ProcessOptions, print: Print) {
  const { ledgerDays, backupFolder, walArchive } = config;
  const backups = backupFolder && db.embedded ? openBackups(db.embedded, config, print, backupTiming) : undefined;
  return ({ backupCounter }: RunningServer) => {
    const stopJobs = [
      ledgerDays === 'keep' ? undefined : startArchiving(db.owner, Number(ledgerDays), print),
      backups?.start(backupCounter?.()),
      walArchive ? watchArchive(db, config, print, backupTiming) : undefined,
    ];
    return () => Promise.all(stopJobs.map((stopJob) => stopJob?.()));
  };
}

async function listen(
  config: Config,
  db: PreparedDatabase,
  processOptions: ProcessOptions,
  { stop, user }: { stop: AbortSignal; user: ServiceUser | undefined },
): Promise<RunningServer> {
  try {
    if (config.workers > 1) {
      return await serveInWorkers({ config, database: db.service, processOptions }, db, { print, user });
    }
    const { connectionTiming: _, backupTiming: __, ...appOptions } = processOptions;
    return await serve({ db, config, ...appOptions });
  } catch (error) {
    // A signal from the terminal also reaches the workers, and ends those that do not ignore signals yet.
    stop.throwIfAborted();
    throw error;
  }
}

/** The service was stopped while it was starting, which is not a failure. */
class Stopped extends Error {}

function stopOnSignal(): AbortSignal {
  const controller = new AbortController();
  // SIGHUP means that the terminal was closed. A signal may arrive twice, from npm and from the terminal.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) return;
      print(`${signal}: finishing requests in flight`);
      controller.abort(new Stopped());
    });
  }
  return controller.signal;
}

function addressOf(port: number, { host }: Config): string {
  const name = ['127.0.0.1', '0.0.0.0', '::', '::1'].includes(host) ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function describeFirstAdministrator({ userName, generatedPassword }: FirstAdministrator): string {
  const password = generatedPassword
    ? `${generatedPassword}   (shown only once; change it with PUT /auth/password)`
    : 'as set in BANYAN_ADMIN_PASSWORD';
  return ['', '  Tenant     000000', `  User       ${userName}`, `  Password   ${password}`].join('\n');
}

function describeService(config: Config, server: RunningServer, first: FirstAdministrator | undefined): string {
  const address = addressOf(server.port, config);
  const { metricsPort } = server;
  const lines = ['', `  Ready at   ${address}`, `  Reference  ${address}/docs`];
  if (!config.databaseUrl) lines.push(`  Data       ${config.dataDir}`);
  if (metricsPort !== undefined) lines.push(`  Metrics    ${addressOf(metricsPort, config)}/metrics`);
  else if (config.metrics) lines.push(`  Metrics    ${address}/metrics`);
  let call = `curl -s ${address}/health/ready`;
  if (first?.generatedPassword) {
    const body = JSON.stringify({ tenantId: '000000', username: first.userName, password: first.generatedPassword });
    call = `curl -s ${address}/auth/login -H 'content-type: application/json' -d '${body.replaceAll("'", "'\\''")}'`;
  }
  return [...lines, '', '  Try it:', `  ${call}`, ''].join('\n');
}

function explain(error: Error & { code?: string; port?: number }): string {
  if (error instanceof StartupError) return ` ${error.message}`;
  if (error.code === 'EADDRINUSE')
    return ` Port ${error.port} is in use: stop the process that uses it, or set PORT to another port.`;
  if (error.code === 'EACCES' && error.port)
    return ` This user may not use port ${error.port}: set PORT to 1024 or higher.`;
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return ` HOST is not an address of this machine: ${error.message}`;
  // The database was there a moment ago: a failover during the start, for example.
  if (isFatal(error) || isStandby(error) || isConnectionLost(error.code ?? ''))
    return ` The database is unavailable (${error.code}): ${error.message}. Start the service again.`;
  return `\n${error.stack ?? error}`;
}

/** Runs the service until a signal stops it; then the process ends. */
export function run(processOptions: ProcessOptions = {}): void {
  // The terminal may be closed. A write to it then fails, which must not interrupt the shutdown.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  ignoreLostConnections();
  const stop = stopOnSignal();
  main(processOptions, stop)
    .catch((error) => {
      if (error instanceof Stopped) return;
      print(`\nBanyan did not ${stop.aborted ? 'stop cleanly' : 'start'}.${explain(error)}`);
      process.exit(1);
    })
    .then(() => {
      print('Stopped.');
      process.exit(0);
    });
}
