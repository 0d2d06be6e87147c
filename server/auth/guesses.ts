import net from 'node:net';
import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/sql.ts';
import { writeInTenant } from '../../db/tenancy.ts';
import { refuse } from '../http/refusals.ts';
import { countAddressFailure, countFailure, readGuard, trustAddress } from './queries.ts';

/** An account as somebody tries to log in to it, existing or not, and from where. */
export interface Attempt {
  tenantId: string;
  userKey: string;
  address: string;
}

/** 5 failures in a row from one address close the account to that address for 10 minutes. */
const here = { free: 5, seconds: 600, growing: false, forgottenAfter: 86_400 };
/** Over all addresses: from the 10th failure on 1, 2, 4 … up to 900 seconds; an hour without failures forgets them. */
const everywhere = { free: 10, seconds: 900, growing: true, forgottenAfter: 3_600 };
/** An address as a whole, whatever it tries: 50 failures in 10 minutes. */
const addresses = { addressFailures: 50, addressSeconds: 600 };

export async function refuseGuessing(tx: Tx, attempt: Attempt): Promise<void> {
  const guard = await readGuard(tx, attempt, addresses);
  // Who logged in from there before isn't slowed by strangers elsewhere.
  const seconds = Math.max(guard.closedHere, guard.addressClosed, guard.trusted ? 0 : guard.closedEverywhere);
  if (seconds > 0) throw refuse('TOO_MANY_LOGINS', { seconds });
}

export const rememberFailure = (db: Database, attempt: Attempt): Promise<void> =>
  writeInTenant(db, attempt.tenantId, async (tx) => {
    await countFailure(tx, attempt, here);
    await countFailure(tx, { ...attempt, address: '' }, everywhere);
    await countAddressFailure(tx, attempt.address, addresses.addressSeconds);
  });

export const rememberSuccess = (tx: Tx, attempt: Attempt) => trustAddress(tx, attempt);

const lanes = new Map<string, Promise<unknown>>();

/** One after the other for each account and address: guesses sent together must not all pass the check before one counts. */
export async function inLane<T>({ tenantId, userKey, address }: Attempt, work: () => Promise<T>): Promise<T> {
  const key = JSON.stringify([tenantId, userKey, address]);
  const mine = (lanes.get(key) ?? Promise.resolve()).then(work, work);
  lanes.set(key, mine);
  try {
    return await mine;
  } finally {
    if (lanes.get(key) === mine) lanes.delete(key);
  }
}

/** Whoever has an IPv6 network has 2^64 addresses in it: they count as one. */
export function addressKey(ip: string): string {
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!net.isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('%')[0]?.split('::') ?? [];
  const groups = (text: string) => text.split(':').filter(Boolean);
  const zeros = Array(Math.max(0, 8 - groups(head).length - groups(tail).length)).fill('0');
  const all = plain.includes('::') ? [...groups(head), ...zeros, ...groups(tail)] : groups(plain);
  return `${all.slice(0, 4).join(':')}::/64`;
}
