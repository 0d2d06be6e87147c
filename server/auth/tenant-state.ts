import type { Sql, Tx } from '../../db/driver.ts';

export type TenantState = 'in service' | 'disabled' | 'not started' | 'ended' | 'deleted' | 'unknown';

/** Whether a tenant is in service, or why not: it or one of its ancestors is disabled, outside its period or deleted. */
export const readTenantState = async (tx: Tx, tenantId: string): Promise<TenantState> => {
  const [row] = await tx<[{ state: TenantState }]>`select tenant_state(${tenantId}) as state`;
  return row.state;
};

/**
 * The top-level tenant of each tenant: its ancestor directly below 000000, or the tenant itself. Load shedding and the
 * limit of imports use it; callers never see it.
 */
export const readTopLevelTenants = async (sql: Sql | Tx, tenantIds: string[]): Promise<Map<string, string>> => {
  const rows = await sql<{ tenantId: string; topLevel: string }[]>`
    select tenant_id as "tenantId", top_level as "topLevel" from top_level_tenants(${tenantIds}::text[])`;
  return new Map(rows.map(({ tenantId, topLevel }) => [tenantId, topLevel]));
};
