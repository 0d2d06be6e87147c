import { QUOTAS, type TenantRow } from './record.ts';
import type { Tenant } from './schema.ts';

/** Maps a row to the tenant that reads return, which has six of the ten quotas. */
export function showTenant({ menuIds, quotas, rules, ...fields }: TenantRow): Tenant {
  return {
    ...fields,
    packageBo: { menuIds: menuIds.join(', ') },
    quotaBo: Object.fromEntries(QUOTAS.map((key) => [key, quotas[key]])) as Tenant['quotaBo'],
    ruleBo: rules,
  };
}
