import { useLocation, useSearchParams } from 'react-router';

type Changes = Record<string, string | number | null | undefined>;

/**
 * The query string of the URL, and a function that changes some of its parameters. Empty values remove a parameter. The
 * state of the history entry stays.
 */
export function useUrlParams() {
  const [params, setParams] = useSearchParams();
  const { state } = useLocation();
  const update = (changes: Changes | ((current: URLSearchParams) => Changes), { replace = false } = {}) => {
    // Start from the URL, not from `params`: a render may be pending, and the previous change would be undone.
    const next = new URLSearchParams(window.location.search);
    for (const [name, value] of Object.entries(typeof changes === 'function' ? changes(next) : changes)) {
      if (value == null || value === '') next.delete(name);
      else next.set(name, String(value));
    }
    setParams(next, { replace, state });
  };
  return [params, update] as const;
}
