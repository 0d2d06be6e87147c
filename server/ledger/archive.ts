import type { Sql, Tx } from '../../db/driver.ts';
import { listLedgers, withinLedger } from './owner-scope.ts';

/** Changes that a webhook has not queued yet stay in the ledger at least this long, like retries (RETRY_DAYS). */
const DELIVERY_DAYS = 3;

const BATCH_SIZE = 2_000;

/**
 * Moves changes older than `days` to the archive if a later change of the same record is that old too, so that the state at
 * the start of the remaining history is complete. Changes that a webhook has not delivered yet stay, because the archive may
 * be emptied. Small transactions keep writers from waiting. Returns the number of moved changes.
 */
export async function archiveLedger(owner: Sql, days: number): Promise<number> {
  const [{ cutoff }] = await owner<[{ cutoff: Date }]>`select now() - ${days} * interval '1 day' as cutoff`;
  // Do this before any change is moved: from now on, requests for an earlier time get an error.
  await owner`update banyan.ledger_retention set complete_from = greatest(complete_from, ${cutoff})`;
  let moved = 0;
  for (const tenantId of await listLedgers(owner)) {
    for (let count = BATCH_SIZE; count === BATCH_SIZE; moved += count) {
      count = await withinLedger(owner, tenantId, 'isolation level read committed', (tx) =>
        moveBatch(tx, tenantId, cutoff),
      );
    }
  }
  return moved;
}

async function moveBatch(tx: Tx, tenantId: string, cutoff: Date): Promise<number> {
  const { count } = await tx`
    with old as (
      select c.change_id from changes c
      where c.tenant_id = ${tenantId} and c.time < ${cutoff}
        and exists (select from seals s where s.tenant_id = ${tenantId} and s.change_id = c.change_id)
        and (c.resource = 'login' or exists (
          select from changes n where n.tenant_id = ${tenantId} and n.resource = c.resource
            and n.resource_id = c.resource_id and n.change_id > c.change_id and n.time < ${cutoff}
            and n.action <> 'password changed'
            -- Reads of the past find children by the changes that set their parent, so the last of these stays.
            and (c.parent_id is null or n.parent_id is not null)))
        and not exists (
          select from webhook_deliveries d
          where d.tenant_id = ${tenantId} and d.change_id = c.change_id and d.state = 'waiting')
        -- Changes that a webhook has not queued yet have no delivery. After DELIVERY_DAYS they are archived anyway.
        and (c.time < now() - ${DELIVERY_DAYS} * interval '1 day' or not exists (
          select from webhooks w join seals s on s.tenant_id = w.tenant_id and s.seq > w.seq
          where w.tenant_id = ${tenantId} and w.status = '0' and w.del_flag = '0' and s.change_id = c.change_id))
      order by c.time limit ${BATCH_SIZE}
    ), removed as (
      delete from changes c using old where c.tenant_id = ${tenantId} and c.change_id = old.change_id returning c.*
    ), archived as (
      insert into changes_archive select * from removed
    )
    update seals s set archived = true from old where s.tenant_id = ${tenantId} and s.change_id = old.change_id`;
  return count;
}
