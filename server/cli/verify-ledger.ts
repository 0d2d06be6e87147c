import { withOwnerConnection } from '../../db/connect.ts';
import { errorCode } from '../../db/errors.ts';
import { readConfig, readEnvironment } from '../config.ts';
import { verifyLedger } from '../ledger/verify.ts';

/** npm run verify-ledger: checks that every change of the ledger is unaltered and in its position. */

const print = (line: string) => process.stderr.write(`${line}\n`);

try {
  const config = readConfig(readEnvironment());
  const { tenants, changes, removed, errors } = await withOwnerConnection(config, (owner) =>
    verifyLedger(owner, print),
  );
  for (const error of errors) print(error);
  const archived = removed > 0 ? ` ${removed} archived changes have been removed from the archive.` : '';
  const summary = `${changes} changes in ${tenants} ledgers.${archived}`;
  print(
    errors.length > 0
      ? `${summary} The ledger is damaged: ${errors.length} errors.`
      : `${summary} The ledger is intact.`,
  );
  process.exitCode = errors.length > 0 ? 1 : 0;
} catch (error) {
  const hint = errorCode(error) === '42501' ? ' Set DATABASE_URL to connect as the owner of the tables.' : '';
  print(`The ledger could not be verified: ${(error as Error).message.replace(/\.$/, '')}.${hint}`);
  process.exitCode = 2;
}
