import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Database } from '../../db/connect.ts';
import { insertKey, readKeys } from './queries.ts';

export interface SigningKey {
  keyId: string;
  secret: KeyObject;
}

export interface Keyring {
  /** The one that signs now. */
  signing(): Promise<SigningKey>;
  /** The key of a token, whichever node made it. */
  find(keyId: string): Promise<SigningKey | undefined>;
}

/** Every node looks at least this often, while it has work. */
const LOOK_EVERY_MS = 5_000;
/** A new key signs only when every node has seen it, so that no good token is refused anywhere. */
const RESTS_SECONDS = 15;
const SIGNS_DAYS = 30;

/**
 * The keys that sign access tokens. They are made at first start and renewed every month by whichever node finds the
 * newest too old; they live in the database, and all nodes share them.
 */
export function makeKeyring(db: Database): Keyring {
  let keys: SigningKey[] = [];
  let signing: SigningKey | undefined;
  let looked = 0;
  async function look() {
    looked = Date.now();
    let rows = await readKeys(db.sql);
    if ((rows[0]?.age ?? Number.POSITIVE_INFINITY) > SIGNS_DAYS * 86_400) {
      await insertKey(db.sql, randomBytes(32), SIGNS_DAYS);
      rows = await readKeys(db.sql);
    }
    keys = rows.map(({ keyId, secret }) => ({ keyId, secret: createSecretKey(secret) }));
    const ready = rows.findIndex(({ age }) => age >= RESTS_SECONDS);
    signing = keys.at(ready); // the very first need not rest: at(-1) is the oldest
  }
  const isDue = () => Date.now() - looked >= LOOK_EVERY_MS;
  return {
    async signing() {
      if (!signing || isDue()) await look();
      return signing as SigningKey;
    },
    async find(keyId) {
      const known = keys.find((key) => key.keyId === keyId);
      // Anybody can send unknown key ids: they don't make us look more often.
      if (known || !isDue()) return known;
      await look();
      return keys.find((key) => key.keyId === keyId);
    },
  };
}
