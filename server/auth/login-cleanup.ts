import type { Database } from '../../db/connect.ts';
import { writeInTenant, writeOutsideTenants } from '../../db/tenant-scope.ts';
import type { App } from '../context.ts';
import { startPeriodicJob } from '../periodic-job.ts';
import { deleteExpiredAddresses, deleteExpiredFailures, tenantsWithExpiredLogins } from './queries.ts';
import { deleteExpiredSessions } from './session-queries.ts';

/** Transactions stay short: at most this many rows, or tenants, at a time. */
const BATCH = 1_000;

/** Deletes expired counters of failed logins and expired sessions in the background while the service runs. */
export function startLoginCleanup(app: App, db: Database): void {
  startPeriodicJob(app, {
    intervalMs: app.timing.loginCleanupMs,
    run: (isClosing) => deleteExpiredLogins(db, isClosing),
    onError: (error) => app.log.warn({ err: error }, 'expired sessions and login counters could not be deleted'),
  });
}

async function deleteExpiredLogins(db: Database, isClosing: () => boolean): Promise<void> {
  await writeOutsideTenants(db, (tx) => deleteExpiredAddresses(tx, BATCH));
  for (const { tenantId } of await db.use((sql) => tenantsWithExpiredLogins(sql, BATCH))) {
    if (isClosing()) return;
    await writeInTenant(db, tenantId, async (tx) => {
      await deleteExpiredFailures(tx, tenantId, BATCH);
      await deleteExpiredSessions(tx, tenantId, BATCH);
    });
  }
}
