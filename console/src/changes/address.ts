import type { AuditFilter } from '../api.ts';
import { useSearch } from '../ui/address.ts';

const RESOURCES = ['department', 'user', 'tenant', 'login', 'webhook'] as const;
export type Resource = (typeof RESOURCES)[number];

/** What the screen shows, as its address says it. */
export interface Shown {
  resource: Resource | null;
  resourceId: string | null;
  by: string;
  /** Days, both included. */
  from: string | null;
  to: string | null;
  /** `own`: the own tenant alone; a code: that one and those below it; null: all. */
  tenant: string | null;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const matching = (text: string | null, pattern: RegExp) => (text && pattern.test(text) ? text : null);

export function useAddress(): [Shown, (changes: Partial<Shown>, how?: { replace?: boolean }) => void] {
  const [search, show] = useSearch();
  const shown: Shown = {
    resource: RESOURCES.find((one) => one === search.get('resource')) ?? null,
    resourceId: matching(search.get('resourceId'), /^\d{1,19}$/),
    by: search.get('by') ?? '',
    from: matching(search.get('from'), DAY),
    to: matching(search.get('to'), DAY),
    tenant: matching(search.get('tenant'), /^(own|\w{1,18})$/),
  };
  return [shown, show];
}

/** The reader's days, as moments. */
export function filterOf({ resource, resourceId, by, from, to, tenant }: Shown): AuditFilter {
  return {
    ...(resource ? { resource } : {}),
    ...(resourceId ? { resourceId } : {}),
    ...(by ? { by } : {}),
    ...(from ? { from: beginOf(from) } : {}),
    ...(to ? { to: beginOf(to, 1) } : {}),
    ...(tenant === 'own' ? { below: false } : tenant ? { tenantId: tenant } : {}),
  };
}

function beginOf(day: string, daysLater = 0): string {
  const begin = new Date(`${day}T00:00`);
  begin.setDate(begin.getDate() + daysLater);
  return begin.toISOString();
}
