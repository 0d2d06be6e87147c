import type { FastifyRequest } from 'fastify';
import type { Database } from '../../db/connect.ts';
import { createCache } from '../cache.ts';
import type { App } from '../context.ts';
import { type KeyUse, recordUses } from './queries.ts';

/** Uses within this interval are recorded in one statement. */
const COLLECT_MS = 1_000;
const MAX_KEYS = 10_000;

/**
 * Records when and from where API keys are used, at most once a minute for each key. It happens after the response, in one
 * statement for all keys of the last second, so no request waits for it.
 */
export function recordKeyUses(app: App, db: Database): void {
  /** The keys whose use this process recorded less than `keyUseMs` ago. The statement checks it for all processes. */
  const recorded = createCache<true>(MAX_KEYS, { ttl: app.timing.keyUseMs });
  let uses: KeyUse[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const batch = uses;
    uses = [];
    if (batch.length === 0) return;
    // While the database is unavailable or takes no writes, the next use tries again.
    await recordUses(db, batch).catch(() => {
      for (const { keyId } of batch) recorded.delete(keyId);
    });
  }

  function record({ token }: FastifyRequest): void {
    if (token?.keyId === undefined || !token.known.accepted || recorded.has(token.keyId)) return;
    const { tenantId, keyId, address } = token;
    recorded.set(keyId, true);
    uses.push({ tenantId, keyId, address });
    timer ??= setTimeout(flush, COLLECT_MS).unref();
  }

  app.addHook('onRequest', (request, reply, done) => {
    // Not `onResponse`: it is not called after the client disconnected, as from an event stream.
    const isUser = request.token && request.token.keyId === undefined;
    if (!isUser) reply.raw.once('close', () => record(request));
    done();
  });
  app.addHook('preClose', flush);
}
