import type { Database } from '../../db/connect.ts';
import { errorCode, isUnavailable } from '../../db/errors.ts';
import { writeOutsideQueue } from '../../db/tenant-scope.ts';
import type { App, Dependencies } from '../context.ts';
import { startPeriodicJob } from '../periodic-job.ts';
import { insertEndNotice, tenantsToWarn } from './queries.ts';

/** Transactions stay short: one for each tenant, and at most this many tenants between two queries. */
const BATCH = 1_000;

/** A statement has exceeded its timeout. */
const QUERY_CANCELED = '57014';

type OnError = (tenantId: string, error: Error) => void;

/** Warns tenants 30, 7 and 1 days before the end of their service, in the background while the service runs. */
export function startEndNotices(app: App, { db, quotaTime }: Dependencies): void {
  /** The errors of the last round by tenant. The same error is logged once and not in every round. */
  let failures = new Map<string, string>();
  startPeriodicJob(app, {
    intervalMs: app.timing.noticeMs,
    run: async (isClosing) => {
      const former = failures;
      failures = new Map();
      await warnTenants(db, quotaTime?.(), isClosing, (tenantId, error) => {
        failures.set(tenantId, error.message);
        if (former.get(tenantId) === error.message) return;
        app.log.warn({ err: error, tenantId }, 'a tenant whose service ends soon could not be warned');
      });
    },
    onError: (error) => app.log.warn({ err: error }, 'tenants whose service ends soon could not be warned'),
  });
}

/** Several nodes may do this at the same time: the unique index lets one of them record each notice. */
async function warnTenants(
  db: Database,
  now: Date | undefined,
  isClosing: () => boolean,
  onError: OnError,
): Promise<void> {
  const failed = new Set<string>();
  for (;;) {
    const tenantIds = await db.use((sql) => tenantsToWarn(sql, now, BATCH));
    const untried = tenantIds.filter((tenantId) => !failed.has(tenantId));
    for (const tenantId of untried) {
      if (isClosing()) return;
      try {
        await writeOutsideQueue(db, tenantId, (tx) => insertEndNotice(tx, tenantId, now));
      } catch (error) {
        // One tenant that cannot be warned, for example because its row is locked for a long time, must not keep the others from
        // being warned. If the database cannot be used, none of them can.
        if (isUnavailable(error) && errorCode(error) !== QUERY_CANCELED) throw error;
        failed.add(tenantId);
        onError(tenantId, error as Error);
      }
    }
    // Tenants that failed are found again. If all of a batch have failed, the next query would find the same ones.
    if (tenantIds.length < BATCH || tenantIds.every((tenantId) => failed.has(tenantId))) return;
  }
}
