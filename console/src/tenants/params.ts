import type { TenantFilter } from '../api.ts';
import { addDays, today } from '../ui/tenant-period.ts';
import { useUrlParams } from '../ui/use-url-params.ts';

/** The filters of the list. They are in the URL, so that a filtered list can be shared. */
export interface TenantListParams {
  q: string;
  page: number;
  status: '' | '0' | '1';
  /** Has expired, or expires within this many days; 0 for no filter. */
  ends: number;
  /** By default, the tenant whose period ends first is at the top; `id` is the order of creation. */
  sort: '' | 'id';
  view: 'list' | 'timeline';
  /** The code of a tenant: shows its direct children only. */
  parent: string;
}

export function useTenantListParams() {
  const [search, update] = useUrlParams();
  const text = (key: string) => search.get(key) ?? '';
  const status = text('status');
  const params: TenantListParams = {
    q: text('q'),
    page: Math.max(Number.parseInt(text('page'), 10) || 1, 1),
    status: status === '0' || status === '1' ? status : '',
    ends: Math.max(Number.parseInt(text('ends'), 10) || 0, 0),
    sort: text('sort') === 'id' ? 'id' : '',
    view: text('view') === 'timeline' ? 'timeline' : 'list',
    parent: /^\d{6,18}$/.test(text('parent')) ? text('parent') : '',
  };
  /** A change of any filter goes back to the first page. Default values are omitted from the URL. */
  const setParams = (changes: Partial<TenantListParams>, options?: { replace?: boolean }) => {
    const entries = Object.entries({ page: 1, ...changes });
    const isDefault = (value: string | number) => !value || value === 1 || value === 'list';
    update(Object.fromEntries(entries.map(([name, value]) => [name, isDefault(value) ? null : value])), options);
  };
  return [params, setParams] as const;
}

/** Which tenants the list shows, on all of its pages. */
export const toExportFilter = ({ q, status, ends, parent }: TenantListParams) => ({
  ...(q ? { keyword: q } : {}),
  ...(status ? { status } : {}),
  ...(parent ? { tenantParent: parent } : {}),
  // `endsBefore` is exclusive, the filter is inclusive.
  ...(ends ? { endsBefore: addDays(today(), ends + 1) } : {}),
});

export const toFilter = (params: TenantListParams, pageSize: number) =>
  ({
    ...toExportFilter(params),
    fields: 'summary' as const,
    ...(params.sort === 'id' && params.view === 'list' ? {} : { sort: 'endTime' as const }),
    pageNum: params.page,
    pageSize,
  }) satisfies TenantFilter;
