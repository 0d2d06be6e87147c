import { useSearchParams } from 'react-router';

type Changes = Record<string, string | number | null | undefined>;

/** What the address says behind its `?`, and a way to change some of it: nothing, or an empty text, takes it out. */
export function useSearch() {
  const [search, setSearch] = useSearchParams();
  const change = (changes: Changes | ((now: URLSearchParams) => Changes), { replace = false } = {}) => {
    // Not of `search`: the screen may be a moment behind the address, and what was just chosen would be undone.
    const next = new URLSearchParams(window.location.search);
    for (const [name, value] of Object.entries(typeof changes === 'function' ? changes(next) : changes)) {
      if (value == null || value === '') next.delete(name);
      else next.set(name, String(value));
    }
    setSearch(next, { replace });
  };
  return [search, change] as const;
}
