import { userKey } from '../auth/user-key.ts';
import { apiError } from '../http/errors.ts';
import { invalid } from '../http/validation.ts';
import { isPrecisUsername } from './precis.ts';

/** The names under which the service itself writes to the ledger, and names that readers could take for nobody or for everybody. */
const RESERVED = [
  ...['banyan', '榕树', 'system', '系统', 'operator', 'service', 'anonymous', 'unknown', 'everyone', 'everybody'],
  ...['null', 'undefined', 'none'],
];
const reservedKeys = new Set(RESERVED.map(userKey));

/** Alphabets that share the shapes of many letters. The Cyrillic а and the Latin a look the same. */
const LOOK_ALIKE_SCRIPTS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Lisu}/u,
];

/**
 * Throws unless a new name is allowed. Names that exist are not checked: a user who got their name under earlier rules keeps
 * it until somebody renames them. `field` is the name of the field in the request.
 */
export function assertUserNameAllowed(userName: string, field: string): void {
  if (!isPrecisUsername(userName)) throw invalid(field, 'userName');
  if (LOOK_ALIKE_SCRIPTS.filter((script) => script.test(userName)).length > 1) throw invalid(field, 'mixedScripts');
  if (reservedKeys.has(userKey(userName))) throw apiError('USER_NAME_RESERVED', { field });
}

export function isAllowedUserName(userName: string): boolean {
  try {
    assertUserNameAllowed(userName, 'userName');
    return true;
  } catch {
    return false;
  }
}
