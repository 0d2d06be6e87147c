import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { attempt, type Tx } from '../../db/sql.ts';
import { enterTenant } from '../../db/tenancy.ts';
import { Refusal, refuse } from '../http/refusals.ts';
import type { Passwords } from './passwords.ts';
import { claimKey, dropOldKeys, type KeptAnswer, keepAnswer, readKept } from './queries.ts';
import type { Token } from './tokens.ts';

/** A request that its caller may repeat: the key he gave, and what tells this request from others. */
export interface Repeatable {
  key: string;
  fingerprint: Buffer;
}

export async function repeatableOf({
  headers,
  method,
  url,
  body,
  token,
  server,
}: FastifyRequest): Promise<Repeatable | undefined> {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  const salt = createHash('sha256')
    .update(JSON.stringify([token.tenantId, token.userId, key]))
    .digest();
  const content = JSON.stringify([method, url, await withoutPasswords(server.passwords, body, salt)]);
  return { key, fingerprint: createHash('sha256').update(content).digest() };
}

/** A quick hash must not be kept of a password: it would be easier to guess from than the slow one. */
async function withoutPasswords(passwords: Passwords, body: unknown, salt: Buffer): Promise<unknown> {
  if (typeof body !== 'object' || body === null) return body;
  const entries = Object.entries(body).map(async ([name, value]) =>
    /password/i.test(name) && typeof value === 'string'
      ? [name, await passwords.hashRepeatably(value, salt)]
      : [name, value],
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** What an operation came to: kept with its key, told again when it is repeated. */
export type WorkDone<T> = { result: T } | { refusal: Refusal };

/**
 * Does the work once for a key: of two at the same moment the second waits for the first, then tells what it told. The
 * key is kept in the transaction of the work, so a crash leaves both or neither.
 */
export async function once<T>(
  tx: Tx,
  token: Token,
  repeatable: Repeatable,
  work: (tx: Tx) => Promise<T>,
): Promise<WorkDone<T> & { replayed: boolean }> {
  if (!(await claimKey(tx, token, repeatable))) {
    const kept = await recall<T>(tx, token, repeatable);
    if (kept) return { ...kept, replayed: true };
  }
  await dropOldKeys(tx, token.tenantId);
  const outcome = await attempt(tx, async (inner) => ({ result: await work(inner) })).catch(asRefusal);
  // The work may have gone to a tenant below.
  await enterTenant(tx, token.tenantId);
  await keepAnswer(tx, token, repeatable.key, asKept(outcome));
  return { ...(outcome as WorkDone<T>), replayed: false };
}

/** What was answered under this key, if anything was. */
export async function recall<T>(tx: Tx, token: Token, repeatable: Repeatable): Promise<WorkDone<T> | undefined> {
  const kept = await readKept(tx, token, repeatable.key);
  if (!kept) return undefined;
  if (!kept.fingerprint.equals(repeatable.fingerprint)) throw refuse('KEY_REUSED');
  if (kept.refusal) {
    const { reason, facts } = kept.refusal as Pick<Refusal, 'reason' | 'facts'>;
    return { refusal: new Refusal(reason, facts) };
  }
  return { result: kept.result as T };
}

function asRefusal(error: unknown): { refusal: Refusal } {
  if (error instanceof Refusal) return { refusal: error };
  throw error;
}

const asKept = (outcome: { result?: unknown; refusal?: Refusal }): KeptAnswer =>
  outcome.refusal
    ? { result: null, refusal: { reason: outcome.refusal.reason, facts: outcome.refusal.facts } }
    : { result: outcome.result ?? null, refusal: null };
