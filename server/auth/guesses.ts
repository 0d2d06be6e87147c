import net from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/sql.ts';
import { enterTenant, writeInTenant } from '../../db/tenancy.ts';
import { refuse } from '../http/refusals.ts';
import type { Timing } from '../timing.ts';
import type { Passwords } from './passwords.ts';
import {
  type Attempt,
  forgetFailures,
  letGo,
  noteLogin,
  type Outcome,
  readStanding,
  reserveAddress,
  reserveAttempt,
  settleAddress,
  settleAttempt,
} from './queries.ts';

/** 5 failures in a row from one address close the account to that address for 10 minutes. */
const here = { free: 5, seconds: 600, growing: false, forgottenAfter: 86_400 };
/** Over all addresses: from the 10th failure on 1, 2, 4 … up to 900 seconds; an hour without failures forgets them. */
const everywhere = { free: 10, seconds: 900, growing: true, forgottenAfter: 3_600 };
/** An address as a whole, whatever it tries: 50 failures in 10 minutes. */
const addresses = { free: 50, seconds: 600 };

export interface GuessParts {
  db: Database;
  passwords: Passwords;
  timing: Timing;
}

/** A guess that was let through; it counts as under way until it is settled. */
export interface Guess {
  attempt: Attempt;
  /** This address logged in to this account before: strangers elsewhere don't slow it down. */
  trusted: boolean;
}

/**
 * Lets a guess through, or refuses it. When too many are under way to know yet, it waits for them: only as many are let
 * through at once as may fail, however many come at the same moment and at whichever node. Whoever is let through stands
 * in line to be checked until he leaves.
 */
export async function admitGuess<T>(
  { db, passwords, timing }: GuessParts,
  attempt: Attempt,
  look: (tx: Tx) => Promise<T>,
): Promise<{ guess: Guess; found: T; leave: () => void }> {
  const began = performance.now();
  for (let pause = 20; ; pause = Math.min(pause * 2, 400)) {
    const leave = passwords.admitLogin();
    try {
      return await writeInTenant(db, attempt.tenantId, async (tx) => {
        const [counted] = await Promise.all([countedAs(tx, attempt), letGo(tx)]);
        // Sent together; who is refused has looked in vain.
        const [{ trusted }, found] = await Promise.all([reserve(tx, counted), look(tx)]);
        return { guess: { attempt: counted, trusted }, found, leave };
      });
    } catch (error) {
      // Who waits does not stand in the way of others.
      leave();
      if (!(error instanceof Undecided)) throw error;
      if (performance.now() - began > timing.loginQueueMs) throw refuse('TOO_BUSY');
      await setTimeout(pause * (0.5 + Math.random()));
    }
  }
}

/** Accounts of no tenant are counted in one place, or their failures would lie where nobody ever comes to forget them. */
async function countedAs(tx: Tx, attempt: Attempt): Promise<Attempt> {
  if ((await readStanding(tx, attempt.tenantId)) !== 'unknown') return attempt;
  await enterTenant(tx, NO_TENANT);
  return { ...attempt, tenantId: NO_TENANT, userKey: `${attempt.tenantId} ${attempt.userKey}` };
}
const NO_TENANT = 'none';

class Undecided extends Error {}

async function reserve(tx: Tx, attempt: Attempt): Promise<{ trusted: boolean }> {
  const [address, own] = await Promise.all([
    reserveAddress(tx, attempt.address, addresses.seconds),
    reserveAttempt(tx, attempt, here.forgottenAfter),
  ]);
  if (address.failures >= addresses.free) throw refuse('TOO_MANY_LOGINS', { seconds: Math.max(1, address.left) });
  if (own.closed > 0) throw refuse('TOO_MANY_LOGINS', { seconds: own.closed });
  if (!own.trusted) {
    const all = await reserveAttempt(tx, { ...attempt, address: '' }, everywhere.forgottenAfter);
    if (all.closed > 0) throw refuse('TOO_MANY_LOGINS', { seconds: all.closed });
    if (all.pending > Math.max(1, everywhere.free - all.failures)) throw new Undecided();
  }
  if (address.failures + address.pending > addresses.free) throw new Undecided();
  if (own.failures + own.pending > here.free) throw new Undecided();
  return own;
}

/** In the order in which they were reserved, as everybody does. */
export async function settleGuess(tx: Tx, { attempt, trusted }: Guess, outcome: Outcome): Promise<void> {
  await Promise.all([
    settleAddress(tx, attempt.address, outcome),
    settleAttempt(tx, attempt, outcome, here),
    trusted || settleAttempt(tx, { ...attempt, address: '' }, outcome, everywhere),
  ]);
  if (outcome === 'failed') await forgetFailures(tx, attempt.tenantId);
}

/** What the ledger tells of an attempt that came to nothing. */
export interface FailedLogin {
  userName: string;
  userId: string | null;
  reason: string;
  origin: { address: string; requestId: string };
}

/** On its own, when nothing else is to be written. */
export const settle = (db: Database, guess: Guess, outcome: Outcome, failed?: FailedLogin): Promise<unknown> => {
  const { tenantId } = guess.attempt;
  return writeInTenant(
    db,
    tenantId,
    (tx) => Promise.all([settleGuess(tx, guess, outcome), failed && noteLogin(tx, tenantId, failed)]),
    { origin: failed && { tenantId, userId: failed.userId, ...failed.origin } },
  );
};

/** Whoever has an IPv6 network has 2^64 addresses in it: they count as one, however they are written. */
export function addressKey(ip: string): string {
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!net.isIPv6(plain)) return plain;
  const canonical = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = Array(8 - head.length - tail.length).fill('0');
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
}
