import { useInfiniteQuery } from '@tanstack/react-query';
import { queryKeys } from '../../query-keys.ts';
import { searchDepartments, uniqueRows } from '../search-departments.ts';
import { useDebouncedValue } from '../use-debounced-value.ts';

const PAGE_SIZE = 50;

/** The departments whose name contains the text, an exact match first. The service searches, because there can be 100,000. */
export function useDepartmentSearch(keyword: string, asOf: string | undefined) {
  const deptName = useDebouncedValue(keyword, 200);
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: queryKeys.departments.list({ select: deptName, asOf }),
    queryFn: ({ pageParam, signal }) =>
      searchDepartments(deptName, { pageSize: PAGE_SIZE, cursor: pageParam, asOf }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    enabled: keyword !== '' && deptName !== '',
    // A repeated search begins with one page again: with several, its first result would not be active.
    gcTime: 0,
  });
  // Hide the results of the previous search: a quick Enter would select the wrong department.
  const isCurrent = keyword !== '' && keyword === deptName;
  const pages = (isCurrent && data?.pages) || [];
  return {
    rows: uniqueRows(pages.flatMap(({ rows }) => rows)),
    hasOnePage: pages.length <= 1,
    hasMore: isCurrent && hasNextPage,
    isLoadingMore: isFetchingNextPage,
    loadMore: () => void (isFetchingNextPage || fetchNextPage()),
    error: isCurrent ? error : null,
    isLoading: keyword !== '' && !(isCurrent && (data || error)),
  };
}
