import { type ListedRow, QUOTAS, type TenantRow } from './record.ts';
import type { ListedTenant, Tenant } from './schema.ts';

/** Maps a row to the tenant that reads return, which has six of the ten quotas. */
export const showTenant = ({ rules, ...row }: TenantRow): Tenant => ({ ...showWithoutRules(row), ruleBo: rules });

export const showListed = ({ rules, ...row }: ListedRow): ListedTenant => ({
  ...showWithoutRules(row),
  ...(rules ? { ruleBo: rules } : {}),
});

const showWithoutRules = ({ menuIds, quotas, ...fields }: Omit<TenantRow, 'rules'>): Omit<Tenant, 'ruleBo'> => ({
  ...fields,
  packageBo: { menuIds: menuIds.join(', ') },
  quotaBo: Object.fromEntries(QUOTAS.map((key) => [key, quotas[key]])) as Tenant['quotaBo'],
});
