import type { Database } from './connect.ts';
import { begin, codeOf, type Tx } from './sql.ts';

/** Who writes, from where and with which request: what the ledger notes beside the name. */
export interface Origin {
  tenantId: string;
  /** null: not known who it is, as with a login that fails. */
  userId: string | null;
  address: string;
  requestId: string;
}

/**
 * A transaction that can see one tenant only. `enter` is sent together with the first statement of `work`, so it costs
 * no round trip of its own. `record` is what it changes, if that is one thing.
 */
export function writeInTenant<T>(
  db: Database,
  tenantId: string,
  work: (tx: Tx) => Promise<T>,
  { record, origin }: { record?: string | undefined; origin?: Origin | undefined } = {},
): Promise<T> {
  const asked = performance.now();
  const write = () => retried(() => transaction(db, 'read write', tenantId, work, { asked, origin }));
  const inTenant = () => inTurn(tenantId, write);
  return record === undefined ? inTenant() : inLane(`${tenantId} ${record}`, WRITES_OF_A_RECORD, inTenant);
}

/** The same for reading: one snapshot for all its statements, and no way to write. */
export function readInTenant<T>(db: Database, tenantId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transaction(db, READING, tenantId, work);
}

const READING = 'isolation level repeatable read read only';

async function transaction<T>(
  db: Database,
  mode: string,
  tenantId: string,
  work: (tx: Tx) => Promise<T>,
  { asked = performance.now(), origin }: { asked?: number; origin?: Origin | undefined } = {},
): Promise<T> {
  const story = async (tx: Tx) => {
    if (performance.now() - asked > db.waitMs) throw new TooLate();
    const [, result] = await Promise.all([enterTenant(tx, tenantId, origin), work(tx)]);
    return result;
  };
  return db.use((sql) => begin(sql, story, mode));
}

export class TooLate extends Error {}

/** Of a deadline, what it takes to commit and to answer. */
const COMMITTED_WITHIN_MS = 500;
/** Who asked so long ago is about to be told to come again: what was done for him must not count. */
export const isGivenUp = (asked: number, deadline: number): boolean =>
  performance.now() - asked > deadline - COMMITTED_WITHIN_MS;

/**
 * From here on the transaction sees this tenant instead. The setting ends with the transaction: one of the session would
 * leak to whoever gets the connection next.
 */
export const enterTenant = (tx: Tx, tenantId: string, origin?: Origin) =>
  // execute(): the driver sends a statement when it is first awaited, and this one must go before all others.
  (origin
    ? tx`select set_config('banyan.tenant', ${tenantId}, true), set_config('banyan.origin', ${JSON.stringify(origin)}, true)`
    : tx`select set_config('banyan.tenant', ${tenantId}, true)`
  ).execute();

/** Of the ten connections: those that wait for each other's locks leave two for who only reads. */
const WRITES_AT_ONCE = 8;
let atWork = 0;

/**
 * A tenant gets the next place as long as more are free than it has: four when it is alone, and whoever comes to where
 * others have piled up finds one. So no tenant's locks keep everybody waiting, nor those of two or three.
 */
const mayBegin = ({ running }: Turns) => WRITES_AT_ONCE - atWork > running;

interface Turns {
  running: number;
  waiting: (() => void)[];
}
const tenants = new Map<string, Turns>();

async function inTurn<T>(tenantId: string, write: () => Promise<T>): Promise<T> {
  const turns = tenants.get(tenantId) ?? { running: 0, waiting: [] };
  tenants.set(tenantId, turns);
  await new Promise<void>((resume) => {
    turns.waiting.push(resume);
    callNext();
  });
  try {
    return await write();
  } finally {
    turns.running--;
    atWork--;
    callNext();
  }
}

/** Each tenant's in their order, and the tenants by turns. */
function callNext() {
  for (const [tenantId, turns] of [...tenants]) {
    if (turns.running === 0 && turns.waiting.length === 0) tenants.delete(tenantId);
    if (turns.waiting.length === 0 || !mayBegin(turns)) continue;
    tenants.delete(tenantId);
    tenants.set(tenantId, turns);
    turns.running++;
    atWork++;
    turns.waiting.shift()?.();
  }
}

/** Those of one record go one after the other anyway, and must not keep the whole tenant waiting. */
const WRITES_OF_A_RECORD = 2;

const lanes = new Map<string, Turns>();

/** Some at a time; the others wait, in their order. */
async function inLane<T>(name: string, atOnce: number, write: () => Promise<T>): Promise<T> {
  const lane = lanes.get(name) ?? { running: 0, waiting: [] };
  lanes.set(name, lane);
  if (lane.running < atOnce) lane.running++;
  else await new Promise<void>((resume) => lane.waiting.push(resume));
  try {
    return await write();
  } finally {
    const next = lane.waiting.shift();
    if (next) next();
    else if (--lane.running === 0) lanes.delete(name);
  }
}

/** Something came between, and the locks that are held are out of order: the whole story is told again, from its begin. */
export class ToldAgain extends Error {
  readonly code = '40001';
}

/** PostgreSQL's words for transactions that are in each other's way, and ours: a later one may find the way free. */
export const isClash = (code: string): boolean => ['40P01', '40001'].includes(code);

/** Our lock order leaves no deadlock that we know of. Should PostgreSQL find one, the same is done. */
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = 3; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (!isClash(codeOf(error)) || left === 0) throw error;
    }
  }
}
