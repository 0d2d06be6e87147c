import { timingSafeEqual } from 'node:crypto';
import type { Database } from '../../db/connect.ts';
import { createCache } from '../cache.ts';
import { apiError } from '../http/errors.ts';
import type { ApiKeyCredentials, ApiKeyIdentity } from './credentials.ts';
import { hashKey, isKey } from './key-format.ts';
import type { KeyLimit, KeyLimits } from './key-limits.ts';
import { findSecret } from './key-queries.ts';
import type { RefusalStates } from './refusal-states.ts';

const MAX_CACHED = 10_000;

interface FoundKey {
  token: ApiKeyCredentials;
  /** How many connections had been opened and lost when it was read. */
  connections: number;
}

/**
 * Finds the API key of a secret. The result never changes, so it is cached. Whether the key may be used (it is enabled, has not
 * expired, its tenant is active, …) is read together with the caller on every request. A database restored from a backup may
 * have given the ids of a key to another one, so keys are looked up again after a connection was opened or lost.
 */
export class KeyReader {
  private readonly db: Database;
  private readonly limits: KeyLimits;
  private readonly refusalStates: RefusalStates;
  private readonly found = createCache<FoundKey>(MAX_CACHED);

  constructor(db: Database, limits: KeyLimits, refusalStates: RefusalStates) {
    this.db = db;
    this.limits = limits;
    this.refusalStates = refusalStates;
  }

  cached(key: string, address: string): ApiKeyCredentials | undefined {
    const found = this.found.get(cacheKey(hashKey(key), address));
    return found?.connections === this.countConnections() ? found.token : undefined;
  }

  /** Finds a key by its secret. Throws if its format is invalid or the key does not exist. */
  async find(key: string, address: string): Promise<ApiKeyCredentials> {
    // An invalid format or checksum is rejected before anything is read.
    if (!isKey(key)) throw apiError('INVALID_KEY');
    const hash = hashKey(key);
    const connections = this.countConnections();
    const secret = await this.db.use((sql) => findSecret(sql, hash));
    if (!secret || !timingSafeEqual(secret.hash, hash)) throw apiError('INVALID_KEY');
    const { tenantId, keyId, requestsPerMinute } = secret;
    const limit = this.limits(tenantId, keyId);
    limit.requestsPerMinute = requestsPerMinute;
    const id = cacheKey(hash, address);
    const former = this.found.get(id)?.token;
    // Requests in flight have the former object. A batch loads a key once for each object, see ApiKeyCredentials.
    const isCurrent = former?.known.limit === limit && isSameKey(former, secret);
    const token = isCurrent ? former : this.createCredentials(secret, address, limit);
    // The statement may have run on a connection that has been lost since, and the next one may lead to another database.
    if (this.countConnections() === connections) this.found.set(id, { token, connections });
    return token;
  }

  private createCredentials(
    { tenantId, keyId, secretId }: ApiKeyIdentity,
    address: string,
    limit: KeyLimit,
  ): ApiKeyCredentials {
    const known = { limit, accepted: false, expires: Number.POSITIVE_INFINITY };
    const identity = { tenantId, keyId, secretId };
    return { ...identity, address, known, refusalState: this.refusalStates(identity, address) };
  }

  private readonly countConnections = () => this.db.connectionsOpened() + this.db.connectionsLost();
}

const isSameKey = (a: ApiKeyIdentity, b: ApiKeyIdentity) =>
  a.tenantId === b.tenantId && a.keyId === b.keyId && a.secretId === b.secretId;

/** The cache has hashes instead of keys: the memory of the process should not contain keys for longer than a request. */
const cacheKey = (hash: Buffer, address: string) => `${hash.toString('latin1')}${address}`;

/** Returns the API key in an Authorization header; undefined if the header has something else. */
export const keyIn = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : /^Bearer +(byk_\S*) *$/i.exec(authorization)?.[1];
