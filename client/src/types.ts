import type { CallOptions } from './call.ts';
import type { Operations, operations } from './generated/operations.ts';

/** Derives the arguments of the client's methods from the types of the operations. */

/** An id. Above 2^53-1 it has to be a string. */
export type Id = number | string;

/** Optional properties may also be undefined. */
type OrUndefined<T> = { [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] };

type PathOf<Input> = Input extends { path: infer Path } ? { [K in keyof Path]: Id | readonly Id[] } : unknown;
type QueryOf<Input> = Input extends { query?: infer Query }
  ? [NonNullable<Query>] extends [never]
    ? unknown
    : OrUndefined<NonNullable<Query>>
  : unknown;
type BodyOf<Input> = Input extends { body: infer Body }
  ? { body: Body }
  : Input extends { body?: infer Body }
    ? [NonNullable<Body>] extends [never]
      ? unknown
      : { body?: Body | undefined }
    : unknown;

/** The parameters of an operation: those of path and query by their names, and `body`. */
export type ParamsOf<Name extends keyof Operations> = PathOf<Operations[Name]['input']> &
  QueryOf<Operations[Name]['input']> &
  BodyOf<Operations[Name]['input']>;

export type MethodArguments<Name extends keyof Operations> =
  unknown extends ParamsOf<Name>
    ? [params?: Record<string, never>, options?: CallOptions]
    : Record<never, never> extends ParamsOf<Name>
      ? [params?: ParamsOf<Name>, options?: CallOptions]
      : [params: ParamsOf<Name>, options?: CallOptions];

/** The operations that return pages with cursors. */
export type CursorName = {
  [Name in keyof Operations]: (typeof operations)[Name] extends { cursor: true } ? Name : never;
}[keyof Operations];

export type RowOf<Name extends CursorName> = Operations[Name]['data'] extends { rows: (infer Row)[] } ? Row : never;
