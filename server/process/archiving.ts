import { setTimeout } from 'node:timers/promises';
import { withOwner } from '../../db/connect.ts';
import type { Sql, Target } from '../../db/driver.ts';
import { errorCode } from '../../db/errors.ts';
import { archiveLedger } from '../ledger/archive.ts';
import { archiveUses } from '../quotas/archive.ts';

const DAY_MS = 86_400_000;
/** How long a shutdown waits for a run of archiving that does not react, for example because it is still connecting. */
const STOP_MS = 2_000;

/**
 * Moves logins, superseded changes, and uses of quotas to the archive once they are older than `days` days, now and once a day.
 * Returns a function that stops it.
 */
export function startArchiving(target: Target, days: number, print: (line: string) => void): () => Promise<void> {
  let running: Promise<void> | undefined;
  const stopping = new AbortController();
  const { signal } = stopping;
  const work = async (owner: Sql) => {
    // The current batch may be waiting for a lock. PostgreSQL rolls it back, and the next start moves it.
    const disconnect = () => void owner.end({ timeout: 0 });
    if (signal.aborted) return { changes: 0, uses: 0 };
    signal.addEventListener('abort', disconnect);
    try {
      return {
        changes: await archiveLedger(owner, days, signal),
        uses: await archiveUses(owner, days, signal),
      };
    } finally {
      signal.removeEventListener('abort', disconnect);
    }
  };
  const archive = () => {
    running ??= withOwner(target, work)
      .then(({ changes, uses }) => {
        if (changes > 0) print(`Moved ${changes} changes to the archive`);
        if (uses > 0) print(`Moved ${uses} uses of quotas to the archive`);
      })
      .catch((error) => {
        if (signal.aborted) return;
        const cause =
          errorCode(error) === '42501'
            ? 'archiving requires the owner of the tables. Set DATABASE_URL to connect as the owner'
            : error.message;
        print(`Archiving failed: ${cause}`);
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
