/** The content of an access token. Everything else about the caller is read from the database on every request. */
export interface Token {
  tenantId: string;
  userId: string;
  sessionId: string;
  keyId?: undefined;
}

/** A verified token of a request. */
export interface VerifiedToken extends Token {
  /** Milliseconds since 1970, by the clock of the keyring. */
  expires: number;
}

/**
 * An API key that a request was sent with. Requests with the same secret from the same address share one object, so that
 * concurrent ones are loaded together.
 */
export interface KeyToken {
  tenantId: string;
  keyId: string;
  /** The secret that was sent: a key has several for a while after a rotation. */
  secretId: string;
  /** The address of the client. */
  address: string;
  userId?: undefined;
  sessionId?: undefined;
  /** What the last request learned about the key; undefined: none has used it yet. */
  known: KnownKey;
}

/** May be out of date: every request reads the key anew. */
export interface KnownKey {
  requestsPerMinute: number | null;
  /** Whether the last request was allowed to use the key. */
  accepted: boolean;
  /** When the key or its secret expires, by `performance.now()`; infinite: never. */
  expires: number;
}

/** What a request was sent with: the token of a user, or an API key. */
export type Credentials = Token | KeyToken;
