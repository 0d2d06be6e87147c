import { createBatcher } from '../../db/batcher.ts';
import type { Database } from '../../db/connect.ts';
import { writeOutsideTenants } from '../../db/tenant-scope.ts';

/** A check that does not end must not delay the next one, which may get another connection. */
const MAX_IN_FLIGHT = 2;

/**
 * Returns a function that fails unless the database takes writes. A standby rejects the transaction. A primary accepts it even
 * if transactions are read-only by default, because this one is opened read write. Concurrent checks share a transaction: they
 * need no token and are never rejected, so a flood of them must not take all connections.
 */
export function createWritableCheck(db: Database): () => Promise<void> {
  const check = createBatcher<undefined, void>(
    async (_key, batch) => {
      await writeOutsideTenants(db, (tx) => tx`select`);
      for (const { resolve } of batch) resolve();
    },
    { maxInFlight: MAX_IN_FLIGHT, maxBatchSize: Number.MAX_SAFE_INTEGER },
  );
  return () => check('', undefined);
}
