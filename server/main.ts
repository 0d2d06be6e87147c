import { type Database, openDatabase } from '../db/connect.ts';
import { StartRefused } from '../db/embedded.ts';
import { type App, buildApp } from './app.ts';
import { prepareHashing } from './auth/passwords.ts';
import { type Config, readConfig, readEnvironment } from './config.ts';
import { type FirstAdministrator, makeFirstAdministrator } from './first-start.ts';
import { version } from './version.ts';

/** Words for people go to standard error; standard output carries the JSON log alone. */
const say = (line: string) => process.stderr.write(`${line}\n`);

/** Config, database, tables, first administrator, listen; and the same way back. */
async function main(): Promise<void> {
  const config = readConfig(readEnvironment());
  say(`Banyan ${version} 榕树`);
  let stopping = false;
  const opened: { db?: Database; app?: App } = {};
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    say(`${signal}: finishing what is under way`);
    await opened.app?.close();
    await opened.db?.close();
    say('Stopped.');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));

  const progress = (sentence: string) => say(`  ${sentence} …`);
  const db = await openDatabase({ ...config, progress });
  opened.db = db;
  try {
    await prepareHashing();
    const first = await makeFirstAdministrator(db, config);
    const app = await buildApp({ db, config });
    await app.listen({ port: config.port, host: config.host });
    opened.app = app;
    say(greeting(config, addressOf(app, config), first));
  } catch (error) {
    await db.close();
    throw error;
  }
}

function addressOf(app: App, { host }: Config): string {
  const address = app.server.address();
  const port = typeof address === 'object' ? address?.port : address;
  const name = ['127.0.0.1', '0.0.0.0', '::', '::1'].includes(host) ? 'localhost' : host;
  return `http://${name}:${port}`;
}

function greeting(config: Config, address: string, first: FirstAdministrator | undefined): string {
  const lines = ['', `  Ready at   ${address}`, `  Reference  ${address}/docs`];
  let call = `curl -s ${address}/health/ready`;
  if (first) {
    const { userName, generatedPassword } = first;
    lines.push('  Tenant     000000', `  User       ${userName}`);
    if (generatedPassword) {
      lines.push(`  Password   ${generatedPassword}   (shown this once; PUT /auth/password changes it)`);
      const body = JSON.stringify({ tenantId: '000000', username: userName, password: generatedPassword });
      call = `curl -s ${address}/auth/login -H 'content-type: application/json' -d '${body.replaceAll("'", "'\\''")}'`;
    } else lines.push('  Password   as BANYAN_ADMIN_PASSWORD says');
  }
  if (!config.databaseUrl) lines.push(`  Data       ${config.dataDir}`);
  return [...lines, '', '  Try it:', `  ${call}`, ''].join('\n');
}

main().catch((error) => {
  if (error instanceof StartRefused) say(`\nBanyan did not start. ${error.message}`);
  else if (error?.code === 'EADDRINUSE') {
    say(`\nBanyan did not start. Port ${error.port} is taken: stop what listens there, or set PORT to another.`);
  } else say(`\nBanyan did not start.\n${error?.stack ?? error}`);
  process.exit(1);
});
