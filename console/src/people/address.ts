import { useMe } from '../session.ts';
import { useSearch } from '../ui/address.ts';

/** What the screen shows, as its address says it. */
export interface Shown {
  q: string;
  deptId: number | null;
  status: '0' | '1' | null;
  page: number;
  /** Another tenant, below one's own; undefined: one's own. */
  tenantId: string | undefined;
  /** Whose form is open. */
  person: 'new' | number | null;
}

const numberIn = (text: string | null) => (text && /^\d{1,15}$/.test(text) ? Number(text) : null);

export function useAddress(): [Shown, (changes: Partial<Shown>, how?: { replace?: boolean }) => void] {
  const [search, change] = useSearch();
  const own = useMe().tenant.tenantId;
  const status = search.get('status');
  const tenantId = search.get('tenantId');
  const person = search.get('person');
  const shown: Shown = {
    q: search.get('q') ?? '',
    deptId: numberIn(search.get('deptId')),
    status: status === '0' || status === '1' ? status : null,
    page: numberIn(search.get('page')) || 1,
    tenantId: tenantId && tenantId !== own ? tenantId : undefined,
    person: person === 'new' ? person : numberIn(person),
  };
  const show = (changes: Partial<Shown>, how?: { replace?: boolean }) =>
    change({ ...changes, ...(changes.page === 1 ? { page: null } : {}) }, how);
  return [shown, show];
}
