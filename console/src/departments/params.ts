import { useUrlParams } from '../ui/use-url-params.ts';
import { parseUserStatus, type UserStatus } from '../ui/user/status-select.tsx';
import { parseUserSort, type UserSort } from '../ui/user/user-sort.ts';

/** The state of the list of members that is kept in the URL. */
export interface MemberParams {
  q: string;
  /** Only members of the department itself, without those of the departments below it. */
  direct: boolean;
  status: UserStatus | null;
  /** null: by id. */
  sort: UserSort | null;
  page: number;
}

export function useMemberParams(): [
  MemberParams,
  (changes: Partial<MemberParams>, options?: { replace?: boolean }) => void,
] {
  const [search, update] = useUrlParams();
  const page = search.get('page') ?? '';
  const params: MemberParams = {
    q: search.get('q') ?? '',
    direct: search.get('direct') === 'true',
    status: parseUserStatus(search.get('status')),
    sort: parseUserSort(search.get('sort')),
    page: (/^\d{1,15}$/.test(page) && Number(page)) || 1,
  };
  // Another filter or order starts at page 1 again.
  const setParams = ({ page = 1, direct, ...changes }: Partial<MemberParams>, options?: { replace?: boolean }) =>
    update(
      {
        ...changes,
        ...(direct === undefined ? {} : { direct: direct ? 'true' : null }),
        page: page === 1 ? null : page,
      },
      options,
    );
  return [params, setParams];
}
