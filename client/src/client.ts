import { type CallOptions, callOperation, type Transport } from './call.ts';
import { bearer, type Credentials, TokenSession, type Tokens } from './credentials.ts';
import type { NetworkError } from './errors.ts';
import { type FeedEvent, type FeedOptions, type LongPollOptions, pollChanges, streamChanges } from './feed.ts';
import { type Operations, operations } from './generated/operations.ts';
import type { Operation } from './operation.ts';
import { iterateRows } from './pages.ts';
import type { Params } from './request.ts';
import type { Result } from './response.ts';
import { createRetryPolicy, type RetryOptions, type RetryPolicy } from './retry.ts';
import type { CursorName, MethodArguments, RowOf } from './types.ts';

export interface ClientOptions {
  /** The address of the service, such as https://org.example.com. Default: the origin of the page, in browsers. */
  baseUrl?: string | undefined;
  /** An API key, or an access token that is not refreshed. */
  key?: string | undefined;
  /** The tokens of a user who has logged in before. They are refreshed when they have expired. */
  tokens?: Tokens | undefined;
  /** Called with new tokens, and with undefined when the session has ended. */
  onTokens?: ((tokens: Tokens | undefined) => void) | undefined;
  /** Another way to authenticate, instead of `key` and `tokens`. */
  credentials?: Credentials | undefined;
  /** The language of messages. Default: that of the service or, in browsers, of the user. */
  language?: string | (() => string) | undefined;
  /** When to send a request again. `false`: never. */
  retry?: RetryOptions | RetryPolicy | false | undefined;
  fetch?: typeof fetch | undefined;
  /** Called after each attempt; with an error if no response came from the service. */
  onAttempt?: ((error: NetworkError | undefined) => void) | undefined;
}

/** Every operation of the service by its name in the OpenAPI document. Parameters of path and query go together. */
export type Client = {
  [Name in keyof Operations as Exclude<Name, 'streamChanges'>]: (
    ...args: MethodArguments<Name>
  ) => Promise<Result<Operations[Name]['data'], Operations[Name]['id'], Operations[Name]['etag']>>;
} & {
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
  const transport = createTransport(options, session ?? options.credentials ?? bearer(String(options.key)));
  const table: Record<string, Operation> = operations;
  const call = (name: string, params?: Params, callOptions?: CallOptions): Promise<Result> =>
    callOperation(transport, table[name] as Operation, params, callOptions);
  const methods: Record<string, unknown> = {};
  const iterate: Record<string, unknown> = {};
  for (const [name, { cursor }] of Object.entries(table)) {
    methods[name] = (params?: Params, callOptions?: CallOptions) => call(name, params, callOptions);
    if (!cursor) continue;
    iterate[name] = (params?: Params, callOptions?: CallOptions) =>
      iterateRows((page, pageOptions) => call(name, page, pageOptions), params, callOptions);
  }
  // The table has exactly the operations that the types have: both are generated from the same document.
  return {
    ...methods,
    ...(session ? sessionMethods(session, call) : {}),
    iterate,
    changes: (feed: LongPollOptions = {}) => pollChanges(call, feed),
    streamChanges: (feed: FeedOptions = {}) => streamChanges(call, feed),
  } as unknown as Client;
}

/** Returns the session of a user, unless the client authenticates in another way. */
function createSession(options: ClientOptions): TokenSession | undefined {
  if (options.key !== undefined || options.credentials) return undefined;
  // A refresh token works once, so a refresh whose response was lost is not sent again.
  const refresh = async (refreshToken: string) => {
    const params = { body: { refresh_token: refreshToken } };
    return (await callOperation(createTransport(options, undefined), operations.refresh, params)).data as Tokens;
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

function createTransport(
  { baseUrl = '', language, retry = {}, onAttempt = () => {}, ...options }: ClientOptions,
  credentials: Credentials | undefined,
): Transport {
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    // Called as a function of its own: browsers reject `fetch` as a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    credentials,
    language: typeof language === 'function' ? language : () => language,
    retry: typeof retry === 'function' ? retry : retry ? createRetryPolicy(retry) : async () => false,
    onAttempt,
  };
}
