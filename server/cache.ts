import { LRUCache } from 'lru-cache';

/**
 * Creates a cache of the `max` most recently used entries. Entries are counted by `maxSize`, because with its option `max`
 * lru-cache allocates the memory of all entries at once: milliseconds for each cache at every start.
 */
export const createCache = <Value extends object | string | true>(
  max: number,
  options: { ttl?: number } = {},
): LRUCache<string, Value> => new LRUCache<string, Value>({ maxSize: max, sizeCalculation: () => 1, ...options });
