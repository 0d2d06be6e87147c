import { useSyncExternalStore } from 'react';

/** A value outside React that screens follow: for what is one for the whole page, and is also read outside of screens. */
export interface Store<T> {
  get(): T;
  set(value: T): void;
  follow(listener: () => void): () => void;
}

export function store<T>(value: T): Store<T> {
  let current = value;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set(next) {
      if (Object.is(next, current)) return;
      current = next;
      for (const listener of listeners) listener();
    },
    follow(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const useStore = <T>(of: Store<T>): T => useSyncExternalStore(of.follow, of.get);

/** A choice kept in this browser. Where keeping is forbidden it lasts as long as the page. */
export function keptStore<T extends string>(key: string, allowed: readonly T[], otherwise: () => T): Store<T> {
  const isAllowed = (text: string | null): text is T => allowed.includes(text as T);
  const kept = read(key);
  const kind = store<T>(isAllowed(kept) ? kept : otherwise());
  window.addEventListener('storage', (event) => {
    if (event.key === key && isAllowed(event.newValue)) kind.set(event.newValue);
  });
  return {
    ...kind,
    set(value) {
      kind.set(value);
      keep(key, value);
    },
  };
}

export function read(key: string, where: Storage = localStorage): string | null {
  try {
    return where.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key: string, value: string | null, where: Storage = localStorage): void {
  try {
    if (value === null) where.removeItem(key);
    else where.setItem(key, value);
  } catch {
    // Full or forbidden: then it is not kept.
  }
}
