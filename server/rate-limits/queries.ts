import type { Database } from '../../db/connect.ts';
import { writeOutsideTenants } from '../../db/tenant-scope.ts';
import { commitWith } from '../../db/transaction.ts';
import type { Bucket } from './buckets.ts';

/**
 * Puts unused tokens back into a bucket and takes others, in one round trip. The bucket gives only the difference, and the
 * tokens that the caller keeps count toward its capacity.
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
