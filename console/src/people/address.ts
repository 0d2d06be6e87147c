import { useSearchParams } from 'react-router';
import { useMe } from '../session.ts';

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
  const [search, setSearch] = useSearchParams();
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
  const show = (changes: Partial<Shown>, { replace = false } = {}) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes)) {
          if (value == null || value === '' || (name === 'page' && value === 1)) next.delete(name);
          else next.set(name, String(value));
        }
        return next;
      },
      { replace },
    );
  return [shown, show];
}
