import type { FastifyRequest } from 'fastify';
import { createBatcher, type PendingItem } from '../../db/batcher.ts';
import { errorCode } from '../../db/errors.ts';
import { isDeadlineExceeded, writeInTenant } from '../../db/tenant-scope.ts';
import { commitWith } from '../../db/transaction.ts';
import { type ActingRequest, isActing, writeActing } from '../access/acting.ts';
import { loadCallers } from '../auth/caller.ts';
import type { Credentials } from '../auth/claims.ts';
import type { Dependencies } from '../context.ts';
import { ApiError, apiError } from '../http/errors.ts';
import { NothingTakenError, takeQuotas } from './counters.ts';
import { takeQuota } from './rules.ts';
import type { CountedUse, QuotaReservationInput, QuotaUseInput, Reservation } from './schema.ts';

type Input = QuotaUseInput & Partial<QuotaReservationInput>;
type TakeRequest = ActingRequest & FastifyRequest<{ Body: Input }>;

/** 'alone': the request has to run in a transaction of its own. */
type Outcome = CountedUse | Reservation | ApiError | 'alone';
type Item = PendingItem<{ token: Credentials; input: Input; requestedAt: number }, Exclude<Outcome, ApiError>>;

/**
 * Uses and reserves quotas. Concurrent requests of a tenant share a transaction, and so one lock of the counter and one disk
 * flush. Each succeeds or fails on its own, and is answered after the commit. A request with an Idempotency-Key, or for
 * a tenant below, runs in a transaction of its own.
 */
export function createQuotaTaker({
  db,
  timing: { responseMs },
  quotaTime,
}: Pick<Dependencies, 'db' | 'timing' | 'quotaTime'>) {
  async function run(tenantId: string, batch: Item[]): Promise<void> {
    const outcomes = await takeInOneTransaction(tenantId, batch).catch((error): Outcome[] => {
      if (error instanceof NothingTakenError) return error.errors;
      // The data of one item is invalid; the others must not fail with it.
      if (/^2[23]/.test(errorCode(error))) return batch.map(() => 'alone');
      throw error;
    });
    for (const [n, { resolve, reject }] of batch.entries()) {
      const outcome = outcomes[n] as Outcome;
      if (outcome instanceof ApiError) reject(outcome);
      else resolve(outcome);
    }
  }

  const takeInOneTransaction = (tenantId: string, batch: Item[]): Promise<Outcome[]> =>
    writeInTenant(db, tenantId, (tx) => {
      const tokens = batch.map(({ request }) => request.token);
      const inputs = batch.map(({ request }) => request.input);
      // Load callers in the round trip that locks the counters. A request without the permission therefore locks them briefly.
      const alongside = async () =>
        (await loadCallers(tx, tenantId, tokens, 'quota:use')).map((caller, n) => {
          const { input, requestedAt } = (batch[n] as Item).request;
          if (isDeadlineExceeded(requestedAt, responseMs)) return apiError('TOO_BUSY');
          if (caller instanceof ApiError) return caller;
          const { quota, amount, subject, seconds } = input;
          return { caller, quota, amount: amount ?? 1, subject: subject ?? null, seconds };
        });
      return takeQuotas(tx, tenantId, inputs, {
        alongside,
        now: quotaTime?.(),
        send: (write) => commitWith(tx, write),
      });
    });

  // Transactions of one counter wait for each other's locks: while one is flushed, the next one collects requests.
  const takeInBatch = createBatcher(run, { maxInFlight: Math.min(2, db.writes.perTenant), maxBatchSize: 100 });
  return async (request: TakeRequest): Promise<CountedUse | Reservation> => {
    const requestedAt = performance.now();
    const { token, body: input, headers } = request;
    const runsAlone = headers['idempotency-key'] !== undefined || isActing(request);
    const taken = runsAlone ? 'alone' : await takeInBatch(token.tenantId, { token, input, requestedAt });
    if (taken !== 'alone') return taken;
    return writeActing(db, request, (tx, caller) => takeQuota(tx, caller, input, quotaTime?.()), requestedAt);
  };
}
