import type { Database } from './connect.ts';
import type { Tx } from './driver.ts';
import { DeadlineExceededError, errorCode, isRetryable } from './errors.ts';
import { begin, type TransactionMode } from './transaction.ts';

/** The tenant above all others, which the first start creates. */
export const ROOT_TENANT = '000000';

/** The caller and the request, as the ledger records them with each change. */
export interface RequestOrigin {
  tenantId: string;
  /** null: an API key, or unknown, as with a failed login. */
  userId: string | null;
  keyId?: string | null;
  address: string;
  requestId: string;
}

/**
 * The address of a caller who is not authenticated and has only named a tenant. The transaction counts against the share of the
 * address, and the tenant does not count as active. Otherwise anybody could use up the share of any tenant.
 */
interface AnonymousCaller {
  anonymousAddress?: string | undefined;
}

const shareOf = (tenantId: string, anonymousAddress: string | undefined): string =>
  anonymousAddress === undefined ? tenantId : `address ${anonymousAddress}`;

/**
 * Runs a transaction that sees one tenant only, and retries it after a serialization failure or a deadlock. `record` is the
 * key of the record that it changes, if it changes a single one. `share` is the key by which connections are shared fairly, by
 * default the tenant, or for an anonymous caller their address.
 */
export function writeInTenant<T>(
  db: Database,
  tenantId: string,
  work: (tx: Tx) => Promise<T>,
  {
    record,
    origin,
    anonymousAddress,
    share = shareOf(tenantId, anonymousAddress),
  }: {
    record?: string | undefined;
    origin?: RequestOrigin | undefined;
    share?: string;
  } & AnonymousCaller = {},
): Promise<T> {
  if (anonymousAddress === undefined) db.activeTenants.add(tenantId);
  const requestedAt = performance.now();
  const write = () =>
    retry(() => transaction(db, 'isolation level read committed read write', tenantId, work, { requestedAt, origin }));
  return db.writes.run(share, record, write);
}

/** Runs a write that assumes no tenant: to tables that belong to none, or by a function that sets the tenant itself. */
export const writeOutsideTenants = <T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.use((sql) => begin(sql, work, 'isolation level read committed read write'));

/**
 * Runs a short write of the service itself, such as sealing, that does not wait behind the tenant's writers. Callers
 * limit how many of them run at the same time.
 */
export const writeOutsideQueue = <T>(db: Database, tenantId: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
  retry(() => transaction(db, 'isolation level read committed read write', tenantId, work));

/**
 * Runs a read-only transaction that sees one tenant only. All of its statements see one snapshot. Expensive reads of one tenant
 * leave connections for the others. `work` must not run another read in a transaction of its own: it could wait for itself.
 */
export function readInTenant<T>(
  db: Database,
  tenantId: string,
  work: (tx: Tx) => Promise<T>,
  { anonymousAddress }: AnonymousCaller = {},
): Promise<T> {
  if (anonymousAddress === undefined) db.activeTenants.add(tenantId);
  const requestedAt = performance.now();
  const read = () => transaction(db, 'isolation level repeatable read read only', tenantId, work, { requestedAt });
  return db.reads.run(shareOf(tenantId, anonymousAddress), read);
}

async function transaction<T>(
  db: Database,
  mode: TransactionMode,
  tenantId: string,
  work: (tx: Tx) => Promise<T>,
  { requestedAt = performance.now(), origin }: { requestedAt?: number; origin?: RequestOrigin | undefined } = {},
): Promise<T> {
  const workInTenant = async (tx: Tx) => {
    if (performance.now() - requestedAt > db.waitMs) throw new DeadlineExceededError();
    // Sent together with the first statement of `work`, so it costs no round trip of its own.
    const [, result] = await Promise.all([
      origin ? setRequest(tx, tenantId, origin, db.treeLockMs) : setTenant(tx, tenantId),
      work(tx),
    ]);
    return result;
  };
  return db.use((sql) => begin(sql, workInTenant, mode));
}

/** The time before the deadline that is reserved for the commit and the response. */
const COMMIT_MS = 500;

/**
 * Whether too little time is left before the deadline for a commit: the caller receives TOO_BUSY, so the transaction must roll
 * back.
 */
export const isDeadlineExceeded = (requestedAt: number, deadlineMs: number): boolean =>
  performance.now() - requestedAt > deadlineMs - COMMIT_MS;

/**
 * Makes the transaction see this tenant from here on. The setting ends with the transaction: a session-level one would leak
 * to the next user of the connection.
 */
export const setTenant = (tx: Tx, tenantId: string) =>
  // execute(): the driver sends a statement when it is first awaited, and this one has to be sent before all others.
  tx`select set_config('banyan.tenant', ${tenantId}, true)`.execute();

/** The same, with what the ledger records of a request, and the lock timeout that `lockTenantTree` sets. */
const setRequest = (tx: Tx, tenantId: string, origin: RequestOrigin, treeLockMs: number) =>
  tx`select set_config('banyan.tenant', ${tenantId}, true), set_config('banyan.origin', ${JSON.stringify(origin)}, true),
    set_config('banyan.tree_lock_ms', ${String(treeLockMs)}, true)`.execute();

/** Retries a transaction after a serialization failure or a deadlock. Our lock order allows deadlocks only between writes of the same external ids. */
async function retry<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = 3; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (!isRetryable(errorCode(error)) || left === 0) throw error;
    }
  }
}
