import { hash, verify } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { type FairnessKey, FairQueue } from './fair-queue.ts';
import { isBcrypt } from './password-hash.ts';

export interface PasswordCost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** argon2id as OWASP recommends it: 19 MiB, 2 passes, 1 lane. The library's default algorithm is argon2id. */
export const OWASP_COST: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * For passwords that the service generates. Their 93 random bits cannot be guessed, however fast a guess is, so a slow hash would
 * protect nothing: see docs/decisions/0029. The first login replaces the hash.
 */
const GENERATED_COST: PasswordCost = { memoryCost: 16, timeCost: 1, parallelism: 1 };

/** Hashing is slow on purpose. Its concurrency is limited, so that a flood of logins leaves CPU time for other work. */
const HASHING = { concurrency: 2, maxWaiting: 200 };

/**
 * A login in progress queries the database and hashes a password. The others wait before they do either. At most 100 logins
 * are in progress or waiting.
 */
const LOGINS = { concurrency: 4, maxWaiting: 96 };

/** All slow work names its fairness key, so that no address and no tenant delays the others. */
export interface Passwords {
  hash(password: string, fairnessKey: FairnessKey): Promise<string>;
  /** Hashes a password that generatePassword() has returned. It takes a tenth of a millisecond, so nothing has to wait. */
  hashGenerated(password: string): Promise<string>;
  /** Hashes with a given salt: the same password and salt give the same hash. */
  hashWithSalt(password: string, salt: Buffer, fairnessKey: FairnessKey): Promise<string>;
  /**
   * Verifies a password. Does the same work without a stored hash, so that the response time does not reveal whether the
   * account exists.
   */
  verify(stored: string | undefined, password: string, fairnessKey: FairnessKey): Promise<boolean>;
  /** Whether a stored hash was made by another system, or at another cost: the next login replaces it. */
  needsRehash(stored: string): boolean;
  /** Waits for a login slot, or throws `TOO_BUSY`. The returned function releases the slot. */
  acquireLoginSlot(fairnessKey: FairnessKey): Promise<() => void>;
  /** Returns how many logins wait for a slot, and how many passwords to be hashed. */
  countWaiting(): { logins: number; hashing: number };
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
  const hashing = new FairQueue(HASHING);
  const logins = new FairQueue(LOGINS);
  const [ownPrefix, generatedPrefix] = [prefixOf(cost), prefixOf(GENERATED_COST)];
  const compare = async (stored: string, password: string) => {
    // The response time must not reveal that an account still has its generated password.
    if (stored.startsWith(generatedPrefix)) await argon2.verify(unknownAccount, password);
    return isBcrypt(stored) ? verifyBcrypt(password, stored) : argon2.verify(stored, password);
  };
  return {
    hash: (password, fairnessKey) => hashing.run(fairnessKey, () => argon2.hash(password, cost)),
    hashGenerated: (password) => argon2.hash(password, GENERATED_COST),
    hashWithSalt: (password, salt, fairnessKey) =>
      hashing.run(fairnessKey, () => argon2.hash(password, { ...cost, salt })),
    async verify(stored, password, fairnessKey) {
      const matches = await hashing.run(fairnessKey, () => compare(stored ?? unknownAccount, password));
      return matches && stored !== undefined;
    },
    needsRehash: (stored) => !stored.startsWith(ownPrefix),
    acquireLoginSlot: (fairnessKey) => logins.acquire(fairnessKey),
    countWaiting: () => ({ logins: logins.length, hashing: hashing.length }),
  };
}

/** How the hashes of a cost begin. */
const prefixOf = ({ memoryCost, timeCost, parallelism }: PasswordCost): string =>
  `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`;

declare module 'fastify' {
  interface FastifyInstance {
    passwords: Passwords;
  }
}
