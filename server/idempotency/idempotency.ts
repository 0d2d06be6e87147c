import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Tx } from '../../db/driver.ts';
import { setTenant } from '../../db/tenant-scope.ts';
import { withSavepoint } from '../../db/transaction.ts';
import { ApiError, apiError } from '../http/errors.ts';
import {
  claimKey,
  type KeyedRequest,
  type KeyOwner,
  readOutcome,
  removeExpiredKeys,
  type StoredOutcome,
  storeOutcome,
} from './queries.ts';

export type { KeyedRequest };

/** Hashes a password at full cost. The same password and salt give the same hash. */
type HashPassword = (password: string, salt: Buffer) => Promise<string>;

/** Returns the Idempotency-Key of a request with a fingerprint of its content; undefined if it has no key. */
export async function keyedRequestOf(
  { headers, method, url, body }: FastifyRequest,
  owner: KeyOwner,
  hashPassword: HashPassword,
): Promise<KeyedRequest | undefined> {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  const salt = createHash('sha256')
    .update(JSON.stringify([owner.tenantId, owner.userId, key]))
    .digest();
  const content = JSON.stringify([method, url, await hashPasswords(body, (password) => hashPassword(password, salt))]);
  return { key, fingerprint: createHash('sha256').update(content).digest() };
}

/** Replaces passwords by their slow hash: a fast hash in the table would make them easy to guess. */
async function hashPasswords(body: unknown, hash: (password: string) => Promise<string>): Promise<unknown> {
  if (typeof body !== 'object' || body === null) return body;
  const entries = Object.entries(body).map(async ([name, value]) =>
    /password/i.test(name) && typeof value === 'string' ? [name, await hash(value)] : [name, value],
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** The outcome of an operation: stored with its key and replayed when the request is repeated. */
export type Outcome<T> = { result: T } | { error: ApiError };

/**
 * Runs work once for each key. A concurrent request with the same key waits and replays the outcome of the first. The key
 * is stored in the transaction of the work, so a crash leaves both or neither.
 */
export async function runOnce<T>(
  tx: Tx,
  owner: KeyOwner,
  keyed: KeyedRequest,
  work: (tx: Tx) => Promise<T>,
): Promise<Outcome<T> & { replayed: boolean }> {
  if (!(await claimKey(tx, owner, keyed))) {
    const stored = await recallOutcome<T>(tx, owner, keyed);
    if (stored) return { ...stored, replayed: true };
  }
  await removeExpiredKeys(tx, owner.tenantId);
  const outcome = await withSavepoint(tx, async (inner) => ({ result: await work(inner) })).catch(asError);
  // The work may have assumed a descendant.
  await setTenant(tx, owner.tenantId);
  await storeOutcome(tx, owner, keyed.key, asStored(outcome));
  return { ...(outcome as Outcome<T>), replayed: false };
}

/** Returns the stored outcome of this key, if there is one. */
export async function recallOutcome<T>(tx: Tx, owner: KeyOwner, keyed: KeyedRequest): Promise<Outcome<T> | undefined> {
  const stored = await readOutcome(tx, owner, keyed.key);
  if (!stored) return undefined;
  if (!stored.fingerprint.equals(keyed.fingerprint)) throw apiError('KEY_REUSED');
  if (stored.error) {
    const { reason, facts } = stored.error as StoredError;
    return { error: new ApiError(reason, facts) };
  }
  return { result: stored.result as T };
}

/** An error as the table stores it. `facts` is the name that rows written by earlier versions use for the details. */
interface StoredError {
  reason: ApiError['code'];
  facts: ApiError['details'];
}

function asError(error: unknown): { error: ApiError } {
  if (error instanceof ApiError) return { error };
  throw error;
}

const asStored = (outcome: { result?: unknown; error?: ApiError }): StoredOutcome =>
  outcome.error
    ? { result: null, error: { reason: outcome.error.code, facts: outcome.error.details } satisfies StoredError }
    : { result: outcome.result ?? null, error: null };
