/** The content of an access token. Everything else about the caller is read from the database on every request. */
export interface Token {
  tenantId: string;
  userId: string;
  sessionId: string;
}

/** A verified token of a request. */
export interface VerifiedToken extends Token {
  /** Milliseconds since 1970, by the clock of the keyring. */
  expires: number;
}
