import type { Tx } from '../../db/driver.ts';
import { insertQuotaNotices } from './queries.ts';

/** The percentages of a quota at which a tenant is warned. */
const PERCENTAGES = [80, 100];

/** A counter that the transaction has locked, after the change. */
export interface CountedQuota {
  tenantId: string;
  quota: string;
  /** -1: no limit. */
  total: number;
  used: number;
  /** The number of the period. */
  resets: number;
}

/**
 * Records which percentages of its total each counter has reached, in the transaction that changed the counter. The state after
 * the change is compared with the total. A percentage is recorded once for each total and period, and the records are never
 * removed.
 */
export async function recordQuotaNotices(tx: Tx, tenantId: string, counters: readonly CountedQuota[]): Promise<void> {
  const notices = counters.flatMap(({ tenantId, quota, total, used, resets }) =>
    PERCENTAGES.filter((percent) => total > 0 && used / total >= percent / 100).map((percent) => ({
      ...{ tenant_id: tenantId, quota, percent, total, used, resets },
    })),
  );
  if (notices.length > 0) await insertQuotaNotices(tx, tenantId, notices);
}
