import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../db/connect.ts';
import { insertKey, readKeys } from './queries.ts';

export interface SigningKey {
  keyId: string;
  secret: KeyObject;
}

export interface Keyring {
  /** The newest: it signs. */
  signing(): Promise<SigningKey>;
  /** Milliseconds since 1970 by the database's clock, which all nodes share: their own may be hours off, or set back. */
  now(): number;
  /** The key of a token, whichever node made it, however recently. */
  find(keyId: string): Promise<SigningKey | undefined>;
  /** Whether it was there when we last looked. */
  holds(keyId: string): boolean;
}

const SIGNS_DAYS = 30;
const RENEW_CHECK_MS = 60_000;
/** Anybody can send unknown key ids: they wait for the next look, and don't make us look more often than this. */
const LOOK_AT_MOST_EVERY_MS = 1_000;

/**
 * The keys that sign access tokens. They are made at first start and renewed every month by whichever node finds the
 * newest too old; they live in the database, and all nodes share them. `aheadMs` is added to the clock by which tokens
 * expire: tests set it forward instead of waiting.
 */
export function makeKeyring(db: Database, aheadMs: () => number = () => 0): Keyring {
  let keys: SigningKey[] = [];
  let looked = Number.NEGATIVE_INFINITY;
  /** The database's time at the zero of the clock that nobody sets. */
  let epoch = Date.now() - performance.now();
  let nextLook: Promise<void> | undefined;

  async function look() {
    looked = performance.now();
    let rows = await db.use(readKeys);
    if ((rows[0]?.age ?? Number.POSITIVE_INFINITY) > SIGNS_DAYS * 86_400) {
      await db.use((sql) => insertKey(sql, randomBytes(32), SIGNS_DAYS));
      rows = await db.use(readKeys);
    }
    epoch = (rows[0]?.now ?? Date.now()) - performance.now();
    keys = rows.map(({ keyId, secret }) => ({ keyId, secret: createSecretKey(secret) }));
  }

  /** A look that begins after now, shared by all who wait for it. */
  function lookAgain(): Promise<void> {
    nextLook ??= setTimeout(Math.max(0, looked + LOOK_AT_MOST_EVERY_MS - performance.now())).then(() => {
      nextLook = undefined;
      return look();
    });
    return nextLook;
  }

  return {
    now: () => epoch + performance.now() + aheadMs(),
    holds: (keyId) => keys.some((key) => key.keyId === keyId),
    async signing() {
      if (keys.length === 0 || performance.now() - looked > RENEW_CHECK_MS) await look();
      return keys[0] as SigningKey;
    },
    async find(keyId) {
      const known = () => keys.find((key) => key.keyId === keyId);
      if (!known()) await lookAgain();
      return known();
    },
  };
}
