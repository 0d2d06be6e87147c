import { LRUCache } from 'lru-cache';
import type { FairShares, Member } from './fair-shares.ts';

/** Returns the top-level ancestor of each tenant. */
export type BranchFinder = (tenantIds: string[]) => Promise<Map<string, string>>;

/** The group of all callers without a token. Its members are their addresses. */
export const WITHOUT_TOKEN = 'without token';

const MAX_CACHED = 10_000;
/** A tenant that is moved to another branch counts there after this time. */
const KEEP_MS = 60_000;

/**
 * The branches of tenants, so that an administrator gets no larger share by creating tenants. They are only looked up while
 * a limit is reached. A tenant whose branch is not known yet is a branch of its own.
 */
export class Branches {
  private readonly known = new LRUCache<string, string>({ max: MAX_CACHED, ttl: KEEP_MS });
  private readonly allShares: FairShares[];
  private readonly find: BranchFinder;
  private lookingUp = false;

  constructor(allShares: FairShares[], find: BranchFinder) {
    this.allShares = allShares;
    this.find = find;
  }

  of(tenantId: string): string {
    return this.known.get(tenantId) ?? tenantId;
  }

  /** Looks up the branches of all tenants that hold something, in the background. */
  learn(): void {
    if (this.lookingUp) return;
    const unknown = new Set<string>();
    for (const [, { name }] of this.tenants()) if (!this.known.has(name)) unknown.add(name);
    if (unknown.size === 0) return;
    this.lookingUp = true;
    this.find([...unknown])
      .then((found) => {
        for (const [tenantId, branch] of found) this.known.set(tenantId, branch);
        for (const [shares, tenant] of this.tenants()) shares.move(tenant, this.of(tenant.name));
      })
      // While the database is unavailable, each tenant is a branch of its own.
      .catch(() => {})
      .finally(() => {
        this.lookingUp = false;
      });
  }

  private *tenants(): Generator<[FairShares, Member]> {
    for (const shares of this.allShares) {
      for (const member of shares.active()) if (member.group.name !== WITHOUT_TOKEN) yield [shares, member];
    }
  }
}
