import path from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase, withOwnerConnection } from '../../db/connect.ts';
import { hasDatabase } from '../../db/embedded/data-dir.ts';
import { importTables } from '../../db/transfer.ts';
import { readConfig, readEnvironment } from '../config.ts';
import { callOf } from './call.ts';
import { runTransfer } from './transfer-command.ts';

/** npm run import -- --from folder: reads an export (`npm run export`) into an empty database. */

process.exitCode = await runTransfer('imported', async (print) => {
  const { values } = parseArgs({ options: { from: { type: 'string' } } });
  if (!values.from) return `Specify the folder of an export: ${callOf('import', '--from folder')}`;
  const folder = path.resolve(values.from);
  const config = readConfig(readEnvironment());
  // A new database has no tables yet.
  if (config.databaseUrl || !hasDatabase(config.dataDir)) await (await openDatabase(config)).close();
  const rows = await withOwnerConnection(config, (owner) => importTables(owner, folder, print));
  print(`${rows} rows were imported. All sessions have ended; users log in with their previous passwords.`);
  print(`To check the history of changes: ${callOf('verify-ledger')}`);
  return undefined;
});
