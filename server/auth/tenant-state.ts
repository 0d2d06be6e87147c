import type { Tx } from '../../db/driver.ts';

export type TenantState = 'in service' | 'disabled' | 'not started' | 'ended' | 'deleted' | 'unknown';

/** Whether a tenant is in service, or why not: it or one of its ancestors is disabled, outside its period or deleted. */
export const readTenantState = async (tx: Tx, tenantId: string): Promise<TenantState> => {
  const [row] = await tx<[{ state: TenantState }]>`select tenant_state(${tenantId}) as state`;
  return row.state;
};
