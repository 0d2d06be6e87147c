import { createHash } from 'node:crypto';
import type { Sql, Tx } from '../../db/driver.ts';
import type { Anchor, Head } from './anchor.ts';
import { listLedgers, withinLedger } from './owner-scope.ts';
import {
  findPathErrors,
  findRecordErrors,
  type Retention,
  readMayBeArchived,
  readRetention,
} from './verify-records.ts';

interface Verification {
  ledgers: number;
  changes: number;
  /** Archived changes that are no longer in the archive. Their seals remain, so the chain can still be verified. */
  removed: number;
  /** The last position of each ledger and its hash. */
  heads: Head[];
  /** A sentence for each error. */
  errors: string[];
}

export interface VerifyOptions {
  /** BANYAN_LEDGER_DAYS: what may have been archived. */
  ledgerDays?: number | 'keep';
  /** Heads that were printed earlier and kept elsewhere. */
  anchor?: Anchor | undefined;
  progress?: (sentence: string) => void;
}

/**
 * Follows the hash chain of every tenant and finds changes that were altered, removed or reordered. Compares all records with
 * their changes, the archive with the settings, and the chains with an earlier anchor.
 */
export async function verifyLedger(
  owner: Sql,
  { ledgerDays = 'keep', anchor, progress = () => {} }: VerifyOptions = {},
): Promise<Verification> {
  const verification: Verification = { ledgers: 0, changes: 0, removed: 0, heads: [], errors: [] };
  const retention = await readRetention(owner, ledgerDays);
  const anchored = new Map(anchor?.heads.map((head) => [head.tenantId, head]));
  verification.errors.push(...(await findPathErrors(owner)));
  for (const tenantId of await listLedgers(owner)) {
    // Use one snapshot, because writing and sealing continue.
    await withinLedger(owner, tenantId, 'isolation level repeatable read', async (tx) => {
      const report = (sentence: string) => verification.errors.push(`Tenant ${tenantId}: ${sentence}.`);
      const head = await verifyChain(tx, tenantId, {
        verification,
        retention,
        anchored: anchored.get(tenantId),
        report,
      });
      verification.heads.push(head);
      if (tenantId !== 'none') for (const error of await findRecordErrors(tx, tenantId, retention)) report(error);
    });
    anchored.delete(tenantId);
    verification.ledgers++;
    if (verification.ledgers % 100 === 0) progress(`${verification.ledgers} ledgers, ${verification.changes} changes`);
  }
  for (const { tenantId } of anchored.values()) verification.errors.push(`Tenant ${tenantId}: the ledger is missing.`);
  return verification;
}

const PAGE_SIZE = 2_000;

interface ChainContext {
  verification: Verification;
  retention: Retention;
  anchored: Head | undefined;
  report: (sentence: string) => void;
}

async function verifyChain(
  tx: Tx,
  tenantId: string,
  { verification, retention, anchored, report }: ChainContext,
): Promise<Head> {
  const mayBeArchived = await readMayBeArchived(tx, retention);
  let position = 0;
  let previous: Buffer = Buffer.alloc(0);
  for (;;) {
    const seals = await readSeals(tx, tenantId, position);
    for (const { seq, changeId, hash, archived, inArchive, time, text } of seals) {
      const name = `change ${changeId} at position ${seq}`;
      if (seq > position + 1) report(`the seals at positions ${position + 1} to ${seq - 1} are missing`);
      // The first seal after a gap builds on one that is missing, so it cannot be checked.
      const isCheckable = seq === position + 1;
      position = seq;
      if (text !== null) {
        const expected = createHash('sha256').update(previous).update(text).digest();
        if (isCheckable && !expected.equals(hash)) report(`${name} was altered or moved`);
        verification.changes++;
      } else if (archived) verification.removed++;
      else report(`${name} is missing`);
      if (text !== null && archived !== inArchive) {
        report(`${name} is ${inArchive ? 'in the archive, but not' : 'in the ledger, but'} marked as archived`);
      } else if (archived && !mayBeArchived(Number(changeId), time)) {
        report(`${name} was archived, although BANYAN_LEDGER_DAYS keeps it`);
      }
      if (anchored?.seq === seq && anchored.hash !== hash.toString('hex')) {
        report(`the chain was rewritten: position ${seq} does not have the hash of the anchor`);
      }
      previous = hash;
    }
    if (seals.length < PAGE_SIZE) break;
  }
  if (anchored && anchored.seq > position) {
    report(`the chain ends at position ${position}, but the anchor has position ${anchored.seq}`);
  }
  const [head] = await tx<{ seq: number; hash: Buffer }[]>`
    select seq, hash from seal_heads where tenant_id = ${tenantId}`;
  const last = head ?? { seq: 0, hash: Buffer.alloc(0) };
  if (last.seq > position) report(`the last seals, at positions ${position + 1} to ${last.seq}, are missing`);
  else if (last.seq < position || !last.hash.equals(previous)) report('the last seal is not the recorded one');
  const withoutSeal = await tx<{ changeId: number }[]>`
    select c.change_id as "changeId" from changes c
    where c.tenant_id = ${tenantId}
      and not exists (select from seals s where s.tenant_id = ${tenantId} and s.change_id = c.change_id)
      and not exists (select from unsealed_changes u where u.tenant_id = ${tenantId} and u.change_id = c.change_id)
    order by 1 limit 100`;
  for (const { changeId } of withoutSeal)
    report(`change ${changeId} has no seal: it was inserted, or its seal was removed`);
  return { tenantId, seq: position, hash: previous.toString('hex') };
}

interface SealRow {
  seq: number;
  changeId: number;
  hash: Buffer;
  archived: boolean;
  /** null: the change is in neither table. */
  inArchive: boolean | null;
  time: Date | null;
  text: string | null;
}

const readSeals = (tx: Tx, tenantId: string, after: number) => tx<SealRow[]>`
  select s.seq, s.change_id as "changeId", s.hash, s.archived, c.in_archive as "inArchive", c.time,
    case when c.change_id is not null then change_hash_input(c.tenant_id, c.change_id, c.batch, c.time, c.actor_name,
      c.actor_user_id, c.actor_key_id, c.actor_tenant_id, c.address, c.request_id, c.resource, c.resource_id, c.action,
      c.parent_id, c.is_copy, c.before, c.after, c.before_hash, c.after_hash) end as text
  from seals s
  left join lateral (
    select *, false as in_archive from changes c where c.tenant_id = ${tenantId} and c.change_id = s.change_id
    union all
    select *, true from changes_archive c where c.tenant_id = ${tenantId} and c.change_id = s.change_id
    limit 1
  ) c on true
  where s.tenant_id = ${tenantId} and s.seq > ${after}
  order by s.seq limit ${PAGE_SIZE}`;
