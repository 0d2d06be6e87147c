import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The format of API keys: `byk_`, 43 characters of base62 (256 random bits) and the CRC-32 of these characters as 6 further
 * ones. Secret scanners recognize it, and a mistyped key is rejected without a database query.
 */
const PREFIX = 'byk_';
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const FORMAT = /^byk_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
/** The length of the prefix that lists show, so that people can tell keys apart. */
const SHOWN_LENGTH = PREFIX.length + 6;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export function generateKey(): string {
  const secret = toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_LENGTH);
  return `${PREFIX}${secret}${checksumOf(secret)}`;
}

/** Whether a text has the format of a key, with a valid checksum. */
export function isKey(text: string): boolean {
  const [, secret = '', checksum] = FORMAT.exec(text) ?? [];
  return checksum !== undefined && checksumOf(secret) === checksum;
}

/** The hash that the database stores instead of the key. The key is random, so a fast hash cannot be reversed by guessing. */
export const hashKey = (key: string): Buffer => hash('sha256', key, 'buffer');

export const shownPrefix = (key: string): string => key.slice(0, SHOWN_LENGTH);

const checksumOf = (secret: string): string => toBase62(BigInt(crc32(secret)), CHECKSUM_LENGTH);

function toBase62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
}
