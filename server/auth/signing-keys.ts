import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../db/connect.ts';
import { insertKey, readKeys } from './queries.ts';

export interface SigningKey {
  keyId: string;
  secret: KeyObject;
}

export interface Keyring {
  /** The newest key, which signs new tokens. */
  signingKey(): Promise<SigningKey>;
  /** Milliseconds since 1970 by the database's clock. Nodes share it; their own clocks may be wrong or set back. */
  now(): number;
  /** Finds the key of a token, including one that another node has just created. */
  find(keyId: string): Promise<SigningKey | undefined>;
  /** Whether the key existed when the keys were last loaded. */
  has(keyId: string): boolean;
}

const KEY_LIFETIME_DAYS = 30;
const RENEW_CHECK_MS = 60_000;
/** Anybody can send unknown key ids, so they cause at most one reload in this time. */
const MIN_RELOAD_INTERVAL_MS = 1_000;

/**
 * The keys that sign access tokens. All nodes share them in the database. The first key is created at the first start; any
 * node that finds the newest one older than a month adds another. `aheadMs` is added to the clock by which tokens expire:
 * tests advance it instead of waiting.
 */
export function createKeyring(db: Database, aheadMs: () => number = () => 0): Keyring {
  let keys: SigningKey[] = [];
  let loadedAt = Number.NEGATIVE_INFINITY;
  /** The database's time at the origin of the monotonic clock, `performance.now()`. */
  let epoch = Date.now() - performance.now();
  let nextReload: Promise<void> | undefined;

  async function load() {
    loadedAt = performance.now();
    let rows = await db.use(readKeys);
    if ((rows[0]?.age ?? Number.POSITIVE_INFINITY) > KEY_LIFETIME_DAYS * 86_400) {
      await db.use((sql) => insertKey(sql, randomBytes(32), KEY_LIFETIME_DAYS));
      rows = await db.use(readKeys);
    }
    epoch = (rows[0]?.now ?? Date.now()) - performance.now();
    keys = rows.map(({ keyId, secret }) => ({ keyId, secret: createSecretKey(secret) }));
  }

  /** Loads the keys again as soon as the minimum interval allows. Concurrent requests share one reload. */
  function reload(): Promise<void> {
    nextReload ??= setTimeout(Math.max(0, loadedAt + MIN_RELOAD_INTERVAL_MS - performance.now())).then(() => {
      nextReload = undefined;
      return load();
    });
    return nextReload;
  }

  return {
    now: () => epoch + performance.now() + aheadMs(),
    has: (keyId) => keys.some((key) => key.keyId === keyId),
    async signingKey() {
      if (keys.length === 0 || performance.now() - loadedAt > RENEW_CHECK_MS) await load();
      return keys[0] as SigningKey;
    },
    async find(keyId) {
      const known = () => keys.find((key) => key.keyId === keyId);
      if (!known()) await reload();
      return known();
    },
  };
}
