import type { Tx } from '../../db/driver.ts';
import { asError, asStored, matchOutcome, type Outcome } from './idempotency.ts';
import {
  claimKeys,
  identify,
  type KeyedRequest,
  type KeyOwner,
  type OwnedRequest,
  readOutcomes,
  releaseKey,
  removeExpiredKeys,
  storeOutcomes,
} from './queries.ts';

/** A request of a batch. Without a key, it is executed however often it is sent. */
export interface BatchedRequest {
  owner: KeyOwner;
  keyed: KeyedRequest | undefined;
}

/** 'repeat': an earlier request of the batch has the same key. After the commit, its outcome can be replayed. */
export type BatchedOutcome<T> = (Outcome<T> & { replayed: boolean }) | 'repeat';

/** The keys of a batch: requests of one tenant that share a transaction. Does for a batch what `runOnce` does for one request. */
export interface BatchKeys<T> {
  /** Returns the outcome of a request whose caller has the permission; undefined: it is to be executed. */
  begin(request: BatchedRequest): BatchedOutcome<T> | undefined;
  /** Stores the outcomes of executed requests, and releases the keys of all others. */
  store(tx: Tx, executed: readonly { request: BatchedRequest; outcome: Outcome<T> }[]): Promise<void>;
}

/** Claims the keys of a batch. Waits for concurrent requests with the same keys. Sends all statements together. */
export async function claimBatch<T>(
  tx: Tx,
  tenantId: string,
  requests: readonly BatchedRequest[],
): Promise<BatchKeys<T>> {
  const owned = new Map<string, OwnedRequest>();
  for (const request of requests) {
    const { keyed, owner } = request;
    if (!keyed) continue;
    const id = identify({ owner, ...keyed });
    if (!owned.has(id)) owned.set(id, { owner, ...keyed });
  }
  const keys = [...owned.values()];
  const [claimed, stored] =
    keys.length === 0
      ? [new Set<string>(), new Map<string, never>()]
      : await Promise.all([
          claimKeys(tx, tenantId, keys),
          readOutcomes(tx, tenantId, keys),
          removeExpiredKeys(tx, tenantId),
        ]);
  const begun = new Set<string>();
  return {
    begin({ owner, keyed }) {
      if (!keyed) return undefined;
      const id = identify({ owner, ...keyed });
      const known = claimed.has(id) ? undefined : stored.get(id);
      if (known) return replay<T>(known, keyed);
      if (begun.has(id)) return 'repeat';
      begun.add(id);
      return undefined;
    },
    async store(tx, executed) {
      const outcomes = executed.flatMap(({ request: { owner, keyed }, outcome }) =>
        keyed ? [{ owner, ...keyed, ...asStored(outcome) }] : [],
      );
      const kept = new Set(outcomes.map(identify));
      const released = [...claimed].filter((id) => !kept.has(id)).map((id) => owned.get(id) as OwnedRequest);
      await Promise.all([
        outcomes.length > 0 && storeOutcomes(tx, tenantId, outcomes),
        ...released.map((request) => releaseKey(tx, tenantId, request)),
      ]);
    },
  };
}

function replay<T>(
  stored: Parameters<typeof matchOutcome>[0],
  keyed: KeyedRequest,
): Outcome<T> & { replayed: boolean } {
  try {
    return { ...matchOutcome<T>(stored, keyed), replayed: true };
  } catch (error) {
    return { ...asError(error), replayed: false };
  }
}
