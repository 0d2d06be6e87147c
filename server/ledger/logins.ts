import type { LedgerResource } from './resources.ts';

/** How the ledger shows logins. They cannot be reverted. */
export const loginResource: LedgerResource = {
  resource: 'login',
  show: (_tx, rows) => rows.map(({ row }) => ({ userName: row.user_name, reason: row.reason })),
};
