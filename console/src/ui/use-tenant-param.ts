import { useSearchParams } from 'react-router';
import { useMe } from '../session.ts';

/** The child tenant that `?tenantId=` in the URL names; undefined for the user's own tenant. */
export function useTenantParam(): string | undefined {
  const [search] = useSearchParams();
  const ownTenantId = useMe().tenant.tenantId;
  const tenantId = search.get('tenantId');
  return tenantId && tenantId !== ownTenantId ? tenantId : undefined;
}
