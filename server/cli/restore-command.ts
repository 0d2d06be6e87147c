import path from 'node:path';
import { parseArgs } from 'node:util';
import { listBackups, readManifest, type StoredBackup } from '../../db/backup/manifest.ts';
import { type Connections, restoreBackup } from '../../db/backup/restore.ts';
import { countRecords } from '../../db/backup/take-backup.ts';
import { StartupError } from '../../db/startup-error.ts';
import { type Config, readConfig } from '../config.ts';
import { verifyLedger } from '../ledger/verify.ts';
import type { BackupTerminal } from './backup-command.ts';
import { callOf } from './call.ts';

const usage = () => `Specify a backup, or a folder with backups:

  ${callOf('restore', '--from folder')}
      restores the backup, or the newest one
  ${callOf('restore', '--from folder --until 2026-11-17T12:00:05Z')}
      also applies the archived changes until that time; \`--until latest\`: all archived changes

--wal-archive folder reads the archive from this folder instead of BANYAN_WAL_ARCHIVE. --replace moves an existing database aside.
--timeline number follows this timeline instead of the newest one. --ignore-errors restores even if the verification finds errors.`;

/** A mistake in the arguments, which the operator can correct. */
class UsageError extends Error {}

/** Returns the exit code: 0 for success, 1 for a mistake in the arguments, 2 for any other error. */
export async function runRestore(args: string[], terminal: BackupTerminal): Promise<number> {
  try {
    await restore(readArgs(args), terminal);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.print(error.message);
      return 1;
    }
    const message = terminal.signal.aborted ? 'the restore was interrupted' : (error as Error).message;
    terminal.print(`The database was not restored: ${message.replace(/\.$/, '')}.`);
    return 2;
  }
}

type Arguments = ReturnType<typeof readArgs>;

async function restore(args: Arguments, { environment, print, signal }: BackupTerminal): Promise<void> {
  const config = readConfig(environment);
  if (config.databaseUrl) {
    throw new StartupError(
      'This command restores the embedded PostgreSQL. With DATABASE_URL follow docs/operations.md, or unset it',
    );
  }
  const { until, timeline, replace } = args;
  const walArchive = args.walArchive ? path.resolve(args.walArchive) : config.walArchive;
  if (until !== undefined && !walArchive) {
    throw new StartupError(
      '--until needs the archive: set BANYAN_WAL_ARCHIVE to the folder that the service used, or add --wal-archive',
    );
  }
  const backup = findBackup(path.resolve(args.from), until);
  const { replaced } = await restoreBackup({
    dataDir: config.dataDir,
    backup,
    until,
    timeline,
    walArchive,
    replace,
    async verify(connections) {
      const errors = await findErrors(connections, { backup, until, config, print });
      for (const error of errors) print(error);
      if (errors.length > 0 && !args.ignoreErrors)
        throw new StartupError(
          `Errors found by the verification: ${errors.length}. To restore it anyway, add --ignore-errors`,
        );
    },
    progress: (line) => print(`${line} …`),
    signal,
  });
  print(`\nThe database in ${config.dataDir} is restored.`);
  if (replaced) print(`The previous database is in ${replaced}. Remove it when you no longer need it.`);
  print('Next: start the service, and take a new backup.');
}

function readArgs(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        from: { type: 'string' },
        until: { type: 'string' },
        timeline: { type: 'string' },
        'wal-archive': { type: 'string' },
        replace: { type: 'boolean', default: false },
        'ignore-errors': { type: 'boolean', default: false },
      },
    });
    const { from, until, timeline, replace } = values;
    if (!from) throw new UsageError(usage());
    if (until !== undefined && until !== 'latest' && !isTime(until)) {
      throw new UsageError('--until must be `latest`, or a time with a time zone: 2026-11-17T12:00:05Z');
    }
    if (timeline !== undefined && (!/^[1-9]\d{0,8}$/.test(timeline) || until === undefined)) {
      throw new UsageError('--timeline must be a number, and needs --until');
    }
    const [walArchive, ignoreErrors] = [values['wal-archive'], values['ignore-errors']];
    return { from, until, timeline, replace, walArchive, ignoreErrors };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`${(error as Error).message}\n\n${usage()}`);
  }
}

const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text));

/** Finds the backup in a folder, or the newest one below it that ended before the time. */
function findBackup(folder: string, until: string | undefined): StoredBackup {
  const limit = until === undefined || until === 'latest' ? Number.POSITIVE_INFINITY : Date.parse(until);
  const manifest = readManifest(folder);
  const backups = manifest ? [{ folder, manifest }] : listBackups(folder);
  if (backups.length === 0) {
    throw new StartupError(
      `There is no complete backup in ${folder}: a backup has a file backup.json, which is written last`,
    );
  }
  const usable = backups.filter((backup) => Date.parse(backup.manifest.time) <= limit).at(-1);
  if (usable) return usable;
  throw new StartupError(
    `The backup must have ended before ${until}; the earliest one in ${folder} ended at ${backups[0]?.manifest.time}`,
  );
}

interface Expected {
  backup: StoredBackup;
  until: string | undefined;
  config: Config;
  print(line: string): void;
}

/** Checks the restored database before it is used: its ledger, and what was counted when the backup was taken. */
async function findErrors(
  { superuser, owner }: Connections,
  { backup: { manifest }, until, config, print }: Expected,
): Promise<string[]> {
  const counts = await countRecords(superuser);
  print(
    `  ${Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')}`,
  );
  const errors = Object.entries(manifest.counts).flatMap(([name, [before, after]]) => {
    // The ledger's archive may have been emptied after the backup. The anchor below shows whether the chain is complete.
    if (name === 'changes' && until !== undefined) return [];
    const count = counts[name] ?? 0;
    // The count lies between the two if there were writes while the backup ended. Later changes only add records.
    const isExpected = count >= Math.min(before, after) && (until !== undefined || count <= Math.max(before, after));
    return isExpected
      ? []
      : [`There are ${count} ${name} instead of ${before === after ? before : `${before} to ${after}`}.`];
  });
  const anchor = { time: manifest.time, heads: manifest.heads };
  const ledgerDays = config.ledgerDays === 'keep' ? 'keep' : Number(config.ledgerDays);
  const ledger = await verifyLedger(owner, { ledgerDays, anchor });
  if (ledger.errors.length === 0) {
    print(
      `  ${ledger.changes} changes in ${ledger.ledgers} ledgers. All ledgers are intact and match the hashes in the backup.`,
    );
  }
  return [...errors, ...ledger.errors];
}
