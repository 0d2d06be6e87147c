import { timingSafeEqual } from 'node:crypto';
import type { Database } from '../../db/connect.ts';
import { createCache } from '../cache.ts';
import { apiError } from '../http/errors.ts';
import type { KeyToken } from './claims.ts';
import { hashKey, isKey } from './key-format.ts';
import type { KeyLimits } from './key-limits.ts';
import { findSecret } from './key-queries.ts';
import type { LastUses } from './last-uses.ts';

const MAX_CACHED = 10_000;

/**
 * Finds the API key of a secret. The result never changes, so it is cached. Whether the key may be used (it is enabled, has not
 * expired, its tenant is active, …) is read together with the caller on every request. A database restored from a backup may
 * have given the ids of a key to another one, so every new or lost connection clears the cache.
 */
export class KeyReader {
  private readonly db: Database;
  private readonly limits: KeyLimits;
  private readonly lastUses: LastUses;
  private readonly found = createCache<KeyToken>(MAX_CACHED);
  /** The connections for which `found` is valid. */
  private connections = 0;

  constructor(db: Database, limits: KeyLimits, lastUses: LastUses) {
    this.db = db;
    this.limits = limits;
    this.lastUses = lastUses;
  }

  /** Returns the key of a request from the cache. */
  cached(key: string, address: string): KeyToken | undefined {
    this.clearOutdated();
    return this.found.get(cacheKey(hashKey(key), address));
  }

  /** Finds a key by its secret. Throws if its format is invalid or the key does not exist. */
  async find(key: string, address: string): Promise<KeyToken> {
    // An invalid format or checksum is rejected before anything is read.
    if (!isKey(key)) throw apiError('INVALID_KEY');
    const hash = hashKey(key);
    const connections = this.clearOutdated();
    const secret = await this.db.use((sql) => findSecret(sql, hash));
    if (!secret || !timingSafeEqual(secret.hash, hash)) throw apiError('INVALID_KEY');
    const { tenantId, keyId, secretId, requestsPerMinute } = secret;
    const limit = this.limits(tenantId, keyId);
    limit.requestsPerMinute = requestsPerMinute;
    const known = { limit, accepted: false, expires: Number.POSITIVE_INFINITY };
    const holder = { tenantId, keyId, secretId };
    const token: KeyToken = { ...holder, address, known, lastUse: this.lastUses(holder, address) };
    // The statement may have run on a connection that was lost since, and the next one may lead to another database.
    if (this.clearOutdated() === connections) this.found.set(cacheKey(hash, address), token);
    return token;
  }

  /** Clears the cache if connections were opened or lost since it was filled. Returns how many that were so far. */
  private clearOutdated(): number {
    const connections = this.db.connectionsOpened() + this.db.connectionsLost();
    if (connections !== this.connections) this.found.clear();
    this.connections = connections;
    return connections;
  }
}

/** The cache has hashes instead of keys: the memory of the process should not contain keys for longer than a request. */
const cacheKey = (hash: Buffer, address: string) => `${hash.toString('latin1')}${address}`;

/** Returns the API key in an Authorization header; undefined if the header has something else. */
export const keyIn = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : /^Bearer +(byk_\S*) *$/i.exec(authorization)?.[1];
