import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { type AuditEntry, api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { changeTexts } from './change-texts.ts';
import { useQuotaName } from './quota-texts.ts';
import { StatusTag } from './status-tag.tsx';
import { getPersonPath } from './user/person-link.tsx';

/** A change in two lines: the action and the record, then the user and the time. */
export function ChangeSummary({ change, children }: { change: AuditEntry; children?: ReactNode }) {
  const t = useTexts(changeTexts);
  return (
    <div className="change">
      <div className="change-title">
        <ActionTag action={change.action} />
        {change.resource !== 'login' && <span className="secondary">{t[change.resource]}</span>}
        <ResourceLink change={change} />
      </div>
      <ActorAndTime change={change}>{children}</ActorAndTime>
    </div>
  );
}

/** Who made a change, and when. */
export function ActorAndTime({ change, children }: { change: AuditEntry; children?: ReactNode }) {
  const t = useTexts(changeTexts);
  const ownTenantId = useMe().tenant.tenantId;
  const userName = change.by || t.system;
  const { byTenantId } = change;
  return (
    <div className="secondary">
      {t.byUser(
        byTenantId && byTenantId !== ownTenantId ? t.userOfTenant(userName, byTenantId) : userName,
        formatDateTime(change.time),
      )}
      {children}
    </div>
  );
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
  const key = action === 'password changed' ? 'passwordChanged' : action;
  const labels = t as unknown as Record<string, string>;
  return <StatusTag tone={TONES[key as keyof typeof TONES] ?? 'neutral'}>{labels[key] ?? action}</StatusTag>;
}

/** Shows the record's name at the time of the change and links to its current state. */
function ResourceLink({ change }: { change: AuditEntry }) {
  const { resource, resourceId, tenantId, action } = change;
  const ownTenantId = useMe().tenant.tenantId;
  const nameOfQuota = useQuotaName();
  const recordedName = resource === 'quota' ? nameOfQuota(getResourceName(change)) : getResourceName(change);
  // A password change contains no record, so the name has to be read.
  const { data } = useQuery({
    queryKey: queryKeys.users.detail(Number(resourceId), tenantId, 'name'),
    queryFn: ({ signal }) => api.readUser(resourceId, tenantId === ownTenantId ? {} : { tenantId }, signal),
    enabled: resource === 'user' && recordedName === '',
  });
  const user = data?.data;
  const name = recordedName || user?.nickName || user?.userName || `#${resourceId}`;
  if (resource === 'login') return null;
  const path = getResourcePath(change, ownTenantId);
  // The page of a user says that they were deleted.
  if (action === 'deleted' && resource !== 'user')
    return <Link to={`/changes?resource=${resource}&resourceId=${resourceId}`}>{name}</Link>;
  return path ? <Link to={path}>{name}</Link> : <span>{name}</span>;
}

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
  if (resource === 'user') return getPersonPath(resourceId, tenantId === ownTenantId ? undefined : tenantId);
  return undefined;
}

/** YYYY-MM-DD HH:mm:ss in the time zone of the browser. */
export function formatDateTime(time: string): string {
  const date = new Date(time);
  const pad = (part: number) => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(':')}`;
}
