import { useQuery } from '@tanstack/react-query';
import { queryKeys } from '../../query-keys.ts';
import { searchDepartments } from '../search-departments.ts';
import { useDebouncedValue } from '../use-debounced-value.ts';

const MAX_RESULTS = 50;

/** The departments whose name contains the text, an exact match first. The service searches, because there can be 100,000. */
export function useDepartmentSearch(keyword: string, asOf: string | undefined) {
  const deptName = useDebouncedValue(keyword, 200);
  const { data, error } = useQuery({
    queryKey: queryKeys.departments.list({ select: deptName, asOf }),
    queryFn: ({ signal }) => searchDepartments(deptName, { pageSize: MAX_RESULTS, asOf }, signal),
    enabled: keyword !== '' && deptName !== '',
  });
  // Hide the results of the previous search: a quick Enter would select the wrong department.
  const isCurrent = keyword !== '' && keyword === deptName;
  return {
    rows: isCurrent ? (data?.rows ?? []) : [],
    hasMore: isCurrent && data?.next !== undefined,
    error: isCurrent ? error : null,
    isLoading: keyword !== '' && !(isCurrent && (data || error)),
  };
}
