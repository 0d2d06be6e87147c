import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Tx } from '../../db/driver.ts';
import { setTenant } from '../../db/tenant-scope.ts';
import { withSavepoint } from '../../db/transaction.ts';
import { ApiError, apiError } from '../http/errors.ts';
import {
  claimKeys,
  identify,
  type KeyedRequest,
  type KeyOwner,
  readOutcomes,
  removeExpiredKeys,
  type StoredOutcome,
  type StoredRequest,
  storeOutcomes,
} from './queries.ts';
import { stringifyDeep } from './stringify-deep.ts';

export type { KeyedRequest };

/** Hashes a text at full cost. The same text and salt give the same hash. */
type SlowHash = (text: string, salt: Buffer) => Promise<string>;

const idempotencyKeyOf = ({ headers }: FastifyRequest): string | undefined => {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
};

/**
 * Returns the Idempotency-Key of a request with a fingerprint of its content; undefined if it has no key. The fingerprint
 * contains passwords only as a slow hash, because a fast one in the table would make them easy to guess: one hash for all of
 * them together, so that the cost does not grow with their number. For a request that needs this hash (`needsSlowHash`), check
 * the caller's permission first.
 */
export async function keyedRequestOf(
  request: FastifyRequest,
  owner: KeyOwner,
  slowHash: SlowHash,
): Promise<KeyedRequest | undefined> {
  const key = idempotencyKeyOf(request);
  if (key === undefined) return undefined;
  const { method, url } = request;
  const { passwords, body } = separatePasswords(request);
  const salt = createHash('sha256')
    .update(JSON.stringify([owner.tenantId, owner.userId ?? { key: owner.keyId }, key]))
    .digest();
  const secrets = passwords.length > 0 ? await slowHash(JSON.stringify(passwords), salt) : null;
  const content = stringifyDeep([method, url, body, secrets]);
  return { key, fingerprint: createHash('sha256').update(content).digest() };
}

/** Whether the fingerprint of a request takes a slow hash. */
export const needsSlowHash = (request: FastifyRequest): boolean =>
  idempotencyKeyOf(request) !== undefined && separatePasswords(request).passwords.length > 0;

/** The part of a JSON schema that leads to passwords. */
interface Schema {
  format?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}

/**
 * Separates the body from the passwords that the schema of the operation declares. Other fields stay in the body, whatever their
 * names.
 */
function separatePasswords({ body, routeOptions }: FastifyRequest): { passwords: string[]; body: unknown } {
  const passwords: string[] = [];
  const separate = (value: unknown, schema: Schema): unknown => {
    if (!declaresPassword(schema)) return value;
    if (schema.format === 'password') {
      if (typeof value !== 'string') return value;
      return { password: passwords.push(value) };
    }
    if (Array.isArray(value)) return value.map((item) => separate(item, schema.items ?? {}));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([name, inner]) => [
      name,
      separate(inner, Object.hasOwn(schema.properties ?? {}, name) ? (schema.properties?.[name] as Schema) : {}),
    ]);
    return Object.fromEntries(entries);
  };
  return { body: separate(body, (routeOptions.schema?.body as Schema | undefined) ?? {}), passwords };
}

const declaresPassword = (schema: Schema): boolean =>
  schema.format === 'password' ||
  [...Object.values(schema.properties ?? {}), ...(schema.items ? [schema.items] : [])].some(declaresPassword);

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
  const request = { owner, ...keyed };
  const claims = await claimKeys(tx, owner.tenantId, [request]);
  if (!claims.has(identify(request))) {
    const stored = (await readOutcomes(tx, owner.tenantId, [request])).get(identify(request));
    if (stored) return { ...matchOutcome<T>(stored, keyed), replayed: true };
  }
  await removeExpiredKeys(tx, owner.tenantId);
  const outcome = await withSavepoint(tx, async (inner) => ({ result: await work(inner) })).catch(asError);
  // The work may have switched the transaction to a descendant tenant.
  await setTenant(tx, owner.tenantId);
  await storeOutcomes(tx, owner.tenantId, [{ ...request, ...asStored(outcome) }]);
  return { ...(outcome as Outcome<T>), replayed: false };
}

/** Returns what is stored with the key of a request, for `matchOutcome`. */
export const findOutcome = async (tx: Tx, owner: KeyOwner, request: FastifyRequest) => {
  const key = idempotencyKeyOf(request);
  if (key === undefined) return undefined;
  return (await readOutcomes(tx, owner.tenantId, [{ owner, key }])).get(identify({ owner, key }));
};

/** Returns a stored outcome, unless it belongs to a different request with the same key. */
export function matchOutcome<T>(stored: StoredRequest, keyed: KeyedRequest): Outcome<T> {
  if (!stored.fingerprint.equals(keyed.fingerprint)) throw apiError('KEY_REUSED');
  if (stored.error) {
    const { reason: code, facts: details } = stored.error as StoredError;
    return { error: new ApiError(code, details) };
  }
  return { result: stored.result as T };
}

/** An error as the table stores it: the field `reason` is its code, and the field `facts` has its details. */
interface StoredError {
  reason: ApiError['code'];
  facts: ApiError['details'];
}

export function asError(error: unknown): { error: ApiError } {
  if (error instanceof ApiError) return { error };
  throw error;
}

export const asStored = (outcome: { result?: unknown; error?: ApiError }): StoredOutcome =>
  outcome.error
    ? { result: null, error: { reason: outcome.error.code, facts: outcome.error.details } satisfies StoredError }
    : { result: outcome.result ?? null, error: null };
