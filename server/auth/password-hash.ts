/**
 * Password hashes that other systems made. The limits keep a hash from delaying the logins of others: verifying the most
 * expensive one takes about eight times as long as one of our own.
 */

/** argon2id in the PHC string format. Memory is in KiB. 64 MiB and four passes are the default of PHP. */
const MAX_ARGON2 = { memoryCost: 65_536, memoryTimesPasses: 262_144, parallelism: 16 };
/** Each step of bcrypt's cost doubles the time. */
const MAX_BCRYPT_COST = 12;

const argon2id =
  /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,4}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;
/** The last characters of salt and hash contain unused bits, which must be zero. `2x` marks hashes of a faulty library. */
const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;

export const isBcrypt = (hash: string): boolean => hash.startsWith('$2');

/** Whether a hash can be verified at login, at a limited cost. */
export function isAcceptedHash(hash: string): boolean {
  const cost = Number(bcrypt.exec(hash)?.[1] ?? Number.NaN);
  if (cost >= 4 && cost <= MAX_BCRYPT_COST) return true;
  const [, memory, passes, lanes, salt = '', digest = ''] = argon2id.exec(hash) ?? [];
  const [m, t, p] = [Number(memory), Number(passes), Number(lanes)];
  return (
    p >= 1 &&
    p <= MAX_ARGON2.parallelism &&
    t >= 1 &&
    m >= 8 * p &&
    m <= MAX_ARGON2.memoryCost &&
    m * t <= MAX_ARGON2.memoryTimesPasses &&
    [salt, digest].every(isCanonicalBase64)
  );
}

/** The library rejects base64 whose last character has unused bits that are not zero. */
const isCanonicalBase64 = (text: string) => Buffer.from(text, 'base64').toString('base64').replace(/=+$/, '') === text;
