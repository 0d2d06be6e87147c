import type { Tx } from '../../db/driver.ts';
import { ROOT_TENANT } from '../../db/tenant-scope.ts';

/**
 * Returns what an installation has besides tenant 000000 and its first administrator. The transaction must run in tenant 000000.
 */
export const countRecords = async (tx: Tx) => {
  const [counts] = await tx<[{ tenants: number; departments: number; users: number }]>`
    select (select count(*)::int from tenants where tenant_id <> ${ROOT_TENANT}) as tenants,
      (select count(*)::int from departments where tenant_id = ${ROOT_TENANT}) as departments,
      (select greatest(count(*)::int - 1, 0) from users where tenant_id = ${ROOT_TENANT}) as users`;
  return counts;
};
