import { createHash } from 'node:crypto';
import type { Sql, Tx } from '../../db/driver.ts';
import { listLedgers, withinLedger } from './owner-scope.ts';

export interface Verification {
  tenants: number;
  changes: number;
  /** Archived changes that are no longer in the archive. Their seals remain, so the chain can still be verified. */
  removed: number;
  /** A sentence for each error. */
  errors: string[];
}

/** Follows the hash chain of every tenant and finds changes that were altered, removed or reordered. */
export async function verifyLedger(owner: Sql, progress: (sentence: string) => void = () => {}): Promise<Verification> {
  const verification: Verification = { tenants: 0, changes: 0, removed: 0, errors: [] };
  for (const tenantId of await listLedgers(owner)) {
    // Use one snapshot, because writing and sealing continue.
    const mode = 'isolation level repeatable read';
    await withinLedger(owner, tenantId, mode, (tx) => verifyChain(tx, tenantId, verification));
    verification.tenants++;
    if (verification.tenants % 100 === 0) progress(`${verification.tenants} tenants, ${verification.changes} changes`);
  }
  return verification;
}

const PAGE_SIZE = 2_000;

async function verifyChain(tx: Tx, tenantId: string, verification: Verification): Promise<void> {
  const report = (sentence: string) => verification.errors.push(`Tenant ${tenantId}: ${sentence}.`);
  let position = 0;
  let previous: Buffer = Buffer.alloc(0);
  for (;;) {
    const seals = await readSeals(tx, tenantId, position);
    for (const { seq, changeId, hash, archived, text } of seals) {
      if (seq > position + 1) report(`the seals at positions ${position + 1} to ${seq - 1} are missing`);
      // The first seal after a gap builds on one that is missing, so it cannot be checked.
      const isCheckable = seq === position + 1;
      position = seq;
      if (text !== null) {
        const expected = createHash('sha256').update(previous).update(text).digest();
        if (isCheckable && !expected.equals(hash)) {
          report(`change ${changeId} at position ${seq} was altered or moved`);
        }
        verification.changes++;
      } else if (archived) verification.removed++;
      else report(`change ${changeId} at position ${seq} is missing`);
      previous = hash;
    }
    if (seals.length < PAGE_SIZE) break;
  }
  const [head] = await tx<{ seq: number; hash: Buffer }[]>`
    select seq, hash from seal_heads where tenant_id = ${tenantId}`;
  const last = head ?? { seq: 0, hash: Buffer.alloc(0) };
  if (last.seq > position) report(`the last seals, at positions ${position + 1} to ${last.seq}, are missing`);
  else if (last.seq < position || !last.hash.equals(previous)) report('the last seal is not the recorded one');
  const unsealed = await tx<{ changeId: number }[]>`
    select c.change_id as "changeId" from changes c
    where c.tenant_id = ${tenantId}
      and not exists (select from seals s where s.tenant_id = ${tenantId} and s.change_id = c.change_id)
      and not exists (select from unsealed_changes u where u.tenant_id = ${tenantId} and u.change_id = c.change_id)
    order by 1 limit 100`;
  for (const { changeId } of unsealed)
    report(`change ${changeId} has no seal: it was inserted, or its seal was removed`);
}

const readSeals = (tx: Tx, tenantId: string, after: number) => tx<
  { seq: number; changeId: number; hash: Buffer; archived: boolean; text: string | null }[]
>`
  select s.seq, s.change_id as "changeId", s.hash, s.archived,
    case when c.change_id is not null then change_hash_input(c.tenant_id, c.change_id, c.batch, c.time, c.actor_name,
      c.actor_user_id, c.actor_tenant_id, c.address, c.request_id, c.resource, c.resource_id, c.action, c.parent_id,
      c.is_copy, c.before, c.after) end as text
  from seals s
  left join lateral (
    select * from changes c where c.tenant_id = ${tenantId} and c.change_id = s.change_id
    union all
    select * from changes_archive c where c.tenant_id = ${tenantId} and c.change_id = s.change_id
  ) c on true
  where s.tenant_id = ${tenantId} and s.seq > ${after}
  order by s.seq limit ${PAGE_SIZE}`;
