import { createBatcher } from '../../db/batcher.ts';
import type { Database } from '../../db/connect.ts';
import { errorCode, isConnectionLost } from '../../db/errors.ts';
import { Semaphore } from '../../db/semaphore.ts';
import { readInTenant, writeOutsideQueue } from '../../db/tenant-scope.ts';
import type { App } from '../context.ts';
import { startPeriodicJob } from '../periodic-job.ts';
import { MAX_SEALED } from './feed.ts';
import { readSecondsUnsealed, sealChanges, tenantsWithUnsealedChanges } from './queries.ts';
import { assignPositions } from './subtree-feed.ts';

/** Readers of the feed that seal ledgers at the same time use at most this many connections. */
const MAX_IN_FLIGHT = 2;
/** The maximum number of ledgers that one round of background sealing visits. */
const MAX_LEDGERS = 100;

const sealLedger = (db: Database, tenantId: string): Promise<number> =>
  writeOutsideQueue(db, tenantId, (tx) => sealChanges(tx, tenantId, MAX_SEALED));

interface Sealer {
  /** Seals what is committed in a ledger when it is called, at most MAX_SEALED changes. Returns the last position. */
  seal(tenantId: string): Promise<number>;
  /** The same for all changes, however many, in short transactions. `last` is the last position that the caller has read. */
  sealAll(tenantId: string, last: number): Promise<void>;
}

/** Concurrent readers of one ledger share a transaction that begins after their calls. */
export function createSealer(db: Database): Sealer {
  const limit = new Semaphore(MAX_IN_FLIGHT);
  const sealShared = createBatcher<undefined, number>(
    async (tenantId, batch) => {
      const last = await limit.run(() => sealLedger(db, tenantId));
      for (const { resolve } of batch) resolve(last);
    },
    { maxInFlight: 1, maxBatchSize: Number.MAX_SAFE_INTEGER },
  );
  const seal = (tenantId: string) => sealShared(tenantId, undefined);
  return {
    seal,
    async sealAll(tenantId, last) {
      // A transaction that sealed fewer than the maximum left nothing. Others may have sealed too, which only adds a round.
      for (let before = Number.NEGATIVE_INFINITY; last - before >= MAX_SEALED; ) {
        before = last;
        last = await seal(tenantId);
      }
    },
  };
}

/** Seals everything that is committed and assigns positions, for a command that writes a lot, even if no service is running. */
export async function sealEverything(db: Database): Promise<void> {
  for (let tenantIds = ['']; tenantIds.length > 0; ) {
    tenantIds = await db.use((sql) => tenantsWithUnsealedChanges(sql, '', MAX_LEDGERS));
    for (const tenantId of tenantIds) await sealLedger(db, tenantId);
  }
  await assignPositions(db);
}

/** Returns how many seconds the oldest unsealed change has waited, in up to a hundred ledgers; 0 if everything is sealed. */
export async function readSealingLag(db: Database): Promise<number> {
  const tenantIds = await db.use((sql) => tenantsWithUnsealedChanges(sql, '', MAX_LEDGERS));
  const lags: number[] = [];
  for (const tenantId of tenantIds) {
    lags.push((await readInTenant(db, tenantId, (tx) => readSecondsUnsealed(tx, tenantId))) ?? 0);
  }
  return Math.max(0, ...lags);
}

/**
 * Seals changes and assigns their positions in the background while the service runs, so that the hash chain lags by about a
 * second at most, and readers find little left to do.
 */
export function startSealing(app: App, db: Database): void {
  /** The last ledger of the round before. The next round begins after it, so that ledgers that fail do not hold up others. */
  let last = '';
  /** The last error of each ledger and, under '', of a whole round: an error is logged once and not every second. */
  const failures = new Map<string, string>();
  const reportFailure = (tenantId: string, error: Error) => {
    if (failures.get(tenantId) === error.message) return;
    failures.set(tenantId, error.message);
    app.log.error({ err: error, ...(tenantId && { tenantId }) }, 'ledger could not be sealed');
  };
  const sealRound = async () => {
    const tenantIds = await db.use((sql) => tenantsWithUnsealedChanges(sql, last, MAX_LEDGERS));
    last = tenantIds.length < MAX_LEDGERS ? '' : String(tenantIds.at(-1));
    for (const tenantId of tenantIds) {
      try {
        await sealLedger(db, tenantId);
        failures.delete(tenantId);
      } catch (error) {
        if (isConnectionLost(errorCode(error))) throw error;
        // One ledger that cannot be sealed must not prevent the others from being sealed.
        reportFailure(tenantId, error as Error);
      }
    }
    await assignPositions(db);
    failures.delete('');
  };
  startPeriodicJob(app, {
    intervalMs: app.timing.sealMs,
    run: sealRound,
    onError: (error) => reportFailure('', error),
  });
}
