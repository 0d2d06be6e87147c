import type { FastifyRequest } from 'fastify';
import { createBatcher, type PendingItem } from '../../db/batcher.ts';
import type { Tx } from '../../db/driver.ts';
import { errorCode } from '../../db/errors.ts';
import { isDeadlineExceeded, setTenant, writeInTenant } from '../../db/tenant-scope.ts';
import { commitWith } from '../../db/transaction.ts';
import { namesOtherTenant, type TenantRequest } from '../access/requested-tenant.ts';
import { lockTenantRow } from '../access/tenant-scope.ts';
import { type Caller, loadCallers, readIdempotencyKey, unwrap } from '../auth/caller.ts';
import type { Credentials } from '../auth/credentials.ts';
import type { Dependencies } from '../context.ts';
import { ApiError, apiError } from '../http/errors.ts';
import { type BatchedOutcome, type BatchedRequest, claimBatch } from '../idempotency/batch.ts';
import { consumeOrReserve, type LockedQuotas, lockQuotaCounters, type QuotaRequest } from './counters.ts';
import { readPath } from './queries.ts';
import type { CountedUse, QuotaUseInput, Reservation } from './schema.ts';

type ConsumeOrReserveRequest = TenantRequest & FastifyRequest<{ Body: QuotaUseInput }>;
type UseOrReservation = CountedUse | Reservation;
type Outcome = BatchedOutcome<UseOrReservation>;

interface Queued extends BatchedRequest {
  owner: Credentials;
  /** The tenant whose quota is used: that of the caller, or one below it. */
  tenantId: string;
  input: QuotaUseInput;
  /** How long a reservation lasts; undefined for a use. */
  seconds: number | undefined;
  requestedAt: number;
}
type Item = PendingItem<Queued, Exclude<Outcome, 'repeat'>>;

/**
 * Uses and reserves quotas. Concurrent requests of one tenant that use quotas of the same tenant share a transaction, and so
 * one lock of the counter and one disk flush. Each succeeds or fails on its own, and gets its response after the commit.
 */
export function createQuotaUseBatcher({
  db,
  timing: { responseMs },
  quotaTime,
  metrics,
}: Pick<Dependencies, 'db' | 'timing' | 'quotaTime' | 'metrics'>) {
  async function run(_: string, batch: Item[]): Promise<void> {
    const outcomes = await runInOneTransaction(batch.map(({ request }) => request)).catch((error) => {
      if (error instanceof NothingExecutedError) return error.outcomes;
      // The data of one item is invalid; the others must not fail with it.
      if (/^2[23]/.test(errorCode(error)) && batch.length > 1) return undefined;
      throw error;
    });
    const repeated: Item[] = [];
    for (const [n, item] of batch.entries()) {
      const outcome = outcomes?.[n];
      if (!outcome) await run('', [item]).catch(item.reject);
      else if (outcome === 'repeat') repeated.push(item);
      else item.resolve(outcome);
    }
    if (repeated.length > 0) await run('', repeated);
  }

  const runInOneTransaction = (batch: Queued[]): Promise<Outcome[]> => {
    const [{ owner, tenantId }] = batch as [Queued];
    const isBelow = tenantId !== owner.tenantId;
    const lockCounters = (tx: Tx) => {
      const inputs = batch.map(({ input }) => input);
      return lockQuotaCounters(tx, tenantId, inputs, quotaTime?.());
    };
    return writeInTenant(db, owner.tenantId, async (tx) => {
      const owners = batch.map(({ owner }) => owner);
      // All are sent in one round trip, the idempotency keys first. So even a request without the permission briefly locks
      // counters of its own tenant.
      const [keys, callers, ownCounters] = await Promise.all([
        claimBatch<UseOrReservation>(tx, owner.tenantId, batch),
        loadCallers(tx, owner.tenantId, owners, 'quota:use'),
        isBelow ? undefined : lockCounters(tx),
      ]);
      const outcomes = batch.map((request, n): Outcome | undefined => {
        const caller = callers[n] as Caller | ApiError;
        if (isDeadlineExceeded(request.requestedAt, responseMs)) return failed(apiError('TOO_BUSY'));
        return caller instanceof ApiError ? failed(caller) : keys.begin(request);
      });
      const pending = batch.flatMap((request, n) =>
        outcomes[n] ? [] : [{ n, request, caller: callers[n] as Caller }],
      );
      if (pending.length === 0) throw new NothingExecutedError(outcomes as Outcome[]);
      const mayAct = pending.some(({ caller }) => caller.canActInDescendants);
      const locked = ownCounters ?? (mayAct ? await lockBelow(tx, owner.tenantId, tenantId, lockCounters) : undefined);
      const requests = pending.map(({ caller, request }) => {
        if (!locked || (isBelow && !caller.canActInDescendants)) return apiError('OTHER_TENANT');
        return toQuotaRequest({ ...caller, tenantId }, request);
      });
      const { results, write } = consumeOrReserve(locked ?? { tenantId, counters: [], ids: [] }, requests);
      const executed = pending.map(({ n, request }, m) => {
        const outcome = toOutcome(results[m] as UseOrReservation | ApiError);
        outcomes[n] = { ...outcome, replayed: false };
        return { request, outcome };
      });
      await commitWith(tx, async () => {
        await Promise.all([write(tx), isBelow && setTenant(tx, owner.tenantId), keys.store(tx, executed)]);
      });
      return outcomes as Outcome[];
    });
  };

  // Transactions of one counter wait for each other's locks: while one is flushed, the next one collects requests.
  const runInBatch = createBatcher(run, {
    maxInFlight: Math.min(2, db.writes.perTenant),
    maxBatchSize: 100,
    onBatch: metrics?.batchObserver('quota_use'),
  });
  return async (request: ConsumeOrReserveRequest, seconds?: number): Promise<UseOrReservation> => {
    const requestedAt = performance.now();
    const { token: owner, body: input, query } = request;
    const tenantId = namesOtherTenant(request) ? (query.tenantId as string) : owner.tenantId;
    const keyed = await readIdempotencyKey(request);
    const queued = { owner, keyed, tenantId, input, seconds, requestedAt };
    return unwrap(await runInBatch(`${owner.tenantId} ${tenantId}`, queued), request);
  };
}

/** Locks a tenant below the caller's, assumes it and locks its counters; undefined: there is no such tenant. */
async function lockBelow(
  tx: Tx,
  ownTenantId: string,
  tenantId: string,
  lockCounters: (tx: Tx) => Promise<LockedQuotas>,
): Promise<LockedQuotas | undefined> {
  if (!(await lockTenantRow(tx, ownTenantId, tenantId))) return undefined;
  const [, path, locked] = await Promise.all([setTenant(tx, tenantId), readPath(tx, tenantId), lockCounters(tx)]);
  return { ...locked, visible: path.slice(path.indexOf(ownTenantId)) };
}

const toQuotaRequest = (caller: Caller, { input, seconds }: Queued): QuotaRequest => ({
  ...{ caller, quota: input.quota, seconds },
  amount: input.amount ?? 1,
  subject: input.subject ?? null,
});

const toOutcome = (result: UseOrReservation | ApiError) =>
  result instanceof ApiError ? { error: result } : { result };
const failed = (error: ApiError): Outcome => ({ error, replayed: false });

/** Rolls back a batch in which no request is to be executed: locking may have created counters. */
class NothingExecutedError extends Error {
  readonly outcomes: Outcome[];

  constructor(outcomes: Outcome[]) {
    super('None of the requests is to be executed.');
    this.outcomes = outcomes;
  }
}
