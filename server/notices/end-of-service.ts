import type { Database } from '../../db/connect.ts';
import { writeInTenant } from '../../db/tenant-scope.ts';
import type { App, Dependencies } from '../context.ts';
import { startPeriodicJob } from '../periodic-job.ts';
import { insertEndNotice, tenantsToWarn } from './queries.ts';

/** Transactions stay short: one for each tenant, and at most this many tenants between two queries. */
const BATCH = 1_000;

/** Warns tenants 30, 7 and 1 days before the end of their service, in the background while the service runs. */
export function startEndNotices(app: App, { db, quotaTime }: Dependencies): void {
  startPeriodicJob(app, {
    intervalMs: app.timing.noticeMs,
    run: (isClosing) => warnTenants(db, quotaTime?.(), isClosing),
    onError: (error) => app.log.warn({ err: error }, 'tenants whose service ends soon could not be warned'),
  });
}

/** Several nodes may do this at the same time: the unique index lets one of them record each notice. */
async function warnTenants(db: Database, now: Date | undefined, isClosing: () => boolean): Promise<void> {
  for (;;) {
    const tenantIds = await db.use((sql) => tenantsToWarn(sql, now, BATCH));
    for (const tenantId of tenantIds) {
      if (isClosing()) return;
      await writeInTenant(db, tenantId, (tx) => insertEndNotice(tx, tenantId, now));
    }
    if (tenantIds.length < BATCH) return;
  }
}
