import type { AuditEntry } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { changeTexts } from './change-texts.ts';
import { useTenantsByCode, useUserNames } from './record-names.ts';

export type Operator = Pick<AuditEntry, 'by' | 'byUserId' | 'byTenantId'>;

/**
 * The user or API key behind a change, for display: the name of the user, and the tenant if it is another one. `account` has the
 * user name and the tenant code, which are unique.
 */
export function useOperator({ by, byUserId, byTenantId }: Operator): { name: string; account: string } {
  const t = useTexts(changeTexts);
  const ownTenantId = useMe().tenant.tenantId;
  const isOther = byTenantId !== null && byTenantId !== ownTenantId;
  const tenant = useTenantsByCode([byTenantId]).get(byTenantId ?? '');
  const hasAccount = byUserId !== null && byTenantId !== null;
  const names = useUserNames(hasAccount ? [byUserId] : [], isOther ? byTenantId : undefined);
  const name = (byUserId !== null && names.get(byUserId)) || by || t.system;
  return {
    name: isOther ? t.userOfTenant(name, tenant?.tenantName || t.tenantCode(byTenantId)) : name,
    account: isOther ? `${by} ${byTenantId}` : by,
  };
}

/** The tenant that a change belongs to, unless it is clear: the current one, or the operator's, which is shown with their name. */
export function ChangeTenant({ change: { tenantId, byTenantId } }: { change: AuditEntry }) {
  const t = useTexts(changeTexts);
  const ownTenantId = useMe().tenant.tenantId;
  const tenant = useTenantsByCode([tenantId]).get(tenantId);
  if (tenantId === ownTenantId || tenantId === byTenantId) return null;
  return (
    <>
      {' · '}
      <span title={tenantId}>{t.inTenant(tenant?.tenantName || tenantId)}</span>
    </>
  );
}
