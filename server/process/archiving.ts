import { type DatabaseOptions, withOwnerConnection } from '../../db/connect.ts';
import { errorCode } from '../../db/errors.ts';
import { archiveLedger } from '../ledger/archive.ts';

const DAY_MS = 86_400_000;

/** Moves changes older than this many days to the archive, now and once a day. Returns a function that stops it. */
export function startArchiving(
  options: DatabaseOptions,
  days: number,
  print: (line: string) => void,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  const archive = () => {
    running ??= withOwnerConnection(options, (owner) => archiveLedger(owner, days))
      .then((moved) => moved > 0 && print(`Moved ${moved} changes to the archive`))
      .catch((error) => {
        const cause =
          errorCode(error) === '42501'
            ? 'archiving requires the owner of the tables. Set DATABASE_URL to connect as the owner'
            : error.message;
        print(`The ledger was not archived: ${cause}`);
      })
      .then(() => {
        running = undefined;
      });
  };
  archive();
  const timer = setInterval(archive, DAY_MS);
  return async () => {
    clearInterval(timer);
    await running;
  };
}
