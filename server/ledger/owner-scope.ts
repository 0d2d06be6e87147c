import type { Sql, Tx } from '../../db/driver.ts';
import { begin, type TransactionMode } from '../../db/transaction.ts';

/**
 * Returns the ledgers of all tenants, and the one that records logins to unknown tenants. Includes ledgers whose tenant does
 * not exist, which only tampering can cause.
 */
export async function listLedgers(owner: Sql): Promise<string[]> {
  const rows = await owner<{ tenantId: string }[]>`
    select coalesce(t.tenant_id, h.tenant_id) as "tenantId"
    from banyan.tenants t full join banyan.seal_heads h on h.tenant_id = t.tenant_id
    where h.tenant_id is distinct from 'none' order by t.id`;
  return [...rows.map(({ tenantId }) => tenantId), 'none'];
}

/**
 * Runs a transaction as the owner of the tables, in which row-level security lets it write to one ledger only. Some
 * tables, such as `changes`, show the owner the rows of all tenants.
 */
export const withinLedger = <T>(
  owner: Sql,
  tenantId: string,
  mode: TransactionMode,
  work: (tx: Tx) => Promise<T>,
): Promise<T> =>
  begin(
    owner,
    async (tx) => {
      // Set the search path too: a pooler does not pass on the setting of the connection.
      await tx`select set_config('banyan.tenant', ${tenantId}, true), set_config('search_path', 'banyan', true)`;
      return work(tx);
    },
    mode,
  );
