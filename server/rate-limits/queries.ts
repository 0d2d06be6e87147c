import type { Database } from '../../db/connect.ts';
import { writeOutsideTenants } from '../../db/tenant-scope.ts';
import { commitWith } from '../../db/transaction.ts';
import type { Bucket } from './buckets.ts';

/**
 * Puts the unused tokens of a lease back into a bucket and takes up to `wanted` for the next lease, in one round trip. Only the
 * difference is moved. The unused tokens count toward the capacity of the bucket.
 */
export const takeRequestTokens = (
  db: Database,
  { tenantId, keyId, perSecond, capacity }: Bucket,
  wanted: number,
  unused: number,
): Promise<{ granted: number; remaining: number }> =>
  writeOutsideTenants(db, (tx) =>
    commitWith(tx, async () => {
      const [bucket] = await tx<[{ granted: number; remaining: number }]>`
        select granted, remaining
        from take_request_tokens(${tenantId}, ${keyId ?? 0}, ${wanted - unused}, ${perSecond}, ${capacity - unused})`;
      return { ...bucket, granted: unused + bucket.granted };
    }),
  );
