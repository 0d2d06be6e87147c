import { createCache } from '../cache.ts';
import type { KeyHolder, LastUse } from './claims.ts';

const MAX_CACHED = 10_000;

/** Finds what this process knows about the last request with a secret of an API key, or with its access tokens, from an address. */
export type LastUses = (key: KeyHolder, address: string) => LastUse;

/** This cache is separate from that of the keys, which is cleared when connections are lost: refused keys must stay known. */
export function createLastUses(): LastUses {
  const lastUses = createCache<LastUse>(MAX_CACHED);
  return ({ tenantId, keyId, secretId }, address) => {
    const id = `${tenantId} ${keyId} ${secretId} ${address}`;
    const lastUse = lastUses.get(id) ?? { refused: false };
    lastUses.set(id, lastUse);
    return lastUse;
  };
}
