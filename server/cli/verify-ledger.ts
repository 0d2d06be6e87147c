import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { withOwnerConnection } from '../../db/connect.ts';
import { errorCode } from '../../db/errors.ts';
import { readConfig, readEnvironment } from '../config.ts';
import { createAnchor, parseAnchor } from '../ledger/anchor.ts';
import { verifyLedger } from '../ledger/verify.ts';

/**
 * npm run verify-ledger: checks that every change of the ledger is unaltered and in its position, and that the records are
 * as their changes left them. With `--anchor` it prints the last hash of every chain, with `--compare` it compares the chains
 * with hashes that were printed earlier. `--key` signs them, or checks their signature.
 */

const print = (line: string) => process.stderr.write(`${line}\n`);

try {
  const { values } = parseArgs({
    options: { anchor: { type: 'boolean' }, compare: { type: 'string' }, key: { type: 'string' } },
  });
  const key = values.key === undefined ? undefined : fs.readFileSync(values.key, 'utf8');
  const anchor = values.compare === undefined ? undefined : parseAnchor(fs.readFileSync(values.compare, 'utf8'), key);
  const config = readConfig(readEnvironment());
  const ledgerDays = config.ledgerDays === 'keep' ? 'keep' : Number(config.ledgerDays);
  const time = new Date().toISOString();
  const { ledgers, changes, removed, heads, errors } = await withOwnerConnection(config, (owner) =>
    verifyLedger(owner, { ledgerDays, anchor, progress: print }),
  );
  for (const error of errors) print(error);
  const archived = removed > 0 ? ` ${removed} archived changes have been removed from the archive.` : '';
  const compared = anchor ? ` The ledgers were compared with the anchor of ${anchor.time}.` : '';
  const summary = `${changes} changes in ${ledgers} ledgers.${archived}${compared}`;
  if (errors.length === 0) {
    print(`${summary} The ledger is intact.`);
    if (values.anchor) process.stdout.write(`${JSON.stringify(createAnchor(time, heads, key))}\n`);
  } else {
    print(`${summary} The ledger is damaged. Errors: ${errors.length}.`);
    if (errors.some((error) => error.includes('BANYAN_LEDGER_DAYS')))
      print(
        'If BANYAN_LEDGER_DAYS was smaller earlier and the archive has been emptied, run this command with the smallest value that was used.',
      );
    if (values.anchor) print('No anchor was printed, because the ledger is damaged.');
    process.exitCode = 1;
  }
} catch (error) {
  const hint = errorCode(error) === '42501' ? ' Set DATABASE_URL to connect as the owner of the tables.' : '';
  print(`The ledger could not be verified: ${(error as Error).message.replace(/\.$/, '')}.${hint}`);
  process.exitCode = 2;
}
