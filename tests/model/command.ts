import fc from 'fast-check';
import { type Choice, someCaller, someKey, someMatch, someTenant, sometimes, tenantOf } from './choices.ts';
import type { Request, State } from './state.ts';

/** A random request. The records that it names are chosen from the state of the model when it is sent. */
export type Command = (state: State, earlier: readonly Request[]) => Request;

export const command = <T>(
  choices: { [K in keyof T]: fc.Arbitrary<T[K]> },
  make: (chosen: T, ...now: Parameters<Command>) => Request,
): fc.Arbitrary<Command> =>
  fc.record<T>(choices).map(
    (chosen) =>
      (...now) =>
        make(chosen as T, ...now),
  );

export const DEPT = '/system/dept-api';

export const USER = '/system/user-api';

export const TENANT = '/system/tenant-api';

export type Kind = typeof DEPT | typeof USER | typeof TENANT;

export const shared = { caller: someCaller, key: someKey, match: someMatch };

/** The tenant that an administrator names in a request, if any. */
export const otherTenant = sometimes(35, someTenant);

export const codeOf = (state: State, home: string, choice: Choice | undefined) =>
  choice && tenantOf(state, home, choice).tenantId;

export const queryOf = (code: string | undefined): Record<string, string> => (code ? { tenantId: code } : {});
