/** Random choices that are the same in every run, so that screenshots and tests of the demonstration data are too. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  /** Returns a number from 0 to 1, excluding 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** Returns an integer from 0 to `below`, excluding `below`. */
  integer = (below: number): number => Math.floor(this.next() * below);

  chance = (probability: number): boolean => this.next() < probability;

  pick = <T>(items: readonly T[]): T => items[this.integer(items.length)] as T;

  shuffle<T>(items: readonly T[]): T[] {
    const order = items.map((item) => ({ item, key: this.next() }));
    return order.sort((a, b) => a.key - b.key).map(({ item }) => item);
  }
}
