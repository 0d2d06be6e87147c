import path from 'node:path';
import { parseArgs } from 'node:util';
import { takeBackup } from '../../db/backup/take-backup.ts';
import { withEmbedded } from '../../db/connect.ts';
import { StartupError } from '../../db/startup-error.ts';
import { type Environment, readConfig } from '../config.ts';
import { version } from '../version.ts';
import { callOf } from './call.ts';

/** The environment and output of a command. The signal interrupts it. */
export interface BackupTerminal {
  environment: Environment;
  print(line: string): void;
  signal: AbortSignal;
}

const usage = () => `Specify a folder that does not exist yet: ${callOf('backup', '--to folder')}`;

/** Returns the exit code: 0 for success, 1 for a mistake in the arguments, 2 for any other error. */
export async function runBackup(args: string[], { environment, print, signal }: BackupTerminal): Promise<number> {
  try {
    const { values } = parseArgs({ args, options: { to: { type: 'string' } } });
    if (!values.to) {
      print(usage());
      return 1;
    }
    const to = path.resolve(values.to);
    const config = readConfig(environment);
    if (config.databaseUrl) {
      throw new StartupError(
        'This command backs up the embedded PostgreSQL. With DATABASE_URL use pg_basebackup (docs/operations.md)',
      );
    }
    print(`Backing up ${config.dataDir} …`);
    const { time, files, counts } = await withEmbedded(config, (server) => takeBackup(server, { to, version, signal }));
    const bytes = Object.values(files).reduce((sum, { size }) => sum + size, 0);
    const records = Object.entries(counts).map(([name, [count]]) => `${count} ${name}`);
    print(`The backup in ${to} is complete: ${Math.ceil(bytes / 1e6)} MB, ${records.join(', ')}.`);
    print(`It contains everything that was acknowledged before ${time}.`);
    print('It contains password hashes, signing keys and the secrets of webhooks: store it as safely as the database.');
    return 0;
  } catch (error) {
    const message = signal.aborted ? 'the backup was interrupted' : (error as Error).message;
    print(`The database was not backed up: ${message.replace(/\.$/, '')}.`);
    return String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS') ? 1 : 2;
  }
}
