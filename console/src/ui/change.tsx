import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { type AuditEntry, api } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { changeTexts } from './change-texts.ts';
import { Mark } from './mark.tsx';

/** A change in two lines: what was done to which record, and by whom and when. */
export function ChangeLine({ change, children }: { change: AuditEntry; children?: ReactNode }) {
  const t = useTexts(changeTexts);
  const own = useMe().tenant.tenantId;
  const who = change.by || t.somebody;
  const { byTenantId } = change;
  return (
    <div className="change">
      <div className="change-what">
        <Did action={change.action} />
        {change.resource !== 'login' && <span className="quiet">{t[change.resource]}</span>}
        <Named change={change} />
      </div>
      <div className="quiet">
        {t.by(byTenantId && byTenantId !== own ? t.ofTenant(who, byTenantId) : who, momentOf(change.time))}
        {children}
      </div>
    </div>
  );
}

const KINDS = { created: 'good', restored: 'good', moved: 'warning', deleted: 'bad', refused: 'bad' } as const;

export function Did({ action }: { action: string }) {
  const t = useTexts(changeTexts);
  const key = action === 'password changed' ? 'passwordChanged' : action;
  const words = t as unknown as Record<string, string>;
  return <Mark kind={KINDS[key as keyof typeof KINDS] ?? 'plain'}>{words[key] ?? action}</Mark>;
}

/** The record's name, as it was then, and the way to it as it is now. */
function Named({ change }: { change: AuditEntry }) {
  const { resource, resourceId, tenantId, action } = change;
  const own = useMe().tenant.tenantId;
  const told = nameIn(change);
  // A changed password carries no record.
  const { data } = useQuery({
    queryKey: ['user', Number(resourceId), tenantId, 'name'],
    queryFn: ({ signal }) => api.readUser(resourceId, tenantId === own ? {} : { tenantId }, signal),
    enabled: resource === 'user' && told === '',
  });
  const user = data?.data;
  const name = told || user?.nickName || user?.userName || `#${resourceId}`;
  if (resource === 'login') return null;
  const place = placeOf(change, own);
  if (action === 'deleted') return <Link to={`/changes?resource=${resource}&resourceId=${resourceId}`}>{name}</Link>;
  return place ? <Link to={place}>{name}</Link> : <span>{name}</span>;
}

export function nameIn({ before, after }: Pick<AuditEntry, 'before' | 'after'>): string {
  const record = (after ?? before ?? {}) as Record<string, string | null>;
  return record.deptName || record.nickName || record.userName || record.tenantName || record.name || '';
}

/** Departments of tenants below have no screen here; nor have webhooks. */
function placeOf({ resource, resourceId, tenantId }: AuditEntry, own: string): string | undefined {
  if (resource === 'tenant') return `/tenants/${resourceId}`;
  if (resource === 'department' && tenantId === own) return `/departments/${resourceId}`;
  if (resource === 'user') return `/people?person=${resourceId}${tenantId === own ? '' : `&tenantId=${tenantId}`}`;
  return undefined;
}

/** In the reader's own zone, in the form that the rest of the console has. */
export function momentOf(time: string): string {
  const at = new Date(time);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}
