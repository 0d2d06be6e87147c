import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Database } from '../../db/connect.ts';
import { insertKey, readKeys } from './queries.ts';

export interface SigningKey {
  keyId: string;
  secret: KeyObject;
}

export interface Keyring {
  /** The newest: it signs. */
  signing(): Promise<SigningKey>;
  /** The key of a token, also one that another node made a moment ago. */
  find(keyId: string): Promise<SigningKey | undefined>;
}

const RELOAD_EVERY_MS = 5_000;

/** The keys that sign access tokens. They are made at first start, live in the database, and all nodes share them. */
export function makeKeyring(db: Database): Keyring {
  let keys: SigningKey[] = [];
  let loaded = 0;
  async function load() {
    loaded = Date.now();
    let rows = await readKeys(db.sql);
    if (rows.length === 0) {
      await insertKey(db.sql, randomBytes(32));
      rows = await readKeys(db.sql);
    }
    keys = rows.map(({ keyId, secret }) => ({ keyId, secret: createSecretKey(secret) }));
  }
  return {
    async signing() {
      if (keys.length === 0) await load();
      return keys[0] as SigningKey;
    },
    async find(keyId) {
      const known = keys.find((key) => key.keyId === keyId);
      // Bounded: anybody can send unknown key ids.
      if (known || Date.now() - loaded < RELOAD_EVERY_MS) return known;
      await load();
      return keys.find((key) => key.keyId === keyId);
    },
  };
}
