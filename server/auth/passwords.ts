import { hash, verify } from '@node-rs/argon2';
import { refuse } from '../http/refusals.ts';

export interface PasswordCost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** argon2id as OWASP recommends it: 19 MiB, 2 passes, 1 lane. The library's default algorithm is argon2id. */
export const OWASP_COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashing is slow on purpose. Few run at once, so that a flood of logins leaves room for other work. */
const CONCURRENCY = 2;
const MAX_QUEUED = 200;

/** Logins that wait for their password to be checked, counted before they take the database's time. */
const MAX_LOGINS = 100;

export interface Passwords {
  hash(password: string): Promise<string>;
  /** The same password and salt give the same text, at the same cost. */
  hashRepeatably(password: string, salt: Buffer): Promise<string>;
  /** Without a stored hash the same work is done, so that the time does not tell whether the account exists. */
  verify(stored: string | undefined, password: string): Promise<boolean>;
  /** Takes a place among the logins, or throws at once. The function returned gives the place back. */
  admitLogin(): () => void;
}

/** One hash, beside the service or before it starts. */
export const hashPassword = (password: string, cost: PasswordCost = OWASP_COST): Promise<string> =>
  hash(password, cost);

/**
 * The hash for unknown accounts is made here, so that the first unknown name takes no longer than the next. A test passes
 * an `argon2` that counts its operations.
 */
export async function createPasswords(
  cost: PasswordCost = OWASP_COST,
  argon2: { hash: typeof hash; verify: typeof verify } = { hash, verify },
): Promise<Passwords> {
  const unknownAccount = await argon2.hash('nobody has this password', cost);
  let logins = 0;
  let running = 0;
  const queue: (() => void)[] = [];

  async function limit<T>(work: () => Promise<T>): Promise<T> {
    if (running >= CONCURRENCY) {
      if (queue.length >= MAX_QUEUED) throw refuse('TOO_BUSY');
      await new Promise<void>((resume) => queue.push(resume));
    } else running++;
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running--;
    }
  }

  return {
    hash: (password) => limit(() => argon2.hash(password, cost)),
    hashRepeatably: (password, salt) => limit(() => argon2.hash(password, { ...cost, salt })),
    async verify(stored, password) {
      const matches = await limit(() => argon2.verify(stored ?? unknownAccount, password));
      return matches && stored !== undefined;
    },
    admitLogin() {
      if (logins >= MAX_LOGINS) throw refuse('TOO_BUSY');
      logins++;
      return () => void logins--;
    },
  };
}

declare module 'fastify' {
  interface FastifyInstance {
    passwords: Passwords;
  }
}
