import { type CallOptions, callOperation } from './call.ts';
import { bearer, type Credentials, TokenSession, type Tokens } from './credentials.ts';
import { type FeedEvent, type FeedOptions, type LongPollOptions, pollChanges, streamChanges } from './feed.ts';
import { operations } from './generated/operations.ts';
import { createMethods, createTransport, type Method, type Methods, type TransportOptions } from './methods.ts';
import type { Operation } from './operation.ts';
import { iterateRows } from './pages.ts';
import type { Params } from './request.ts';
import type { Result } from './response.ts';
import { createRetryPolicy, type RetryOptions, type RetryPolicy } from './retry.ts';
import type { CursorName, MethodArguments, RowOf } from './types.ts';

export interface ClientOptions extends Omit<TransportOptions, 'retry'> {
  /** When to send a request again. `false`: never. */
  retry?: RetryOptions | RetryPolicy | false | undefined;
  /** An API key, or an access token that is not refreshed. */
  key?: string | undefined;
  /** The tokens of an earlier login. An expired access token is refreshed. */
  tokens?: Tokens | undefined;
  /** Called with new tokens, and with undefined when the session has ended. */
  onTokens?: ((tokens: Tokens | undefined) => void) | undefined;
  /** Another way to authenticate, instead of `key` and `tokens`. */
  credentials?: Credentials | undefined;
}

/** Every operation of the service, and iterators over lists and changes. */
export type Client = Methods & {
  /** Lists with cursors as iterators over all of their rows. */
  iterate: {
    [Name in CursorName]: (...args: MethodArguments<Name>) => AsyncGenerator<RowOf<Name>, void>;
  };
  /** Follows the change feed by long polling. */
  changes(options?: LongPollOptions): AsyncGenerator<FeedEvent, void>;
  /** Follows the change feed as a stream of server-sent events. */
  streamChanges(options?: FeedOptions): AsyncGenerator<FeedEvent, void>;
};

export function createClient(options: ClientOptions = {}): Client {
  const session = createSession(options);
  const transport = createTransport(
    { ...options, retry: policyOf(options) },
    session ?? options.credentials ?? bearer(String(options.key)),
  );
  const methods = createMethods(transport);
  const call = (name: string, params?: Params, callOptions?: CallOptions): Promise<Result> =>
    (methods as unknown as Record<string, Method>)[name]?.(params, callOptions) as Promise<Result>;
  const iterate: Record<string, unknown> = {};
  for (const [name, operation] of Object.entries<Operation>(operations)) {
    if (!operation.cursor) continue;
    iterate[name] = (params?: Params, callOptions?: CallOptions) =>
      iterateRows((page, pageOptions) => call(name, page, pageOptions), params, callOptions);
  }
  return {
    ...methods,
    ...(session ? sessionMethods(session, call) : {}),
    iterate,
    changes: (feed: LongPollOptions = {}) => pollChanges(call, feed),
    streamChanges: (feed: FeedOptions = {}) => streamChanges(call, feed),
  } as unknown as Client;
}

function policyOf({ retry = {} }: ClientOptions): RetryPolicy | undefined {
  if (retry === false || typeof retry === 'function') return retry || undefined;
  return createRetryPolicy(retry);
}

/** Returns the session of a user, unless the client authenticates in another way. */
function createSession(options: ClientOptions): TokenSession | undefined {
  if (options.key !== undefined || options.credentials) return undefined;
  // A refresh token works once, so a refresh whose response was lost is not sent again.
  const refresh = async (refreshToken: string) => {
    const params = { body: { refresh_token: refreshToken } };
    return (
      await callOperation(createTransport({ ...options, retry: undefined }, undefined), operations.refresh, params)
    ).data as Tokens;
  };
  return new TokenSession(options.tokens, refresh, options.onTokens);
}

/** Login begins the session of the client, and logout ends it. */
const sessionMethods = (
  session: TokenSession,
  call: (name: string, params?: Params, options?: CallOptions) => Promise<Result>,
) => ({
  logIn: async (params: Params, options?: CallOptions) => {
    const result = await call('logIn', params, options);
    session.replace(result.data as Tokens);
    return result;
  },
  logOut: async (params?: Params, options?: CallOptions) => {
    const result = await call('logOut', params, options);
    session.replace(undefined);
    return result;
  },
});
