import { ApiError } from './errors.ts';
import type { Tokens as IssuedTokens } from './generated/types.ts';

/** How the client authenticates. Implement it to keep tokens in another way, such as a browser session in a cookie. */
export interface Credentials {
  /** Called at the start of each call, unless the operation needs no token. */
  open(): CallCredentials;
}

/** The credentials of one call. A call belongs to the session in which it began, even when it is sent again. */
export interface CallCredentials {
  /** Returns the token to send. Throws once the session of the call has ended: by then the token may be another user's. */
  token(): string | undefined;
  /** Called when the service has rejected a token. Resolves when there is another one, otherwise throws. */
  renew(rejected: string | undefined, error: ApiError): Promise<void>;
}

/** The tokens of a session, as the service issues them. Each refresh replaces both. */
export type Tokens = Pick<IssuedTokens, 'access_token'> & { refresh_token?: string | undefined };

/** An API key, or an access token that is never refreshed. */
export const bearer = (token: string): Credentials => ({
  open: () => ({ token: () => token, renew: (_, error) => Promise.reject(error) }),
});

/** Errors after which a new access token helps. After others, such as SESSION_ENDED, a refresh would fail too. */
const RENEWABLE = ['TOKEN_EXPIRED', 'INVALID_TOKEN', 'NO_TOKEN'];

/** The session of a user. However many calls find the access token expired, it is refreshed once. */
export class TokenSession implements Credentials {
  #tokens: Tokens | undefined;
  #refreshing: Promise<void> | undefined;
  /** Incremented when a user logs in or out. */
  #session = 0;
  /** Why the session has ended. */
  #ended: ApiError | undefined;
  readonly #refresh: (refreshToken: string) => Promise<Tokens>;
  readonly #onTokens: (tokens: Tokens | undefined) => void;

  constructor(
    tokens: Tokens | undefined,
    refresh: (refreshToken: string) => Promise<Tokens>,
    onTokens: (tokens: Tokens | undefined) => void = () => {},
  ) {
    this.#tokens = tokens;
    this.#refresh = refresh;
    this.#onTokens = onTokens;
  }

  /** Starts a session with the tokens of a login, or ends it. Calls of the previous session fail instead of being sent again. */
  replace(tokens: Tokens | undefined): void {
    this.#session++;
    this.#ended = undefined;
    this.#refreshing = undefined;
    this.#store(tokens);
  }

  open(): CallCredentials {
    const session = this.#session;
    const assertSame = () => {
      if (session !== this.#session) throw new ApiError(401, 'SESSION_ENDED', 'The session has ended. Log in again.');
      if (this.#ended) throw this.#ended;
    };
    return {
      token: () => {
        assertSame();
        return this.#tokens?.access_token;
      },
      renew: async (rejected, error) => {
        assertSame();
        if (this.#tokens && this.#tokens.access_token !== rejected) return;
        const refreshToken = this.#tokens?.refresh_token;
        if (!refreshToken || !RENEWABLE.includes(error.reason)) throw error;
        this.#refreshing ??= this.#renew(session, refreshToken);
        await this.#refreshing;
      },
    };
  }

  async #renew(session: number, refreshToken: string): Promise<void> {
    try {
      const tokens = await this.#refresh(refreshToken);
      if (session === this.#session) this.#store(tokens);
    } catch (error) {
      // A refresh token that was refused will not work later either. After other errors it may.
      if (session === this.#session && error instanceof ApiError && error.reason === 'REFRESH_REFUSED') {
        this.#ended = error;
        this.#store(undefined);
      }
      throw error;
    } finally {
      if (session === this.#session) this.#refreshing = undefined;
    }
  }

  #store(tokens: Tokens | undefined): void {
    this.#tokens = tokens && { access_token: tokens.access_token, refresh_token: tokens.refresh_token };
    this.#onTokens(this.#tokens);
  }
}
