import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Tx } from '../../db/driver.ts';
import { KeyedSemaphore, Semaphore } from '../../db/semaphore.ts';
import { readInRequestedTenant } from '../access/requested-tenant.ts';
import type { Caller } from '../auth/caller.ts';
import { createCache } from '../cache.ts';
import type { Dependencies } from '../context.ts';
import { isClientWaiting, queueTimeout, sendChunks, sendSerialized, streamResponse } from '../http/streaming.ts';
import type { PointInTime } from '../ledger/point-in-time.ts';
import { treeAt } from './history/tree.ts';
import type { TreeFilter } from './tree/schema.ts';
import { currentTree, readSmallTree, readTree } from './tree/tree.ts';

/** For how long a tree counts as large. */
const KNOWN_LARGE_MS = 60_000;

/** Returns a function that sends a tree, as it is now or was at `time`: a small one from memory, a large one as a stream. */
export function createTreeSender({ db }: Dependencies) {
  // These limits leave connections of the pool (10 by default) to other requests. A large tree holds a connection for as long as
  // its client reads; a small one is sent from memory. No tenant waits for the small trees of another one.
  const smallTreesOfTenant = new KeyedSemaphore(4);
  const largeTrees = new Semaphore(2);
  const largeTreesOfTenant = new KeyedSemaphore(1);
  // A tree that was too large to be built in memory is not read twice the next time. Streaming also works if it has become small.
  const knownLarge = createCache<true>(1_000, { ttl: KNOWN_LARGE_MS });

  return async (
    request: FastifyRequest<{ Querystring: TreeFilter }>,
    reply: FastifyReply,
    time: PointInTime | undefined,
  ) => {
    const { query } = request;
    const sourceOf = (tx: Tx, caller: Caller) =>
      time ? treeAt(tx, caller, query, time) : currentTree(tx, caller, query);
    const { tenantId } = request.token;
    const key = JSON.stringify([tenantId, query]);
    if (!knownLarge.has(key)) {
      const small = await smallTreesOfTenant.run(
        tenantId,
        () => readInRequestedTenant(db, request, async (tx, caller) => readSmallTree(sourceOf(tx, caller))),
        queueTimeout(reply),
      );
      if (small !== undefined) return sendSerialized(reply, small);
      knownLarge.set(key, true);
    }
    const send = () =>
      readInRequestedTenant(db, request, (tx, caller) =>
        sendChunks(
          reply,
          readTree(tx, sourceOf(tx, caller), () => isClientWaiting(reply)),
        ),
      );
    const timeout = queueTimeout(reply);
    return streamResponse(reply, () => largeTreesOfTenant.run(tenantId, () => largeTrees.run(send, timeout), timeout));
  };
}
