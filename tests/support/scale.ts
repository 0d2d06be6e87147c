import type { TestContext } from 'node:test';

/**
 * Tests whose size can be chosen: small with `npm test`, full with `npm run test:long`. Both take their chances from a
 * seed, print it, and go the same way again with BANYAN_TEST_SEED.
 */
export const isLong = process.env.BANYAN_TEST_LONG === '1';
export const scale = (everyday: number, long: number): number => (isLong ? long : everyday);

export const firstSeed = Number(process.env.BANYAN_TEST_SEED ?? 1);
export const seeds = (count: number): number[] => Array.from({ length: count }, (_, n) => firstSeed + n);

/** Numbers by chance that are the same for the same seed (mulberry32). */
export function chance(seed: number) {
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

/** Counts what came, by a word for it. */
export class Tally {
  readonly counts: Record<string, number> = {};
  add(word: string | number): void {
    this.counts[word] = (this.counts[word] ?? 0) + 1;
  }
  get(word: string | number): number {
    return this.counts[word] ?? 0;
  }
}

export const report = (t: TestContext, figures: Record<string, unknown>): void => t.diagnostic(JSON.stringify(figures));

/** Does `count` pieces of work, `workers` at a time. After a failure no new piece is begun. */
export async function together(workers: number, count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const failures: unknown[] = [];
  const worker = async () => {
    while (next < count && failures.length === 0) await work(next++).catch((error) => failures.push(error));
  };
  await Promise.all(Array.from({ length: workers }, worker));
  if (failures.length > 0) throw failures[0];
}
