import { createStore, useStore } from '../store.ts';

/** The names of the users who have changed records in the last seconds, by record. Screens mark these records. */
const recentChanges = createStore<ReadonlyMap<string, string>>(new Map());

/** The timers that remove the marks. A further change of a record restarts its timer. */
const timers = new Map<string, ReturnType<typeof setTimeout>>();

const MARKED_MS = 5000;
/** More marks than fit on a screen would cost time and show nothing. */
const MAX_MARKS = 200;

const keyOf = (resource: string, id: number | string) => `${resource}/${id}`;

export function markChanged(resource: string, id: number | string, userName: string): void {
  const key = keyOf(resource, id);
  const marked = recentChanges.get();
  if (marked.size >= MAX_MARKS && !marked.has(key)) return;
  recentChanges.set(new Map(marked).set(key, userName));
  clearTimeout(timers.get(key));
  timers.set(key, setTimeout(unmark, MARKED_MS, key));
}

function unmark(key: string): void {
  timers.delete(key);
  const next = new Map(recentChanges.get());
  next.delete(key);
  recentChanges.set(next);
}

/** Returns the user name behind the last change of a record, for as long as the record is marked. */
export const useRecentChange = (resource: string, id: number | string): string | undefined =>
  useStore(recentChanges).get(keyOf(resource, id));
