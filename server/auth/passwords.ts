import { hash, verify } from '@node-rs/argon2';
import { apiError } from '../http/errors.ts';

export interface PasswordCost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** argon2id as OWASP recommends it: 19 MiB, 2 passes, 1 lane. The library's default algorithm is argon2id. */
export const OWASP_COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashing is slow on purpose. Its concurrency is limited, so that a flood of logins leaves CPU time for other work. */
const CONCURRENCY = 2;
const MAX_QUEUED = 200;

/** The maximum number of logins that wait for their password check. It is enforced before they use the database. */
const MAX_LOGINS = 100;

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Hashes with a given salt: the same password and salt give the same hash. */
  hashWithSalt(password: string, salt: Buffer): Promise<string>;
  /**
   * Verifies a password. Does the same work without a stored hash, so that the response time does not reveal whether the
   * account exists.
   */
  verify(stored: string | undefined, password: string): Promise<boolean>;
  /** Takes a slot for a login, or throws `TOO_BUSY`. The returned function releases the slot. */
  acquireLoginSlot(): () => void;
}

/** Hashes a single password, for the command line and the first start. */
export const hashPassword = (password: string, cost: PasswordCost = OWASP_COST): Promise<string> =>
  hash(password, cost);

/**
 * Computes the hash for unknown accounts in advance, so that the first login to one takes no longer than later ones. A test
 * passes an `argon2` that counts its operations.
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
      if (queue.length >= MAX_QUEUED) throw apiError('TOO_BUSY');
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
    hashWithSalt: (password, salt) => limit(() => argon2.hash(password, { ...cost, salt })),
    async verify(stored, password) {
      const matches = await limit(() => argon2.verify(stored ?? unknownAccount, password));
      return matches && stored !== undefined;
    },
    acquireLoginSlot() {
      if (logins >= MAX_LOGINS) throw apiError('TOO_BUSY');
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
