import { useTenantParam } from '../ui/use-tenant-param.ts';
import { useUrlParams } from '../ui/use-url-params.ts';
import { parseUserStatus, type UserStatus } from '../ui/user/status-select.tsx';
import { parseUserSort, type UserSort } from '../ui/user/user-sort.ts';

/** The state of the screen that is kept in the URL. */
export interface PeopleParams {
  q: string;
  deptId: number | null;
  /** Only users of the department itself, without those of the departments below it. */
  direct: boolean;
  status: UserStatus | null;
  /** null: by id. */
  sort: UserSort | null;
  page: number;
  /** A descendant of the current tenant; undefined for the current tenant. */
  tenantId: string | undefined;
  /** The user whose form is open. */
  person: 'new' | number | null;
}

const parseId = (text: string | null) => (text && /^\d{1,15}$/.test(text) ? Number(text) : null);

export function usePeopleParams(): [
  PeopleParams,
  (changes: Partial<PeopleParams>, options?: { replace?: boolean }) => void,
] {
  const [search, update] = useUrlParams();
  const tenantId = useTenantParam();
  const person = search.get('person');
  const params: PeopleParams = {
    q: search.get('q') ?? '',
    deptId: parseId(search.get('deptId')),
    direct: search.get('direct') === 'true',
    status: parseUserStatus(search.get('status')),
    sort: parseUserSort(search.get('sort')),
    page: parseId(search.get('page')) || 1,
    tenantId,
    person: person === 'new' ? person : parseId(person),
  };
  const setParams = (changes: Partial<PeopleParams>, options?: { replace?: boolean }) =>
    update(
      {
        ...changes,
        ...(changes.page === 1 ? { page: null } : {}),
        direct: (changes.direct ?? params.direct) ? 'true' : null,
      },
      options,
    );
  return [params, setParams];
}

/** The filter of the list, without its order and page. */
export const toFilter = ({ q, deptId, direct, status, tenantId }: PeopleParams) => ({
  ...(q ? { q } : {}),
  ...(deptId === null ? {} : { deptId: String(deptId), below: !direct }),
  ...(status === null ? {} : { status }),
  ...(tenantId ? { tenantId } : {}),
});
