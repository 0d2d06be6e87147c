import type { Database } from '../../db/connect.ts';

/** Takes tokens from a tenant's bucket, in one round trip. */
export const takeRequestTokens = (
  db: Database,
  tenantId: string,
  { wanted, perSecond, capacity }: { wanted: number; perSecond: number; capacity: number },
): Promise<{ granted: number; remaining: number }> =>
  db.use(async (sql) => {
    const [bucket] = await sql<[{ granted: number; remaining: number }]>`
      select granted, remaining from take_request_tokens(${tenantId}, ${wanted}, ${perSecond}, ${capacity})`;
    return bucket;
  });
