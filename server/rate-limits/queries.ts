import type { Database } from '../../db/connect.ts';
import { writeOutsideTenants } from '../../db/tenant-scope.ts';
import { commitWith } from '../../db/transaction.ts';
import type { Bucket } from './buckets.ts';

/** Takes tokens from a bucket, in one round trip. */
export const takeRequestTokens = (
  db: Database,
  { tenantId, keyId, perSecond, capacity }: Bucket,
  wanted: number,
): Promise<{ granted: number; remaining: number }> =>
  writeOutsideTenants(db, (tx) =>
    commitWith(tx, async () => {
      const [bucket] = await tx<[{ granted: number; remaining: number }]>`
        select granted, remaining
        from take_request_tokens(${tenantId}, ${keyId ?? 0}, ${wanted}, ${perSecond}, ${capacity})`;
      return bucket;
    }),
  );
