import type { KeyLimit } from './key-limits.ts';
import type { Permission } from './permissions.ts';

/** A session of a user. Everything else about the caller is read from the database on every request. */
export interface SessionIdentity {
  tenantId: string;
  userId: string;
  sessionId: string;
  keyId?: undefined;
}

/** The verified access token of a user, which a request was sent with. */
export interface VerifiedToken extends SessionIdentity {
  /** Milliseconds since 1970, by the clock of the keyring. */
  expires: number;
}

/** An API key, identified by one of its secrets or by an access token that was issued for one of them. */
export interface ApiKeyIdentity {
  tenantId: string;
  keyId: string;
  /** The secret that was sent or that the token was issued for: a key has several for a while after a rotation. */
  secretId: string;
  userId?: undefined;
  sessionId?: undefined;
  /** The access token that was sent instead of the key: its scope, and when it expires by the clock of the keyring. */
  issued?: { scope: ReadonlySet<Permission>; expires: number };
}

/** What a token belongs to: the session of a user, or an API key. */
export type TokenSubject = SessionIdentity | ApiKeyIdentity;

/**
 * An API key that a request was sent with. Requests with the same secret from the same address share one object, so that the
 * callers of concurrent requests are read together.
 */
export interface ApiKeyCredentials extends ApiKeyIdentity {
  /** The address of the client. */
  address: string;
  /** What the last request learned about the key. */
  known: KnownKey;
  /** Whether the last request with this secret from this address was refused. */
  refusalState: RefusalState;
}

/**
 * While a key is refused (it was deleted, is disabled, must not be used from this address, …), its requests use neither the
 * tenant's share of the request slots nor the tenant's rate limit. The key is still checked on each request; the first success
 * ends this.
 */
export interface RefusalState {
  refused: boolean;
}

/** What is cached about an API key. It may be out of date: every request reads the key again. */
export interface KnownKey {
  limit: KeyLimit;
  /** Whether the last request was allowed to use the key. */
  accepted: boolean;
  /** When the key or its secret expires, by `performance.now()`; infinite: never. */
  expires: number;
}

/** What a request was sent with: the access token of a user, or an API key. */
export type Credentials = SessionIdentity | ApiKeyCredentials;
