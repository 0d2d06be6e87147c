import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/driver.ts';
import { setTenant, writeInTenant } from '../../db/tenant-scope.ts';
import { apiError } from '../http/errors.ts';
import type { Timing } from '../timing.ts';
import type { FairnessKey } from './fair-queue.ts';
import type { Passwords } from './passwords.ts';
import {
  type AttemptKey,
  type AttemptOutcome,
  disableSynchronousCommit,
  recordLogin,
  reserveAddress,
  reserveAttempt,
  settleAddress,
  settleAttempt,
} from './queries.ts';
import { readTenantState } from './tenant-state.ts';

/** Five failures in a row from one address lock the account for that address for 10 minutes. */
const perAddress = { maxFailures: 5, lockSeconds: 600, exponential: false, resetSeconds: 86_400 };
/**
 * Failures from all addresses lock the account for 1, 2, 4 … up to 900 seconds from the tenth on. An hour without failures
 * resets the counter.
 */
const perAccount = { maxFailures: 10, lockSeconds: 900, exponential: true, resetSeconds: 3_600 };
/** An address may fail 50 times in 10 minutes, over all accounts. */
const addressLimit = { maxFailures: 50, windowSeconds: 600 };

export { unlockAccount } from './queries.ts';
export type { AttemptKey };

export interface ThrottleDependencies {
  db: Database;
  passwords: Passwords;
  timing: Timing;
}

/** An admitted attempt. It counts as in flight until it is settled. */
export interface LoginAttempt {
  key: AttemptKey;
  /** Whether the address has recently logged in to the account; if so, failures from other addresses do not lock it out. */
  trusted: boolean;
  /** The address of a caller who is not authenticated; undefined if a known caller has sent their password. */
  anonymousAddress: string | undefined;
}

/**
 * Admits or rejects a login attempt. Over all nodes, no more attempts are in flight than may fail before the account is
 * locked; further ones wait for their outcome. An admitted attempt holds a slot for its password check until `release` is
 * called.
 */
export async function admitLogin<T>(
  { db, passwords, timing }: ThrottleDependencies,
  key: AttemptKey,
  fairnessKey: FairnessKey,
  find: (tx: Tx) => Promise<T>,
): Promise<{ attempt: LoginAttempt; found: T; release: () => void }> {
  const startedAt = performance.now();
  const { anonymousAddress } = fairnessKey;
  for (let pause = 20; ; pause = Math.min(pause * 2, 400)) {
    const release = await passwords.acquireLoginSlot(fairnessKey);
    try {
      // The deadline of the request has passed, or is about to: do not start to verify the password.
      if (performance.now() - startedAt > timing.loginQueueMs) throw apiError('TOO_BUSY');
      const work = async (tx: Tx) => {
        const [counterKey] = await Promise.all([counterKeyOf(tx, key), disableSynchronousCommit(tx)]);
        // Send both together to save a round trip, although a rejected attempt does not need the second.
        const [{ trusted }, found] = await Promise.all([reserve(tx, counterKey), find(tx)]);
        return { attempt: { key: counterKey, trusted, anonymousAddress }, found, release };
      };
      return await writeInTenant(db, key.tenantId, work, { anonymousAddress });
    } catch (error) {
      // A waiting attempt holds no slot.
      release();
      if (!(error instanceof TooManyInFlightError)) throw error;
      await setTimeout(pause * (0.5 + Math.random()));
    }
  }
}

/** Counts attempts on all unknown tenants under one code, so that the cleanup need not visit every made-up one. */
async function counterKeyOf(tx: Tx, key: AttemptKey): Promise<AttemptKey> {
  if ((await readTenantState(tx, key.tenantId)) !== 'unknown') return key;
  await setTenant(tx, NO_TENANT);
  return { ...key, tenantId: NO_TENANT, userKey: `${key.tenantId} ${key.userKey}` };
}
const NO_TENANT = 'none';

/** The attempts in flight might exceed a limit, so this one has to wait for their outcome. */
class TooManyInFlightError extends Error {}

async function reserve(tx: Tx, key: AttemptKey): Promise<{ trusted: boolean }> {
  const [address, own] = await Promise.all([
    reserveAddress(tx, key.address, addressLimit.windowSeconds),
    reserveAttempt(tx, key, perAddress.resetSeconds),
  ]);
  if (address.failures >= addressLimit.maxFailures) {
    throw apiError('TOO_MANY_LOGINS', { seconds: Math.max(1, address.secondsLeft) });
  }
  if (own.lockedSeconds > 0) throw apiError('TOO_MANY_LOGINS', { seconds: own.lockedSeconds });
  if (!own.trusted) {
    const all = await reserveAttempt(tx, { ...key, address: '' }, perAccount.resetSeconds);
    if (all.lockedSeconds > 0) throw apiError('TOO_MANY_LOGINS', { seconds: all.lockedSeconds });
    if (all.pending > Math.max(1, perAccount.maxFailures - all.failures)) throw new TooManyInFlightError();
  }
  if (address.failures + address.pending > addressLimit.maxFailures) throw new TooManyInFlightError();
  if (own.failures + own.pending > perAddress.maxFailures) throw new TooManyInFlightError();
  return own;
}

/** Settles an attempt. Updates the rows in the order in which `reserve` locks them, which avoids deadlocks. */
export async function settleInTransaction(
  tx: Tx,
  { key, trusted }: LoginAttempt,
  outcome: AttemptOutcome,
): Promise<void> {
  await Promise.all([
    settleAddress(tx, key.address, outcome),
    settleAttempt(tx, key, outcome, perAddress),
    trusted || settleAttempt(tx, { ...key, address: '' }, outcome, perAccount),
  ]);
}

/** The details of a failed login that the ledger records. */
export interface FailedLogin {
  /** The name of the account; `UNKNOWN_USER` (login.ts) if the account does not exist. */
  userName: string;
  userId: string | null;
  reason: string;
  origin: { address: string; requestId: string };
}

/** Settles an attempt in a transaction of its own. */
export const settle = (
  db: Database,
  attempt: LoginAttempt,
  outcome: AttemptOutcome,
  failed?: FailedLogin,
): Promise<unknown> => {
  const { anonymousAddress } = attempt;
  const { tenantId } = attempt.key;
  return writeInTenant(
    db,
    tenantId,
    (tx) => Promise.all([settleInTransaction(tx, attempt, outcome), failed && recordLogin(tx, tenantId, failed)]),
    { origin: failed && { tenantId, userId: failed.userId, ...failed.origin }, anonymousAddress },
  );
};
