import type { startCrowd } from './crowd.ts';
import type { Place, Process } from './services.ts';

/** What a measure works with. */
export interface Scene {
  place: Place;
  service: Process;
  crowd: ReturnType<typeof startCrowd>;
  /** A tenant with a million departments, one with a thousand, and one to write in. */
  large: Tenant;
  small: Tenant;
  writing: Tenant;
  /** How many rounds, and how long each takes: fewer and shorter with `--quick`. */
  rounds: number;
  ms: number;
  progress: (words: string) => void;
}

export interface Tenant {
  tenantId: string;
  token: string;
  firstId: number;
  count: number;
}

/** One figure, the limit it is held against, and what else was seen. */
export interface Result {
  what: string;
  figure: number;
  /** Such as `× bare`; put behind the figure. */
  unit: string;
  goal: { least: number } | { most: number };
  /** The smallest and the largest of the rounds. */
  spread: [number, number];
  notes: string;
}

export type Measure = (scene: Scene) => Promise<Result[]>;

export const median = (numbers: number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] as number;

/**
 * Two things, turn and turn about, so that whatever else the machine does falls on both; each goes first in every other
 * round, so that what one leaves behind for the next falls on both too. Tells the ratio of each round: the first to the
 * second.
 */
export async function alternate(
  { rounds, progress }: Scene,
  name: string,
  one: () => Promise<number>,
  other: () => Promise<number>,
): Promise<{ ratio: number; spread: [number, number]; ones: number[]; others: number[] }> {
  const [ones, others]: [number[], number[]] = [[], []];
  // The first round warms up, and does not count.
  for (let round = 0; round <= rounds; round++) {
    progress(`${name}: round ${round} of ${rounds}`);
    const turns = [
      [one, ones],
      [other, others],
    ] as const;
    for (const [run, figures] of round % 2 ? turns : turns.toReversed()) {
      const figure = await run();
      if (round > 0) figures.push(figure);
    }
  }
  const ratios = ones.map((first, n) => first / (others[n] as number));
  return { ratio: median(ratios), spread: [Math.min(...ratios), Math.max(...ratios)], ones, others };
}

export const met = ({ figure, goal }: Result): boolean =>
  'least' in goal ? figure >= goal.least : figure <= goal.most;
