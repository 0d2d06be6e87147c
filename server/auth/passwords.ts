import { hash, verify } from '@node-rs/argon2';
import { refuse } from '../http/refusals.ts';

// argon2id, as OWASP advises: 19 MiB, 2 passes, 1 lane. The library's default algorithm is argon2id.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashing is slow on purpose. Few at once, so that a flood of logins leaves room for other work. */
const AT_ONCE = 2;
const WAITING_AT_MOST = 200;

/** Logins on their way to be checked, from before they take the database's time. The next is told to come again. */
const IN_LINE_AT_MOST = 100;
let inLine = 0;

/** Takes a place in line, or refuses at once. What is returned gives it back. */
export function standInLine(): () => void {
  if (inLine >= IN_LINE_AT_MOST) throw refuse('TOO_BUSY');
  inLine++;
  return () => void inLine--;
}

let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= WAITING_AT_MOST) throw refuse('TOO_BUSY');
    await new Promise<void>((resume) => waiting.push(resume));
  } else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(password, cost));

/** The same password and salt give the same text, as slowly. */
export const hashRepeatably = (password: string, salt: Buffer): Promise<string> =>
  inTurn(() => hash(password, { ...cost, salt }));

/** Where there is nothing to compare with, the same work is done: who guesses names learns nothing from the time. */
export async function isPassword(stored: string | undefined, password: string): Promise<boolean> {
  const against = stored ?? (await nobodysHash());
  const right = await inTurn(() => verify(against, password));
  return right && stored !== undefined;
}

let nobody: Promise<string> | undefined;
const nobodysHash = () => (nobody ??= hash('nobody has this password', cost));
/** Made at start, so that the first unknown name takes no longer than the next. */
export const prepareHashing = nobodysHash;
