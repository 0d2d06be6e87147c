import type { Sql, Tx } from '../../db/driver.ts';

export type TenantState = 'in service' | 'disabled' | 'not started' | 'ended' | 'deleted' | 'unknown';

/** Whether a tenant is in service, or why not: it or one of its ancestors is disabled, outside its period or deleted. */
export const readTenantState = async (tx: Tx, tenantId: string): Promise<TenantState> => {
  const [row] = await tx<[{ state: TenantState }]>`select tenant_state(${tenantId}) as state`;
  return row.state;
};

/** The branch of each tenant: its ancestor directly below 000000. For load shedding; callers never see it. */
export const readTenantBranches = async (sql: Sql, tenantIds: string[]): Promise<Map<string, string>> => {
  const rows = await sql<{ tenantId: string; branch: string }[]>`
    select tenant_id as "tenantId", branch from tenant_branches(${tenantIds}::text[])`;
  return new Map(rows.map(({ tenantId, branch }) => [tenantId, branch]));
};
