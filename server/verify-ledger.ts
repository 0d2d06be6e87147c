import { asOwner } from '../db/connect.ts';
import { verifyLedger } from '../db/ledger.ts';
import { codeOf } from '../db/sql.ts';
import { readConfig, readEnvironment } from './config.ts';

/** npm run verify-ledger: whether every row of the ledger is as it was written, and where it was. */

const say = (line: string) => process.stderr.write(`${line}\n`);

try {
  const config = readConfig(readEnvironment());
  const { tenants, changes, gone, faults } = await asOwner(config, (owner) => verifyLedger(owner, say));
  for (const fault of faults) say(fault);
  const archived = gone > 0 ? ` ${gone} were archived and are gone.` : '';
  const all = `${changes} changes in ${tenants} ledgers.${archived}`;
  say(faults.length > 0 ? `${all} The ledger is not whole: ${faults.length} faults.` : `${all} The ledger is whole.`);
  process.exitCode = faults.length > 0 ? 1 : 0;
} catch (error) {
  const why = codeOf(error) === '42501' ? ' Give the DATABASE_URL of the tables’ owner.' : '';
  say(`The ledger could not be verified: ${(error as Error).message.replace(/\.$/, '')}.${why}`);
  process.exitCode = 2;
}
