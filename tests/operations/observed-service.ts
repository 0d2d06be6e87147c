import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/driver.ts';
import { startService } from '../support/service.ts';

/** Starts a service and collects its connections. They are idle between requests, because background work is disabled. */
export async function startObserved() {
  const connections = new Set<Sql>();
  const wrapDatabase = (db: Database): Database => ({
    ...db,
    use: (work) =>
      db.use((sql) => {
        connections.add(sql);
        return work(sql);
      }),
  });
  const timing = { sealMs: 600_000, webhookPollMs: 600_000 };
  return { service: await startService({}, { wrapDatabase, timing }), connections };
}
