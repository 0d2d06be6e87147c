import { readEnvironment } from '../config.ts';
import { abortOnSignal } from './interruptible.ts';
import { runRestore } from './restore-command.ts';

/** npm run restore -- --from folder [--until time] [--replace]: restores a backup of the embedded database. */
const exitCode = await runRestore(process.argv.slice(2), {
  environment: readEnvironment(),
  print: (line) => void process.stderr.write(`${line}\n`),
  signal: abortOnSignal(),
});
// After an interruption, a connection to PostgreSQL may stay open until its last statement ends.
process.exit(exitCode);
