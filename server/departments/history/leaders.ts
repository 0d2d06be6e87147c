import type { Tx } from '../../../db/driver.ts';
import { forceIndexScans } from '../../../db/planner.ts';
import type { PointInTime } from '../../ledger/point-in-time.ts';
import type { RecordedRow } from '../../ledger/resources.ts';
import type { Leaders } from '../leaders.ts';
import { storedLeader } from '../record.ts';
import { readNamesAt, type WantedName } from './leader-queries.ts';

export async function readLeadersAt(
  tx: Tx,
  tenantId: string,
  leaderIds: Iterable<number | null>,
  time: PointInTime,
): Promise<Leaders> {
  const ids = new Set(leaderIds);
  ids.delete(null);
  if (ids.size === 0) return new Map();
  const wanted = ([...ids] as number[]).map((userId): WantedName => ({ userId, time }));
  const names = await readNamesAt(tx, tenantId, wanted);
  return new Map(names.map(({ n, name }) => [wanted[n]?.userId as number, name]));
}

const NOBODY: Leaders = new Map();

/** Reads the leader of each row that a change recorded, as they were at the time of that change. */
export async function readLeadersOf(tx: Tx, rows: readonly RecordedRow[]): Promise<Leaders[]> {
  const leaders = rows.map(() => NOBODY);
  const byTenant = new Map<string, (WantedName & { index: number })[]>();
  for (const [index, { tenantId, time, row }] of rows.entries()) {
    const userId = storedLeader(row);
    if (userId === null) continue;
    const wanted = byTenant.get(tenantId) ?? [];
    wanted.push({ index, userId, time });
    byTenant.set(tenantId, wanted);
  }
  if (byTenant.size > 0) await forceIndexScans(tx);
  for (const [tenantId, wanted] of byTenant) {
    for (const { n, name } of await readNamesAt(tx, tenantId, wanted)) {
      const { index, userId } = wanted[n] as (typeof wanted)[number];
      leaders[index] = new Map([[userId, name]]);
    }
  }
  return leaders;
}
