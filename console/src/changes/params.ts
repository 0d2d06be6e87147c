import type { AuditFilter } from '../api.ts';
import { parseDay } from '../ui/day-picker.tsx';
import { useUrlParams } from '../ui/use-url-params.ts';

export const RESOURCES = ['department', 'user', 'tenant', 'login', 'webhook', 'key', 'quota', 'notice'] as const;
export type Resource = (typeof RESOURCES)[number];

export type Action =
  | 'created'
  | 'updated'
  | 'moved'
  | 'deleted'
  | 'restored'
  | 'password changed'
  | 'secret changed'
  | 'passed'
  | 'refused'
  | 'ended';

const COMMON: readonly Action[] = ['created', 'updated', 'moved', 'deleted', 'restored'];

const ACTIONS_OF: Partial<Record<Resource, readonly Action[]>> = {
  user: ['created', 'updated', 'deleted', 'restored', 'password changed'],
  login: ['passed', 'refused', 'ended'],
  webhook: ['created', 'updated', 'deleted', 'secret changed'],
  key: ['created', 'updated', 'deleted', 'secret changed'],
  quota: ['created', 'updated'],
  notice: ['created'],
};

/** The actions of a type of record. Departments, tenants and all types together (null) have the common ones. */
export const getActions = (resource: Resource | null): readonly Action[] =>
  (resource && ACTIONS_OF[resource]) ?? COMMON;

/** The filters of the screen. They are in the URL, so that a filtered list can be shared. */
export interface ChangesParams {
  resource: Resource | null;
  resourceId: string | null;
  action: Action | null;
  /** Part of a user name. */
  by: string;
  /** A user name, selected from the suggestions. */
  user: string | null;
  /** First and last day, both inclusive. */
  from: string | null;
  to: string | null;
  /** `own`: the current tenant only; a tenant code: that tenant and its descendants; null: all. */
  tenant: string | null;
}

const matchOrNull = (text: string | null, pattern: RegExp) => (text && pattern.test(text) ? text : null);

export function useChangesParams(): [
  ChangesParams,
  (changes: Partial<ChangesParams>, options?: { replace?: boolean }) => void,
] {
  const [search, update] = useUrlParams();
  const resource = RESOURCES.find((each) => each === search.get('resource')) ?? null;
  const params: ChangesParams = {
    resource,
    resourceId: matchOrNull(search.get('resourceId'), /^\d{1,19}$/),
    action: getActions(resource).find((action) => action === search.get('action')) ?? null,
    by: search.get('by') ?? '',
    user: search.get('user') || null,
    from: parseDay(search.get('from')) ?? null,
    to: parseDay(search.get('to')) ?? null,
    tenant: matchOrNull(search.get('tenant'), /^(own|\w{1,18})$/),
  };
  return [params, update];
}

/** Converts the days, which are in the time zone of the browser, to timestamps. */
export function toFilter({ resource, resourceId, action, by, user, from, to, tenant }: ChangesParams): AuditFilter {
  return {
    ...(resource ? { resource } : {}),
    ...(resourceId ? { resourceId } : {}),
    ...(action ? { action } : {}),
    ...(user ? { by: user } : by ? { byPart: by } : {}),
    ...(from ? { from: startOfDay(from) } : {}),
    ...(to ? { to: startOfDay(to, 1) } : {}),
    ...(tenant === 'own' ? { below: false } : tenant ? { tenantId: tenant } : {}),
  };
}

function startOfDay(day: string, daysLater = 0): string {
  const start = new Date(`${day}T00:00`);
  start.setDate(start.getDate() + daysLater);
  return start.toISOString();
}
