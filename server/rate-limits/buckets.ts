import { LRUCache } from 'lru-cache';

/** Takes up to `wanted` tokens from the bucket that all nodes share. */
export type TakeTokens = (tenantId: string, wanted: number) => Promise<{ granted: number; remaining: number }>;

/** Whether a request may proceed, and what the RateLimit headers say. */
export interface Decision {
  allowed: boolean;
  /** How many further requests the tenant may send now, as far as this process knows. */
  remaining: number;
  /** Seconds until the bucket is full again or, for a rejected request, until the next token. */
  resetSeconds: number;
}

/** The bucket holds the requests of this many seconds, so that a page may send a burst of them. */
export const WINDOW_SECONDS = 5;
/** A process takes tokens for this long at a time. What it has not used by then is lost: another process may need them. */
const LEASE_MS = 100;
const MAX_TENANTS = 10_000;

interface Lease {
  tokens: number;
  remaining: number;
  expires: number;
  /** The request for the next lease, if one is in flight. Further requests of the tenant wait for it. */
  next?: Promise<void> | undefined;
}

/**
 * Limits the requests of each tenant by a token bucket. The bucket is in the database, so all workers and nodes share it; a
 * process leases a tenth of a second's worth of tokens at a time, so that few requests need a statement for it.
 */
export function createTenantBuckets(
  perSecond: number,
  take: TakeTokens,
  now: () => number = () => performance.now(),
): (tenantId: string) => Decision | Promise<Decision> {
  const capacity = perSecond * WINDOW_SECONDS;
  const leaseSize = Math.max(1, Math.ceil((perSecond * LEASE_MS) / 1000));
  const leases = new LRUCache<string, Lease>({ max: MAX_TENANTS });

  async function renew(tenantId: string, lease: Lease): Promise<void> {
    try {
      const { granted, remaining } = await take(tenantId, leaseSize);
      lease.tokens = granted;
      lease.remaining = remaining;
    } finally {
      // An empty lease expires when the next token is due, so a flood of rejected requests needs few statements.
      const untilToken = ((1 - lease.remaining) * 1000) / perSecond;
      lease.expires = now() + (lease.tokens > 0 ? LEASE_MS : Math.max(untilToken, LEASE_MS));
      lease.next = undefined;
    }
  }

  function decide(lease: Lease): Decision {
    const allowed = lease.tokens > 0;
    if (allowed) lease.tokens--;
    const remaining = Math.floor(lease.tokens + lease.remaining);
    const missing = allowed ? capacity - remaining : 1;
    return { allowed, remaining, resetSeconds: Math.max(1, Math.ceil(missing / perSecond)) };
  }

  /** Whether the lease answers a request by itself: it has a token, or it is known that there is none. */
  const isDecisive = (lease: Lease) => now() < lease.expires && (lease.tokens > 0 || lease.remaining < 1);

  async function waitAndDecide(tenantId: string, lease: Lease): Promise<Decision> {
    // Others that waited for the same lease may have used it up.
    while (!isDecisive(lease)) {
      lease.next ??= renew(tenantId, lease);
      await lease.next;
    }
    return decide(lease);
  }

  return (tenantId) => {
    const lease = leases.get(tenantId) ?? { tokens: 0, remaining: capacity, expires: 0 };
    leases.set(tenantId, lease);
    return isDecisive(lease) ? decide(lease) : waitAndDecide(tenantId, lease);
  };
}
