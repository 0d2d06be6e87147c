import { asOwner, type Place } from '../db/connect.ts';
import { archiveLedger } from '../db/ledger.ts';
import { codeOf } from '../db/sql.ts';

const DAY_MS = 86_400_000;

/** Now and once a day, what is older than so many days goes to the archive. Tells how to stop it. */
export function keepArchiving(place: Place, days: number, say: (sentence: string) => void): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  const archive = () => {
    underWay ??= asOwner(place, (owner) => archiveLedger(owner, days))
      .then((moved) => moved > 0 && say(`${moved} changes were moved to the archive`))
      .catch((error) => {
        const why =
          codeOf(error) === '42501' ? 'only the owner of the tables can: give his DATABASE_URL' : error.message;
        say(`The ledger was not archived: ${why}`);
      })
      .then(() => {
        underWay = undefined;
      });
  };
  archive();
  const clock = setInterval(archive, DAY_MS);
  return async () => {
    clearInterval(clock);
    await underWay;
  };
}
