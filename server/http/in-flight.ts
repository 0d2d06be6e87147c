/**
 * A collection of the requests in flight. A Set whose members change all the time reallocates its table constantly, and
 * each old table keeps the next one alive with all of its members. Whole requests outlived their responses that way, and
 * garbage collection took a quarter of the CPU time. This collection reuses its slots instead.
 */
export class InFlight<T> {
  private readonly slots: ({ item: T } | undefined)[] = [];
  private readonly free: number[] = [];

  /** Adds an item. The returned function removes it, and returns false if it was removed before. */
  add(item: T): () => boolean {
    const slot = this.free.pop() ?? this.slots.length;
    const entry = { item };
    this.slots[slot] = entry;
    return () => {
      if (this.slots[slot] !== entry) return false;
      this.slots[slot] = undefined;
      this.free.push(slot);
      return true;
    };
  }

  removeWhere(matches: (item: T) => boolean): void {
    for (const [slot, entry] of this.slots.entries()) {
      if (!entry || !matches(entry.item)) continue;
      this.slots[slot] = undefined;
      this.free.push(slot);
    }
  }

  *[Symbol.iterator](): Generator<T> {
    for (const entry of this.slots) if (entry) yield entry.item;
  }
}
