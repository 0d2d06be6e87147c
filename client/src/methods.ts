import { type CallOptions, callOperation, type Transport } from './call.ts';
import type { Credentials } from './credentials.ts';
import type { NetworkError } from './errors.ts';
import { type Operations, operations } from './generated/operations.ts';
import type { Operation } from './operation.ts';
import type { Params } from './request.ts';
import type { Result } from './response.ts';
import type { RetryPolicy } from './retry.ts';
import type { MethodArguments } from './types.ts';

/** The operations without iterators and without a session. The console uses them directly, because it has its own session. */

export interface TransportOptions {
  /** The address of the service, such as https://org.example.com. Default: the origin of the page, in browsers. */
  baseUrl?: string | undefined;
  /** The language of messages. Default: that of the service or, in browsers, of the user. */
  language?: string | (() => string) | undefined;
  /** When to send a request again. Default: never. */
  retry?: RetryPolicy | undefined;
  fetch?: typeof fetch | undefined;
  /** Called after each attempt; with an error if no response came from the service. */
  onAttempt?: ((error: NetworkError | undefined) => void) | undefined;
}

/** Every operation of the service by its name in the OpenAPI document. Path and query parameters are passed together. */
export type Methods = {
  [Name in keyof Operations as Exclude<Name, 'streamChanges'>]: (
    ...args: MethodArguments<Name>
  ) => Promise<Result<Operations[Name]['data'], Operations[Name]['id'], Operations[Name]['etag']>>;
};

export type Method = (params?: Params, options?: CallOptions) => Promise<Result>;

/** Creates the methods from the table, which has exactly the operations that the types have. */
export const createMethods = (transport: Transport): Methods =>
  Object.fromEntries(
    Object.entries<Operation>(operations).map(([name, operation]): [string, Method] => [
      name,
      (params, options) => callOperation(transport, operation, params, options),
    ]),
  ) as unknown as Methods;

export function createTransport(
  { baseUrl = '', language, retry = async () => false, onAttempt = () => {}, ...options }: TransportOptions,
  credentials: Credentials | undefined,
): Transport {
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    // Call it as a plain function: browsers reject `fetch` as a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    credentials,
    language: typeof language === 'function' ? language : () => language,
    retry,
    onAttempt,
  };
}
