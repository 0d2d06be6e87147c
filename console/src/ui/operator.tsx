import type { AuditEntry } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { changeTexts } from './change-texts.ts';
import { useIsReadable, useTenantsByCode, useUserNames } from './record-names.ts';
import { PersonLink } from './user/person-link.tsx';

export type Operator = Pick<AuditEntry, 'by' | 'byUserId' | 'byKeyId' | 'byTenantId' | 'requestId'>;

interface ShownOperator {
  /** The name of the user, and the tenant if it is another one. */
  name: string;
  /** The user name and the tenant code, which are unique. */
  account: string;
}

/** The user, API key or command behind a change, for display. */
export function useOperator({ by, byUserId, byKeyId, byTenantId, requestId }: Operator): ShownOperator {
  const t = useTexts(changeTexts);
  const ownTenantId = useMe().tenant.tenantId;
  const isOther = byTenantId !== null && byTenantId !== ownTenantId;
  const tenant = useTenantsByCode([byTenantId]).get(byTenantId ?? '');
  // A command that writes for no user may have recorded the id 0.
  const names = useUserNames(byUserId && byTenantId !== null ? [byUserId] : [], isOther ? byTenantId : undefined);
  const userName = byUserId === null ? undefined : names.get(byUserId);
  // The first start writes as `system`, which no user may be called.
  const isSystem = by === 'system' && !byUserId && byKeyId === null;
  // The service itself has no request. An administrator of a tenant that used to be above this one is no longer named.
  const unnamed = requestId === null || isSystem ? t.system : t.hiddenOperator;
  const name = userName || (isSystem ? '' : by) || unnamed;
  return {
    name: isOther ? t.userOfTenant(name, tenant?.tenantName || t.tenantCode(byTenantId)) : name,
    account: isOther ? `${by} ${byTenantId}` : by,
  };
}

/**
 * Shows the name of the operator. Users, including deleted ones, are linked to their page. API keys and commands have no page,
 * and the pages of users of a tenant above cannot be opened.
 */
export function OperatorLink({ operator }: { operator: Operator }) {
  const { name, account } = useOperator(operator);
  const { byUserId, byTenantId } = operator;
  const isReadable = useIsReadable(byTenantId ?? undefined);
  return (
    <span title={account}>
      {byUserId && isReadable ? (
        <PersonLink id={byUserId} tenantId={byTenantId ?? undefined}>
          {name}
        </PersonLink>
      ) : (
        name
      )}
    </span>
  );
}

/**
 * Shows the tenant that a change belongs to. Renders nothing for the current tenant, and for that of the operator, which is shown
 * with their name.
 */
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
