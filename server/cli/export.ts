import path from 'node:path';
import { parseArgs } from 'node:util';
import { withOwnerConnection } from '../../db/connect.ts';
import { exportTables } from '../../db/transfer.ts';
import { readConfig, readEnvironment } from '../config.ts';
import { callOf } from './call.ts';
import { runTransfer } from './transfer-command.ts';

/** npm run export -- --to folder: writes all data into a new folder, whether or not the service is running. */

process.exitCode = await runTransfer('exported', async (print) => {
  const { values } = parseArgs({ options: { to: { type: 'string' } } });
  if (!values.to) return `Specify a folder that does not exist yet: ${callOf('export', '--to folder')}`;
  const folder = path.resolve(values.to);
  const config = readConfig(readEnvironment());
  const rows = await withOwnerConnection(config, (owner) => exportTables(owner, folder, print));
  print(`${rows} rows were exported to ${folder}.`);
  print('The folder contains password hashes and the secrets of webhooks: store it as safely as the database.');
  return undefined;
});
