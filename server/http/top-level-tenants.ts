import { createCache } from '../cache.ts';
import type { FairShares } from './fair-shares.ts';

/** Returns the top-level tenant of each tenant: its ancestor directly below 000000, or the tenant itself. */
export type TopLevelTenantFinder = (tenantIds: string[]) => Promise<Map<string, string>>;

/** The group of all callers without a token or with a refused API key. Its members are their addresses. */
export const WITHOUT_TOKEN = 'without token';

const MAX_CACHED = 10_000;
/** A tenant that is moved below another top-level tenant counts there after this time. */
const KEEP_MS = 60_000;

/**
 * The top-level tenant that each tenant belongs to. It and all tenants below it share what one tenant may have, so that an
 * administrator gets no larger share by creating tenants. It is only looked up while a limit is reached; until then a tenant
 * counts as a top-level tenant.
 */
export class TopLevelTenants {
  private readonly cached = createCache<string>(MAX_CACHED, { ttl: KEEP_MS });
  private readonly allShares: FairShares[];
  private readonly find: TopLevelTenantFinder;
  private lookingUp = false;

  constructor(allShares: FairShares[], find: TopLevelTenantFinder) {
    this.allShares = allShares;
    this.find = find;
  }

  of(tenantId: string): string {
    return this.cached.get(tenantId) ?? tenantId;
  }

  /** Looks up the top-level tenants of all tenants that hold something, in the background. */
  lookUpMissing(): void {
    if (this.lookingUp) return;
    const missing = new Set<string>();
    for (const shares of this.allShares) {
      for (const { name, group } of shares.active()) {
        if (group.name !== WITHOUT_TOKEN && !this.cached.has(name)) missing.add(name);
      }
    }
    if (missing.size === 0) return;
    this.lookingUp = true;
    this.find([...missing])
      .then((found) => {
        for (const [tenantId, topLevel] of found) {
          this.cached.set(tenantId, topLevel);
          // Move it in all shares: where it holds nothing now, it may later.
          for (const shares of this.allShares) {
            const tenant = shares.find(tenantId);
            if (tenant) shares.move(tenant, topLevel);
          }
        }
      })
      // While the database is unavailable, tenants that have not been looked up count as top-level tenants.
      .catch(() => {})
      .finally(() => {
        this.lookingUp = false;
      });
  }
}
