import type { Database } from '../../db/connect.ts';
import { createCache } from '../cache.ts';
import { readRequestLimit } from './key-queries.ts';

const MAX_CACHED = 10_000;
const FRESH_MS = 1_000;

/** Finds what this process knows about the limit of an API key. */
export type KeyLimits = (tenantId: string, keyId: string) => KeyLimit;

export function createKeyLimits(db: Database): KeyLimits {
  const limits = createCache<KeyLimit>(MAX_CACHED);
  return (tenantId, keyId) => {
    const id = `${tenantId} ${keyId}`;
    const limit = limits.get(id) ?? new KeyLimit(() => readRequestLimit(db, tenantId, keyId));
    limits.set(id, limit);
    return limit;
  };
}

/** The limit of an API key, as this process last read it. All secrets and access tokens of the key share the object. */
export class KeyLimit {
  private value: number | null | undefined;
  private freshUntil = Number.NEGATIVE_INFINITY;
  private reading: Promise<void> | undefined;
  private readonly read: () => Promise<number | null>;
  private readonly now: () => number;

  constructor(read: () => Promise<number | null>, now: () => number = () => performance.now()) {
    this.read = read;
    this.now = now;
  }

  /** null: no limit; undefined: not read yet. */
  get requestsPerMinute(): number | null | undefined {
    return this.value;
  }

  set requestsPerMinute(value: number | null) {
    this.value = value;
    this.freshUntil = this.now() + FRESH_MS;
  }

  /**
   * Whether the limit should be read again before a request is rejected. A flood of rejected requests reads it at most once a
   * second.
   */
  get isStale(): boolean {
    return this.now() >= this.freshUntil;
  }

  /** Reads the limit. Concurrent requests share one statement. */
  refresh(): Promise<void> {
    this.reading ??= this.read()
      .then((value) => {
        this.requestsPerMinute = value;
      })
      .finally(() => {
        this.reading = undefined;
      });
    return this.reading;
  }
}
