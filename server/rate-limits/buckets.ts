import { createCache } from '../cache.ts';

/** The bucket of a tenant or of an API key. It holds `capacity` tokens, and refills at `perSecond`. */
export interface Bucket {
  tenantId: string;
  /** undefined: the bucket of the tenant itself. */
  keyId?: string;
  perSecond: number;
  capacity: number;
}

/** Puts `unused` tokens back into the bucket that all nodes share, and takes up to `wanted`. */
type TakeTokens = (bucket: Bucket, wanted: number, unused: number) => Promise<{ granted: number; remaining: number }>;

/** Whether a request may proceed, and what the RateLimit headers say. */
export interface Decision {
  allowed: boolean;
  /** How many further requests the tenant or key may send now, as far as this process knows. */
  remaining: number;
  /** Seconds until the bucket is full again or, for a rejected request, until the next token. */
  resetSeconds: number;
}

/**
 * A process leases tokens for this long at a time. It puts unused ones back when it takes the next lease; the lease is short, so
 * that other processes miss few of them until then.
 */
const LEASE_MS = 100;
const MAX_BUCKETS = 10_000;

interface Lease {
  /** The rate that the lease was taken for. A bucket with another rate needs a new lease. */
  perSecond: number;
  tokens: number;
  remaining: number;
  expires: number;
  /** The request for the next lease, if one is in flight. Further requests of the bucket wait for it. */
  next?: Promise<void> | undefined;
}

export interface Buckets {
  /** Takes a token for a request, if there is one. */
  take(bucket: Bucket): Decision | Promise<Decision>;
  /** Puts back the token of a request that another bucket has rejected. */
  putBack(bucket: Bucket): Decision;
}

/**
 * Limits requests by token buckets. A bucket is in the database, so all workers and nodes share it; a process leases a tenth
 * of a second's worth of tokens at a time, so that few requests need a statement for it.
 */
export function createBuckets(takeTokens: TakeTokens, now: () => number = () => performance.now()): Buckets {
  const leases = createCache<Lease>(MAX_BUCKETS);

  async function renew(bucket: Bucket, lease: Lease): Promise<void> {
    const { perSecond, capacity } = bucket;
    const leaseSize = Math.max(1, Math.ceil((perSecond * LEASE_MS) / 1000));
    // The bucket has filled since a lease that ended long ago: putting its tokens back would exceed the limit.
    const unused = now() - lease.expires < (capacity / perSecond) * 1000 ? lease.tokens : 0;
    // Requests may put tokens back while the statement runs.
    lease.tokens = 0;
    try {
      const { granted, remaining } = await takeTokens(bucket, leaseSize, unused);
      lease.tokens += granted;
      lease.remaining = remaining;
    } catch (error) {
      lease.tokens += unused;
      throw error;
    } finally {
      // An empty lease expires when the next token is due, so a flood of rejected requests needs few statements.
      const untilToken = ((1 - lease.remaining) * 1000) / perSecond;
      lease.expires = now() + (lease.tokens > 0 ? LEASE_MS : Math.max(untilToken, LEASE_MS));
      lease.perSecond = perSecond;
      lease.next = undefined;
    }
  }

  function decide(bucket: Bucket, lease: Lease): Decision {
    const allowed = lease.tokens > 0;
    if (allowed) lease.tokens--;
    return describe(bucket, lease, allowed);
  }

  function describe({ perSecond, capacity }: Bucket, lease: Lease, allowed: boolean): Decision {
    const remaining = Math.floor(lease.tokens + lease.remaining);
    const missing = allowed ? capacity - remaining : 1 - lease.remaining;
    return { allowed, remaining, resetSeconds: Math.max(1, Math.ceil(missing / perSecond)) };
  }

  /** Whether the lease answers a request by itself: it has a token, or the bucket is known to be empty. */
  const isDecisive = ({ perSecond }: Bucket, lease: Lease) =>
    perSecond === lease.perSecond && now() < lease.expires && (lease.tokens > 0 || lease.remaining < 1);

  async function waitAndDecide(bucket: Bucket, lease: Lease): Promise<Decision> {
    // Others that waited for the same lease may have used it up.
    while (!isDecisive(bucket, lease)) {
      lease.next ??= renew(bucket, lease);
      await lease.next;
    }
    return decide(bucket, lease);
  }

  function leaseOf({ tenantId, keyId = '', perSecond, capacity }: Bucket): Lease {
    const id = `${tenantId} ${keyId}`;
    const lease = leases.get(id) ?? { perSecond, tokens: 0, remaining: capacity, expires: 0 };
    leases.set(id, lease);
    return lease;
  }

  return {
    take(bucket) {
      const lease = leaseOf(bucket);
      return isDecisive(bucket, lease) ? decide(bucket, lease) : waitAndDecide(bucket, lease);
    },
    putBack(bucket) {
      const lease = leaseOf(bucket);
      lease.tokens++;
      return describe(bucket, lease, true);
    },
  };
}
