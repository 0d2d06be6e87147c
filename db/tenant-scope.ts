import type { Database } from './connect.ts';
import type { Tx } from './driver.ts';
import { DeadlineExceededError, errorCode, isRetryable } from './errors.ts';
import { KeyedSemaphore } from './semaphore.ts';
import { begin } from './transaction.ts';

/** Who is calling, from where and with which request: what the ledger records beside the name. */
export interface RequestOrigin {
  tenantId: string;
  /** null: unknown, as with a failed login. */
  userId: string | null;
  address: string;
  requestId: string;
}

/**
 * Runs a transaction that sees one tenant only, and retries it after a serialization failure. `record` names the one
 * record that it changes, if it changes one.
 */
export function writeInTenant<T>(
  db: Database,
  tenantId: string,
  work: (tx: Tx) => Promise<T>,
  { record, origin }: { record?: string | undefined; origin?: RequestOrigin | undefined } = {},
): Promise<T> {
  const requested = performance.now();
  const write = () => retry(() => transaction(db, 'read write', tenantId, work, { requested, origin }));
  const writeFairly = () => shareFairly(tenantId, write);
  return record === undefined ? writeFairly() : writesOfOneRecord.run(`${tenantId} ${record}`, writeFairly);
}

/** Runs a read-only transaction that sees one tenant only. All of its statements see one snapshot. */
export function readInTenant<T>(db: Database, tenantId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transaction(db, 'isolation level repeatable read read only', tenantId, work);
}

async function transaction<T>(
  db: Database,
  mode: string,
  tenantId: string,
  work: (tx: Tx) => Promise<T>,
  { requested = performance.now(), origin }: { requested?: number; origin?: RequestOrigin | undefined } = {},
): Promise<T> {
  const workInTenant = async (tx: Tx) => {
    if (performance.now() - requested > db.waitMs) throw new DeadlineExceededError();
    // Sent together with the first statement of `work`, so it costs no round trip of its own.
    const [, result] = await Promise.all([setTenant(tx, tenantId, origin), work(tx)]);
    return result;
  };
  return db.use((sql) => begin(sql, workInTenant, mode));
}

/** How much of a deadline is left for the commit and the response. */
const COMMIT_MS = 500;

/** Whether the caller is about to be told to try again later: then the transaction must not be committed. */
export const isDeadlineExceeded = (requested: number, deadlineMs: number): boolean =>
  performance.now() - requested > deadlineMs - COMMIT_MS;

/**
 * Makes the transaction see this tenant from here on. The setting ends with the transaction: a session-level one would leak
 * to the next user of the connection.
 */
export const setTenant = (tx: Tx, tenantId: string, origin?: RequestOrigin) =>
  // execute(): the driver sends a statement when it is first awaited, and this one has to be sent before all others.
  (origin
    ? tx`select set_config('banyan.tenant', ${tenantId}, true), set_config('banyan.origin', ${JSON.stringify(origin)}, true)`
    : tx`select set_config('banyan.tenant', ${tenantId}, true)`
  ).execute();

/** Of the pool's ten connections, writes may use eight: they wait for each other's locks, and reads must go on. */
const MAX_WRITES = 8;
let writesInFlight = 0;

interface TenantQueue {
  running: number;
  waiting: (() => void)[];
}
const queues = new Map<string, TenantQueue>();

/**
 * A tenant may start another write while more places are free than it occupies: four when it is alone, and a tenant that
 * arrives while others have piled up still finds one. So the locks of one tenant, or of a few, never block all others.
 */
const mayStart = ({ running }: TenantQueue) => MAX_WRITES - writesInFlight > running;

async function shareFairly<T>(tenantId: string, write: () => Promise<T>): Promise<T> {
  const queue = queues.get(tenantId) ?? { running: 0, waiting: [] };
  queues.set(tenantId, queue);
  await new Promise<void>((resume) => {
    queue.waiting.push(resume);
    startNext();
  });
  try {
    return await write();
  } finally {
    queue.running--;
    writesInFlight--;
    startNext();
  }
}

/** Starts waiting writes: those of one tenant in their order, the tenants round-robin. */
function startNext() {
  for (const [tenantId, queue] of [...queues]) {
    if (queue.running === 0 && queue.waiting.length === 0) queues.delete(tenantId);
    if (queue.waiting.length === 0 || !mayStart(queue)) continue;
    queues.delete(tenantId);
    queues.set(tenantId, queue);
    queue.running++;
    writesInFlight++;
    queue.waiting.shift()?.();
  }
}

/** Writes of one record wait for each other's locks anyway; beyond two they must not occupy the tenant's places. */
const writesOfOneRecord = new KeyedSemaphore(2);

/** Our lock order leaves no deadlock that we know of; should PostgreSQL detect one, the transaction is retried too. */
async function retry<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = 3; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (!isRetryable(errorCode(error)) || left === 0) throw error;
    }
  }
}
