import { useEffect } from 'react';

interface Options {
  page: number;
  pageSize: number;
  /** The length of the list; undefined while the list is being read, because the length in the cache may be outdated. */
  total: number | undefined;
  onChange: (page: number) => void;
}

/** Goes to the last page when the list has become so short that the current page no longer exists. */
export function useExistingPage({ page, pageSize, total, onChange }: Options): void {
  const lastPage = total === undefined ? page : Math.max(1, Math.ceil(total / pageSize));
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the list has become shorter
  useEffect(() => {
    if (page > lastPage) onChange(lastPage);
  }, [page, lastPage]);
}
