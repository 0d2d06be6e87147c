import { setTimeout } from 'node:timers/promises';
import { type DatabaseOptions, withOwnerConnection } from '../../db/connect.ts';
import type { Sql } from '../../db/driver.ts';
import { errorCode } from '../../db/errors.ts';
import { archiveLedger } from '../ledger/archive.ts';

const DAY_MS = 86_400_000;
/** How long a shutdown waits for a running archive that does not react, for example because it is still connecting. */
const STOP_MS = 2_000;

/** Moves changes older than this many days to the archive, now and once a day. Returns a function that stops it. */
export function startArchiving(
  options: DatabaseOptions,
  days: number,
  print: (line: string) => void,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  const stopping = new AbortController();
  const { signal } = stopping;
  const work = async (owner: Sql) => {
    // The current batch may be waiting for a lock. PostgreSQL rolls it back, and the next start moves it.
    const disconnect = () => void owner.end({ timeout: 0 });
    if (signal.aborted) return 0;
    signal.addEventListener('abort', disconnect);
    try {
      return await archiveLedger(owner, days, signal);
    } finally {
      signal.removeEventListener('abort', disconnect);
    }
  };
  const archive = () => {
    running ??= withOwnerConnection(options, work)
      .then((moved) => moved > 0 && print(`Moved ${moved} changes to the archive`))
      .catch((error) => {
        if (signal.aborted) return;
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
    stopping.abort();
    await Promise.race([running, setTimeout(STOP_MS, undefined, { ref: false })]);
  };
}
