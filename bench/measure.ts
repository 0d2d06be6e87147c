import type { startLoadGenerator } from './load-generator.ts';
import type { BenchDatabase, Process } from './services.ts';

/** The processes, tenants and options that all measures share. */
export interface Context {
  database: BenchDatabase;
  service: Process;
  load: ReturnType<typeof startLoadGenerator>;
  /** A tenant with a million departments. */
  large: Tenant;
  /** A tenant with a thousand departments. */
  small: Tenant;
  /** The tenant in which the measures create departments. */
  writing: Tenant;
  /** The number of rounds and the duration of each: fewer and shorter with `--quick`. */
  rounds: number;
  ms: number;
  /** Which floods of noisy neighbours to run; undefined: all. */
  floods: string[] | undefined;
  progress: (message: string) => void;
}

export interface Tenant {
  tenantId: string;
  token: string;
  firstId: number;
  count: number;
}

/** One figure, its goal, and details. */
export interface Result {
  name: string;
  figure: number;
  /** Printed after the figure, such as `× a bare route`. */
  unit: string;
  goal: { least: number } | { most: number };
  /** The minimum and the maximum of the rounds. */
  range: [number, number];
  notes: string;
}

export type Measure = (context: Context) => Promise<Result[]>;

export const median = (numbers: number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] as number;

/**
 * Runs two workloads alternately, so that other load on the machine affects both. The order is reversed in every other
 * round, so that after-effects on the next workload affect both too. The ratio of a round is the first figure divided by
 * the second.
 */
export async function alternate(
  { rounds, progress }: Context,
  name: string,
  runFirst: () => Promise<number>,
  runSecond: () => Promise<number>,
): Promise<{ ratio: number; range: [number, number]; first: number[]; second: number[] }> {
  const [first, second]: [number[], number[]] = [[], []];
  // Round 0 is a warm-up and does not count.
  for (let round = 0; round <= rounds; round++) {
    progress(`${name}: round ${round} of ${rounds}`);
    const workloads = [
      [runFirst, first],
      [runSecond, second],
    ] as const;
    for (const [run, figures] of round % 2 ? workloads : workloads.toReversed()) {
      const figure = await run();
      if (round > 0) figures.push(figure);
    }
  }
  const ratios = first.map((figure, n) => figure / (second[n] as number));
  return { ratio: median(ratios), range: [Math.min(...ratios), Math.max(...ratios)], first, second };
}

export const isGoalMet = ({ figure, goal }: Result): boolean =>
  'least' in goal ? figure >= goal.least : figure <= goal.most;
