import type { Sql, Tx } from '../../db/driver.ts';
import { lockTenantTree } from '../access/tenant-scope.ts';
import { listLedgers, withinLedger } from './owner-scope.ts';

/** How long a message to a webhook is retried. Changes that a webhook has not queued yet stay in the ledger for this long. */
export const RETRY_DAYS = 3;

const BATCH_SIZE = 2_000;
/** A version of a tenant's record may be larger than a megabyte: it has seven rules of up to 65,536 characters each. */
const VERSIONS_BATCH_SIZE = 50;

/**
 * Moves logins older than `days` to the archive, and other changes if a later change of the same record is that old
 * too, so that the state at the start of the remaining history is complete. Changes with a pending delivery to a
 * webhook stay, and for RETRY_DAYS those that a webhook has not queued yet, because the archive may be emptied. Small
 * transactions keep writers from waiting. Returns the number of moved changes, even if `signal` aborts.
 */
export async function archiveLedger(owner: Sql, days: number, signal?: AbortSignal): Promise<number> {
  const [{ cutoff }] = await owner<[{ cutoff: Date }]>`select now() - ${days} * interval '1 day' as cutoff`;
  // Do this before any change is moved: from now on, requests for an earlier time get an error.
  await owner`update banyan.ledger_retention set complete_from = greatest(complete_from, ${cutoff})`;
  let moved = 0;
  const ledgers = await listLedgers(owner);
  for (const tenantId of ledgers) {
    for (let count = BATCH_SIZE; count === BATCH_SIZE && !signal?.aborted; moved += count) {
      count = await withinLedger(owner, tenantId, 'isolation level read committed read write', (tx) =>
        moveBatch(tx, tenantId, cutoff),
      );
    }
  }
  // Ledgers of ancestors refer to versions of a tenant too, so this comes after all of them.
  for (const tenantId of ledgers) {
    for (let count = VERSIONS_BATCH_SIZE; count === VERSIONS_BATCH_SIZE && !signal?.aborted; ) {
      count = await withinLedger(owner, tenantId, 'isolation level read committed read write', (tx) =>
        moveVersions(tx, tenantId),
      );
    }
  }
  return moved;
}

/** Moves versions of a tenant's record to which only archived changes refer. */
async function moveVersions(tx: Tx, tenantId: string): Promise<number> {
  const unused = () => tx`
    select v.hash from tenant_versions v
    where v.tenant_id = ${tenantId}
      and not exists (select from changes c where c.before_hash = v.hash)
      and not exists (select from changes c where c.after_hash = v.hash)
    limit ${VERSIONS_BATCH_SIZE}`;
  if ((await unused()).length === 0) return 0;
  // Lock out writers of tenants and look again: one of them could refer to a version just before we move it.
  await lockTenantTree(tx);
  const { count } = await tx`
    with removed as (
      delete from tenant_versions v using (${unused()}) u where v.tenant_id = ${tenantId} and v.hash = u.hash
      returning v.*
    )
    insert into tenant_versions_archive select * from removed on conflict do nothing`;
  return count;
}

async function moveBatch(tx: Tx, tenantId: string, cutoff: Date): Promise<number> {
  // Webhooks of ancestors may receive the changes too.
  const [{ path }] = await tx<[{ path: string[] }]>`
    select coalesce((select path from tenants where tenant_id = ${tenantId}), array[${tenantId}::text]) as path`;
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
          where d.tenant_id = any (${path}) and d.change_id = c.change_id and d.state = 'waiting')
        -- Changes that a webhook has not queued yet have no delivery. After RETRY_DAYS they are archived anyway.
        and (c.time < now() - ${RETRY_DAYS} * interval '1 day' or not exists (
          select from webhooks w join seals s on s.tenant_id = w.tenant_id and s.seq > w.seq
          where w.tenant_id = ${tenantId} and not w.below and w.status = '0' and w.del_flag = '0'
            and s.change_id = c.change_id))
        and (c.time < now() - ${RETRY_DAYS} * interval '1 day' or not exists (
          select from webhooks w join change_positions p on p.tenant_id = ${tenantId} and p.position > w.seq
          where w.tenant_id = any (${path}) and w.below and w.status = '0' and w.del_flag = '0'
            and p.change_id = c.change_id))
      order by c.time limit ${BATCH_SIZE}
    ), removed as (
      delete from changes c using old where c.tenant_id = ${tenantId} and c.change_id = old.change_id returning c.*
    ), archived as (
      insert into changes_archive select * from removed
    )
    update seals s set archived = true from old where s.tenant_id = ${tenantId} and s.change_id = old.change_id`;
  return count;
}
