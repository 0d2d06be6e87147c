import type { TestContext } from 'node:test';

/**
 * Some tests have two sizes: small in the everyday run (`npm test`), full in the long run (`npm run test:long`). Random choices come
 * from a seed: a failure prints the command that repeats the run, with BANYAN_TEST_SEED.
 */
export const isLong = process.env.BANYAN_TEST_LONG === '1';
export const scale = (everyday: number, long: number): number => (isLong ? long : everyday);

/**
 * Returns all items of a table of values in the long run, and every `step`th one in the everyday run. Give calls that share a
 * table different offsets, so that together they use all of it.
 */
export const sample = <T>(items: readonly T[], step: number, offset = 0): T[] =>
  items.filter((_, n) => isLong || n % step === offset % step);

/**
 * The longest delay of uses of the database (statements.ts), and the delay of each action in the browser (chromium.ts), to find
 * tests that race.
 */
export const MAX_DELAY_MS = Number(process.env.BANYAN_TEST_DELAY_MS ?? 0);

export const firstSeed = Number(process.env.BANYAN_TEST_SEED ?? 1);
export const seeds = (count: number): number[] => Array.from({ length: count }, (_, n) => firstSeed + n);

/** Creates a pseudorandom number generator (mulberry32). */
export function seededRandom(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    below: (limit: number) => Math.floor(next() * limit),
    pick: <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T,
  };
}

/** Counts outcomes by name. */
export class Tally {
  readonly counts: Record<string, number> = {};
  add(name: string | number, count = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + count;
  }
  get(name: string | number): number {
    return this.counts[name] ?? 0;
  }
}

export const report = (t: TestContext, figures: Record<string, unknown>): void => t.diagnostic(JSON.stringify(figures));

/** Calls `work` `count` times, with `workers` calls in flight. Starts no new call after a failure. */
export async function runConcurrently(
  workers: number,
  count: number,
  work: (n: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const failures: unknown[] = [];
  const worker = async () => {
    while (next < count && failures.length === 0) await work(next++).catch((error) => failures.push(error));
  };
  await Promise.all(Array.from({ length: workers }, worker));
  if (failures.length > 0) throw failures[0];
}
