import type { Sql, Tx } from '../../db/driver.ts';
import { listLedgers, withinLedger } from '../ledger/owner-scope.ts';

const BATCH_SIZE = 5_000;

/**
 * Moves uses older than `days` to the archive, and deletes reservations that were to expire before then. The stored sums stay as
 * they are. Small transactions keep writers from waiting. Returns the number of moved uses, even if `signal` aborts.
 */
export async function archiveUses(owner: Sql, days: number, signal?: AbortSignal): Promise<number> {
  const [{ cutoff }] = await owner<[{ cutoff: Date }]>`select now() - ${days} * interval '1 day' as cutoff`;
  let moved = 0;
  for (const tenantId of await listLedgers(owner)) {
    for (let count = BATCH_SIZE; count === BATCH_SIZE && !signal?.aborted; moved += count) {
      count = await withinLedger(owner, tenantId, 'isolation level read committed read write', (tx) =>
        moveUses(tx, tenantId, cutoff),
      );
    }
    for (let count = BATCH_SIZE; count === BATCH_SIZE && !signal?.aborted; ) {
      count = await withinLedger(owner, tenantId, 'isolation level read committed read write', (tx) =>
        removeReservations(tx, tenantId, cutoff),
      );
    }
  }
  return moved;
}

async function moveUses(tx: Tx, tenantId: string, cutoff: Date): Promise<number> {
  // Skip a use that is being refunded: the next run moves it.
  const { count } = await tx`
    with old as (
      select u.use_id from quota_uses u where u.tenant_id = ${tenantId} and u.time < ${cutoff}
      order by u.time limit ${BATCH_SIZE} for update skip locked
    ), removed as (
      delete from quota_uses u using old where u.tenant_id = ${tenantId} and u.use_id = old.use_id returning u.*
    )
    insert into quota_uses_archive select * from removed`;
  return count;
}

async function removeReservations(tx: Tx, tenantId: string, cutoff: Date): Promise<number> {
  const { count } = await tx`
    delete from quota_reservations r using (
      select o.reservation_id from quota_reservations o where o.tenant_id = ${tenantId} and o.expires < ${cutoff}
      limit ${BATCH_SIZE}
    ) o where r.tenant_id = ${tenantId} and r.reservation_id = o.reservation_id`;
  return count;
}
