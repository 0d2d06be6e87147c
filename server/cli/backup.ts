import { readEnvironment } from '../config.ts';
import { runBackup } from './backup-command.ts';
import { abortOnSignal } from './interruptible.ts';

/** npm run backup -- --to folder: takes a backup of the embedded database, whether or not the service is running. */
const exitCode = await runBackup(process.argv.slice(2), {
  environment: readEnvironment(),
  print: (line) => void process.stderr.write(`${line}\n`),
  signal: abortOnSignal(),
});
// After an interruption, a connection to PostgreSQL may stay open until its last statement ends.
process.exit(exitCode);
