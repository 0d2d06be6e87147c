import type { Sql, Tx } from '../../db/driver.ts';
import { begin } from '../../db/transaction.ts';

/** Returns the ledgers of all tenants, and the one that records logins to unknown tenants. */
export async function listLedgers(owner: Sql): Promise<string[]> {
  const rows = await owner<{ tenantId: string }[]>`select tenant_id as "tenantId" from banyan.tenants order by id`;
  return [...rows.map(({ tenantId }) => tenantId), 'none'];
}

/** Runs a transaction as the owner of the tables, in which row-level security shows one ledger. */
export const withinLedger = <T>(owner: Sql, tenantId: string, mode: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
  begin(
    owner,
    async (tx) => {
      // Set the search path too: a pooler does not pass on the setting of the connection.
      await tx`select set_config('banyan.tenant', ${tenantId}, true), set_config('search_path', 'banyan', true)`;
      return work(tx);
    },
    mode,
  );
