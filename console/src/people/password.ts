/** Letters and digits that nobody takes for another when he reads them out: no 0 O o, 1 l I. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 16;

/** About 93 bits. Bytes beyond the last whole round of letters are thrown away, so that all are as likely. */
export function makePassword(): string {
  const usable = 256 - (256 % LETTERS.length);
  let password = '';
  while (password.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH))) {
      if (byte < usable && password.length < LENGTH) password += LETTERS[byte % LETTERS.length];
    }
  }
  return password;
}
