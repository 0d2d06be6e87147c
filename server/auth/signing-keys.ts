import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Database } from '../../db/connect.ts';
import { writeOutsideTenants } from '../../db/tenant-scope.ts';
import { insertSigningKey, readSigningKeys } from './queries.ts';

interface SigningKey {
  keyId: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** The age of the key in seconds when the keys were last loaded. */
  age: number;
}

export interface Keyring {
  /** The key that signs new tokens. */
  signingKey(): Promise<SigningKey>;
  /** Returns all keys that valid tokens may be signed with, and the next key, newest first. The list is at most a minute old. */
  published(): Promise<readonly SigningKey[]>;
  /** Milliseconds since 1970 by the database's clock. Nodes share it; their own clocks may be wrong or set back. */
  now(): number;
  /** Finds the key of a token, including one that another node has just created. */
  find(keyId: string): Promise<SigningKey | undefined>;
  /** Whether the key existed when the keys were last loaded. */
  has(keyId: string): boolean;
}

const KEY_LIFETIME_DAYS = 30;
/**
 * A new key is published for this long before it signs. Each node publishes a list that is at most a minute old, and other
 * services cache it for ten minutes, so they know a key before they see a token signed with it.
 */
const PUBLISHED_SECONDS = 3_600;
const RELOAD_INTERVAL_MS = 60_000;
/** Anybody can send unknown key ids, so they cause at most one reload in this time. */
const MIN_RELOAD_INTERVAL_MS = 1_000;

const generate = promisify(generateKeyPair);

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
    let rows = await db.use(readSigningKeys);
    if ((rows[0]?.age ?? Number.POSITIVE_INFINITY) > KEY_LIFETIME_DAYS * 86_400) {
      const { privateKey } = await generate('ed25519');
      const encoded = privateKey.export({ type: 'pkcs8', format: 'der' });
      await writeOutsideTenants(db, (tx) => insertSigningKey(tx, encoded, KEY_LIFETIME_DAYS));
      rows = await db.use(readSigningKeys);
    }
    epoch = (rows[0]?.now ?? Date.now()) - performance.now();
    // Keep the objects of known keys: jose converts each of them once.
    keys = rows.map(({ keyId, privateKey, age }) => {
      const known = keys.find((key) => key.keyId === keyId);
      return known ? { ...known, age } : { keyId, age, ...toKeyPair(privateKey) };
    });
  }

  /** Loads the keys again as soon as the minimum interval allows. Concurrent requests share one reload. */
  function reload(): Promise<void> {
    nextReload ??= setTimeout(Math.max(0, loadedAt + MIN_RELOAD_INTERVAL_MS - performance.now())).then(() => {
      nextReload = undefined;
      return load();
    });
    return nextReload;
  }

  async function loadIfOld() {
    if (keys.length === 0 || performance.now() - loadedAt > RELOAD_INTERVAL_MS) await load();
  }

  return {
    now: () => epoch + performance.now() + aheadMs(),
    has: (keyId) => keys.some((key) => key.keyId === keyId),
    async signingKey() {
      await loadIfOld();
      // In the first hour after the first start there is no key that was published before.
      return (keys.find(({ age }) => age >= PUBLISHED_SECONDS) ?? keys.at(-1)) as SigningKey;
    },
    async published() {
      await loadIfOld();
      return keys;
    },
    async find(keyId) {
      const known = () => keys.find((key) => key.keyId === keyId);
      if (!known()) await reload();
      return known();
    },
  };
}

function toKeyPair(pkcs8: Buffer) {
  const privateKey = createPrivateKey({ key: pkcs8, type: 'pkcs8', format: 'der' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
