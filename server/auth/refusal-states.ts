import { createCache } from '../cache.ts';
import { addressKey } from '../http/address.ts';
import type { ApiKeyIdentity, RefusalState } from './credentials.ts';

const MAX_CACHED = 10_000;

/** Finds whether this process refused the last request with a secret of an API key, or with its access tokens, from an address. */
export type RefusalStates = (key: ApiKeyIdentity, address: string) => RefusalState;

/**
 * This cache is separate from that of the keys, whose entries become stale whenever a connection is opened or lost: refused keys
 * must stay known.
 */
export function createRefusalStates(): RefusalStates {
  const refusalStates = createCache<RefusalState>(MAX_CACHED);
  return ({ tenantId, keyId, secretId }, address) => {
    const id = `${tenantId} ${keyId} ${secretId} ${addressKey(address)}`;
    const refusalState = refusalStates.get(id) ?? { refused: false };
    refusalStates.set(id, refusalState);
    return refusalState;
  };
}
