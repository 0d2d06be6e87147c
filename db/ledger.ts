import { createHash } from 'node:crypto';
import { begin, type Sql, type Tx } from './sql.ts';

/** What the tables' owner does with the ledger, which the service itself can only write and read. */

/** Those of all tenants, and of logins to none. */
const ledgersOf = async (owner: Sql): Promise<string[]> => {
  const rows = await owner<{ tenantId: string }[]>`select tenant_id as "tenantId" from banyan.tenants order by id`;
  return [...rows.map(({ tenantId }) => tenantId), 'none'];
};

const inLedger = <T>(owner: Sql, tenantId: string, work: (tx: Tx) => Promise<T>, mode = ''): Promise<T> =>
  begin(
    owner,
    async (tx) => {
      // The path too: a pooler passes none on.
      await tx`select set_config('banyan.tenant', ${tenantId}, true), set_config('search_path', 'banyan', true)`;
      return work(tx);
    },
    mode,
  );

export interface Verdict {
  tenants: number;
  changes: number;
  /** Moved away by retention, and not to be found any more: their seals still hold the chain together. */
  gone: number;
  /** What is wrong, a sentence each. */
  faults: string[];
}

/** Goes along the chain of every tenant: finds what was altered, taken out, or put elsewhere. */
export async function verifyLedger(owner: Sql, progress: (sentence: string) => void = () => {}): Promise<Verdict> {
  const verdict: Verdict = { tenants: 0, changes: 0, gone: 0, faults: [] };
  for (const tenantId of await ledgersOf(owner)) {
    // One snapshot: others go on writing and sealing.
    await inLedger(owner, tenantId, (tx) => verifyChain(tx, tenantId, verdict), 'isolation level repeatable read');
    verdict.tenants++;
    if (verdict.tenants % 100 === 0) progress(`${verdict.tenants} tenants, ${verdict.changes} changes`);
  }
  return verdict;
}

const AT_ONCE = 2_000;

async function verifyChain(tx: Tx, tenantId: string, verdict: Verdict): Promise<void> {
  const fault = (sentence: string) => verdict.faults.push(`Tenant ${tenantId}: ${sentence}.`);
  let place = 0;
  let before: Buffer = Buffer.alloc(0);
  for (;;) {
    const seals = await readSeals(tx, tenantId, place);
    for (const { seq, changeId, hash, archived, text } of seals) {
      if (seq > place + 1) fault(`the seals of places ${place + 1} to ${seq - 1} are missing`);
      // What follows a gap was sealed upon what is not here: it is taken as it is.
      const known = seq === place + 1;
      place = seq;
      if (text !== null) {
        const right = createHash('sha256').update(before).update(text).digest();
        if (known && !right.equals(hash)) fault(`change ${changeId}, at place ${seq}, was altered or put elsewhere`);
        verdict.changes++;
      } else if (archived) verdict.gone++;
      else fault(`change ${changeId}, at place ${seq}, is missing`);
      before = hash;
    }
    if (seals.length < AT_ONCE) break;
  }
  const [head] = await tx<{ seq: number; hash: Buffer }[]>`
    select seq, hash from seal_heads where tenant_id = ${tenantId}`;
  const last = head ?? { seq: 0, hash: Buffer.alloc(0) };
  if (last.seq > place) fault(`the seals of places ${place + 1} to ${last.seq}, the last ones, are missing`);
  else if (last.seq < place || !last.hash.equals(before)) fault('the last seal is not the one that was noted');
  const loose = await tx<{ changeId: number }[]>`
    select c.change_id as "changeId" from changes c
    where c.tenant_id = ${tenantId}
      and not exists (select from seals s where s.tenant_id = ${tenantId} and s.change_id = c.change_id)
      and not exists (select from unsealed u where u.tenant_id = ${tenantId} and u.change_id = c.change_id)
    order by 1 limit 100`;
  for (const { changeId } of loose) fault(`change ${changeId} has no seal: it was put in, or its seal taken out`);
}

const readSeals = (tx: Tx, tenantId: string, after: number) => tx<
  { seq: number; changeId: number; hash: Buffer; archived: boolean; text: string | null }[]
>`
  select s.seq, s.change_id as "changeId", s.hash, s.archived,
    case when c.change_id is not null then change_text(c) when a.change_id is not null then change_text(row(a.*)::changes)
    end as text
  from seals s
  left join changes c on c.tenant_id = s.tenant_id and c.change_id = s.change_id
  left join changes_archive a on a.tenant_id = s.tenant_id and a.change_id = s.change_id
  where s.tenant_id = ${tenantId} and s.seq > ${after}
  order by s.seq limit ${AT_ONCE}`;

/** Of what a webhook is told: so long at least it is tried (server/webhooks). */
const TOLD_DAYS = 3;

/**
 * Moves what is older than so many days to the archive, where something of those days has followed it: so the moment
 * before which history begins is known in full. What a webhook is yet to be told stays, because
 * the archive may be emptied. A little at a time: nobody waits for it.
 */
export async function archiveLedger(owner: Sql, days: number): Promise<number> {
  const [{ limit }] = await owner<[{ limit: Date }]>`select now() - ${days} * interval '1 day' as limit`;
  // Known before anything is gone: who asks for an earlier moment is told so.
  await owner`update banyan.ledger_state set kept_from = greatest(kept_from, ${limit})`;
  let moved = 0;
  for (const tenantId of await ledgersOf(owner)) {
    for (let some = AT_ONCE; some === AT_ONCE; moved += some) {
      some = await inLedger(owner, tenantId, (tx) => archiveSome(tx, tenantId, limit));
    }
  }
  return moved;
}

async function archiveSome(tx: Tx, tenantId: string, limit: Date): Promise<number> {
  const { count } = await tx`
    with old as (
      select c.change_id from changes c
      where c.tenant_id = ${tenantId} and c.time < ${limit}
        and exists (select from seals s where s.tenant_id = ${tenantId} and s.change_id = c.change_id)
        and (c.resource = 'login' or exists (
          select from changes n where n.tenant_id = ${tenantId} and n.resource = c.resource
            and n.resource_id = c.resource_id and n.change_id > c.change_id and n.time < ${limit}
            and n.action <> 'password changed'
            -- By what brought it to its place a department is found among its parent's children.
            and (c.parent_id is null or n.parent_id is not null)))
        and not exists (
          select from webhook_deliveries d
          where d.tenant_id = ${tenantId} and d.change_id = c.change_id and d.state = 'waiting')
        -- No delivery yet, because many wait already. One that is behind for longer does not hold the ledger up.
        and (c.time < now() - ${TOLD_DAYS} * interval '1 day' or not exists (
          select from webhooks w join seals s on s.tenant_id = w.tenant_id and s.seq > w.seq
          where w.tenant_id = ${tenantId} and w.status = '0' and w.del_flag = '0' and s.change_id = c.change_id))
      order by c.time limit ${AT_ONCE}
    ), gone as (
      delete from changes c using old where c.tenant_id = ${tenantId} and c.change_id = old.change_id returning c.*
    ), kept as (
      insert into changes_archive select * from gone
    )
    update seals s set archived = true from old where s.tenant_id = ${tenantId} and s.change_id = old.change_id`;
  return count;
}
