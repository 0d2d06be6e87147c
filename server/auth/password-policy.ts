import fs from 'node:fs';
import { apiError } from '../http/errors.ts';
import { PASSWORD_LENGTH } from '../http/fields.ts';

/**
 * The 10,000 most common passwords of at least 8 characters, in lower case, the most common first. They come from the package
 * @zxcvbn-ts/language-common 4.1.3, whose license is beside the file. The compiler does not copy the file, so it is read from
 * the sources. This code runs from dist/server/auth.
 */
const file = new URL('../../../server/auth/common-passwords.txt', import.meta.url);

let commonPasswords: Set<string> | undefined;

/** Reads the list when it is first needed: most commands and tests set no password. */
function isCommon(password: string): boolean {
  commonPasswords ??= new Set(fs.readFileSync(file, 'utf8').split('\n'));
  return commonPasswords.has(password);
}

/** Shorter names of users and tenants occur by chance in passwords that have nothing to do with them. */
const MIN_NAME_LENGTH = 3;
/** The name of the service is as easy to guess as that of the tenant. */
const SERVICE_NAMES = ['banyan', '榕树'];

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

/** A new password that is not too common, and its hash. `assertStrongWithoutNames` checks it separately. */
export interface NewPassword {
  text: string;
  hash: string;
}

export function assertNotCommon(text: string, field: string): void {
  if (isCommon(fold(text))) throw apiError('PASSWORD_TOO_COMMON', { field });
}

/** Hashes a new password, unless it is too common. `field` is the name of the field that contains it. */
export async function hashNewPassword(
  hash: (password: string) => Promise<string>,
  text: string,
  field = 'password',
): Promise<NewPassword> {
  assertNotCommon(text, field);
  return { text, hash: await hash(text) };
}

/**
 * Throws if a password consists mostly of names of its user and tenant, such as `zhangsan2024` for zhangsan: without them, the
 * rest must still be long enough and not common.
 */
export function assertStrongWithoutNames(
  { text }: Pick<NewPassword, 'text'>,
  names: readonly (string | null | undefined)[],
  field = 'password',
): void {
  const folded = fold(text);
  const long = names.map((name) => fold(name ?? '').trim()).filter((name) => [...name].length >= MIN_NAME_LENGTH);
  const known = [...long, ...SERVICE_NAMES].sort((a, b) => b.length - a.length);
  const rest = known.reduce((remaining, name) => remaining.replaceAll(name, ''), folded);
  if (rest === folded) return;
  if ([...rest].length < PASSWORD_LENGTH.min || isCommon(rest)) throw apiError('PASSWORD_HAS_NAME', { field });
}
