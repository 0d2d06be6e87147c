import type { TenantFilter } from '../api.ts';
import { useSearch } from '../ui/address.ts';
import { inDays } from './period.ts';

/** What the list shows is in the address: it can be sent, and Back leads to it. */
export interface Shown {
  q: string;
  page: number;
  status: '' | '0' | '1';
  /** Ends within so many days; 0: whenever. */
  ends: number;
  sort: '' | 'endTime';
  view: 'list' | 'timeline';
  /** Code: only what is directly below. */
  parent: string;
}

export const PAGE = 20;

export function useShown() {
  const [search, change] = useSearch();
  const text = (key: string) => search.get(key) ?? '';
  const status = text('status');
  const shown: Shown = {
    q: text('q'),
    page: Math.max(Number.parseInt(text('page'), 10) || 1, 1),
    status: status === '0' || status === '1' ? status : '',
    ends: Math.max(Number.parseInt(text('ends'), 10) || 0, 0),
    sort: text('sort') === 'endTime' ? 'endTime' : '',
    view: text('view') === 'timeline' ? 'timeline' : 'list',
    parent: /^\d{6,18}$/.test(text('parent')) ? text('parent') : '',
  };
  /** Anything but the page begins at the first page again. */
  const show = (changes: Partial<Shown>, how?: { replace?: boolean }) => {
    const all = Object.entries({ page: 1, ...changes });
    const unsaid = (value: string | number) => !value || value === 1 || value === 'list';
    change(Object.fromEntries(all.map(([name, value]) => [name, unsaid(value) ? null : value])), how);
  };
  return [shown, show] as const;
}

export const filterOf = ({ q, page, status, ends, sort, view, parent }: Shown) =>
  ({
    ...(q ? { keyword: q } : {}),
    ...(status ? { status } : {}),
    ...(parent ? { tenantParent: parent } : {}),
    // The service has "before": the day itself is still within.
    ...(ends ? { endsBefore: inDays(ends + 1) } : {}),
    ...(sort || view === 'timeline' ? { sort: 'endTime' as const } : {}),
    pageNum: page,
    pageSize: PAGE,
  }) satisfies TenantFilter & { sort?: 'endTime'; endsBefore?: string };
