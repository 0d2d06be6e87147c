import { useSyncExternalStore } from 'react';

/** An observable value outside React, for state that is shared by the whole page and also read outside components. */
export interface Store<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(initialValue: T): Store<T> {
  let current = initialValue;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set(next) {
      if (Object.is(next, current)) return;
      current = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get);

/**
 * A setting that is saved in localStorage and synchronised between tabs. Without storage it lasts as long as the
 * page.
 */
export function createPersistedStore<T extends string>(
  key: string,
  allowedValues: readonly T[],
  getDefault: () => T,
): Store<T> {
  const isAllowed = (text: string | null): text is T => allowedValues.includes(text as T);
  const saved = readStorage(key);
  const store = createStore<T>(isAllowed(saved) ? saved : getDefault());
  window.addEventListener('storage', (event) => {
    if (event.key === key && isAllowed(event.newValue)) store.set(event.newValue);
  });
  return {
    ...store,
    set(value) {
      store.set(value);
      writeStorage(key, value);
    },
  };
}

/** Even reading the property `localStorage` or `sessionStorage` throws if the browser forbids storage. */
type StorageName = 'localStorage' | 'sessionStorage';

export function readStorage(key: string, storage: StorageName = 'localStorage'): string | null {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

export function storedKeys(storage: StorageName): string[] {
  try {
    return Object.keys(window[storage]);
  } catch {
    return [];
  }
}

/** Saves a value; null removes it. */
export function writeStorage(key: string, value: string | null, storage: StorageName = 'localStorage'): void {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, value);
  } catch {
    // The storage is full or forbidden. The value is not essential, so losing it is acceptable.
  }
}

export function createMediaQueryStore(query: string) {
  const media = window.matchMedia(query);
  const matches = createStore(media.matches);
  media.addEventListener('change', () => matches.set(media.matches));
  return matches;
}
