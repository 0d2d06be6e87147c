import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { AuditEntry, Notice } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { changeTexts, getActionLabel } from './change-texts.ts';
import { getNotice, useNoticeText } from './notice-text.ts';
import { useOperator } from './operator.tsx';
import { useQuotaName } from './quota-texts.ts';
import { useTenantsByCode, useUserNames } from './record-names.ts';
import { StatusTag } from './status-tag.tsx';
import { getPersonPath } from './user/person-link.tsx';

/** A change in two lines: the action and the record, then the operator and the time. */
export function ChangeSummary({ change, children }: { change: AuditEntry; children?: ReactNode }) {
  const t = useTexts(changeTexts);
  return (
    <div className="change">
      <div className="change-title">
        {change.resource === 'notice' ? (
          <StatusTag tone="warning">{t.notice}</StatusTag>
        ) : (
          <>
            <ActionTag action={change.action} />
            {change.resource !== 'login' && <span className="secondary">{t[change.resource]}</span>}
          </>
        )}
        <ResourceLink change={change} />
      </div>
      <OperatorAndTime change={change}>{children}</OperatorAndTime>
    </div>
  );
}

export function OperatorAndTime({ change, children }: { change: AuditEntry; children?: ReactNode }) {
  const { name, account } = useOperator(change);
  return (
    <div className="secondary">
      <span title={account}>{name}</span> · {formatDateTime(change.time)}
      {children}
    </div>
  );
}

export function DeletedBy({ change }: { change: AuditEntry }) {
  const t = useTexts(changeTexts);
  const { name, account } = useOperator(change);
  return <span title={account}>{t.deletedBy(name, formatDateTime(change.time))}</span>;
}

const TONES = {
  created: 'success',
  restored: 'success',
  moved: 'warning',
  deleted: 'error',
  refused: 'error',
} as const;

export function ActionTag({ action }: { action: string }) {
  const t = useTexts(changeTexts);
  return <StatusTag tone={TONES[action as keyof typeof TONES] ?? 'neutral'}>{getActionLabel(t, action)}</StatusTag>;
}

/** Shows the record's name at the time of the change and links to its current state. */
function ResourceLink({ change }: { change: AuditEntry }) {
  const { resource, resourceId, tenantId, action } = change;
  const ownTenantId = useMe().tenant.tenantId;
  const recordedName = useResourceName(change);
  // A password change contains no record, so the name has to be read.
  const isUnnamedUser = resource === 'user' && recordedName === '';
  const scope = tenantId === ownTenantId ? undefined : tenantId;
  const users = useUserNames(isUnnamedUser ? [Number(resourceId)] : [], scope);
  const notice = getNotice(change);
  const tenants = useTenantsByCode([notice?.tenantId ?? null]);
  const name = recordedName || users.get(Number(resourceId)) || `#${resourceId}`;
  // The user who logs in is the operator of the change. Sessions may be ended by somebody else.
  if (resource === 'login' && action !== 'ended') return null;
  const path = notice
    ? getNoticePath(notice, ownTenantId, tenants.get(notice.tenantId)?.id)
    : getResourcePath(change, ownTenantId);
  // The page of a user says that they were deleted.
  if (action === 'deleted' && resource !== 'user')
    return (
      <Link to={`/changes?resource=${resource}&resourceId=${resourceId}${scope ? `&tenant=${scope}` : ''}`}>
        {name}
      </Link>
    );
  return path ? <Link to={path}>{name}</Link> : <span>{name}</span>;
}

/** The name of the record that a change is about; of a notice, what it says. Empty if the change contains no record. */
export function useResourceName(change: AuditEntry): string {
  const nameOfQuota = useQuotaName();
  const describe = useNoticeText();
  const notice = getNotice(change);
  const isAboutOther = notice !== null && notice.tenantId !== change.tenantId;
  const tenants = useTenantsByCode([isAboutOther ? notice.tenantId : null]);
  if (notice)
    return describe(notice, isAboutOther ? tenants.get(notice.tenantId)?.tenantName || notice.tenantId : undefined);
  return change.resource === 'quota' ? nameOfQuota(getResourceName(change)) : getResourceName(change);
}

const getNoticePath = ({ quota, tenantId }: Notice, ownTenantId: string, id: string | undefined) => {
  if (quota) return `/quotas/${quota}${tenantId === ownTenantId ? '' : `?tenantId=${tenantId}`}`;
  return id && tenantId !== ownTenantId ? `/tenants/${id}` : undefined;
};

export function getResourceName({ before, after }: Pick<AuditEntry, 'before' | 'after'>): string {
  const record = (after ?? before ?? {}) as Record<string, string | null>;
  return (
    record.deptName ||
    record.nickName ||
    record.userName ||
    record.tenantName ||
    record.name ||
    record.keyName ||
    record.quota ||
    record.url ||
    ''
  );
}

/** The departments, webhooks and keys of other tenants have no screen. */
function getResourcePath(change: AuditEntry, ownTenantId: string): string | undefined {
  const { resource, resourceId, tenantId } = change;
  if (resource === 'quota')
    return `/quotas/${getResourceName(change)}${tenantId === ownTenantId ? '' : `?tenantId=${tenantId}`}`;
  if (resource === 'tenant') return `/tenants/${resourceId}`;
  if (resource === 'department' && tenantId === ownTenantId) return `/departments/${resourceId}`;
  if (resource === 'webhook' && tenantId === ownTenantId) return `/webhooks/${resourceId}`;
  if (resource === 'key' && tenantId === ownTenantId) return `/keys?key=${resourceId}`;
  if (resource === 'user' || resource === 'login')
    return getPersonPath(resourceId, tenantId === ownTenantId ? undefined : tenantId);
  return undefined;
}

/** YYYY-MM-DD HH:mm:ss in the time zone of the browser. */
export function formatDateTime(time: string): string {
  const date = new Date(time);
  const pad = (part: number) => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(':')}`;
}
