/**
 * What is under way at this moment. A Set would do, if it were not for its garbage: with things that come and go all
 * the time it makes itself a new table every few of them, and each old table keeps the next one alive, with all that
 * was in it. So whole requests outlived their answers, and a quarter of the time went into collecting them.
 */
export class UnderWay<T> {
  private readonly places: ({ thing: T } | undefined)[] = [];
  private readonly free: number[] = [];

  /** What is returned takes it out again, once. */
  add(thing: T): () => boolean {
    const place = this.free.pop() ?? this.places.length;
    const entry = { thing };
    this.places[place] = entry;
    return () => {
      if (this.places[place] !== entry) return false;
      this.places[place] = undefined;
      this.free.push(place);
      return true;
    };
  }

  /** Takes out all for which this holds. */
  forget(is: (thing: T) => boolean): void {
    for (const [place, entry] of this.places.entries()) {
      if (!entry || !is(entry.thing)) continue;
      this.places[place] = undefined;
      this.free.push(place);
    }
  }

  *[Symbol.iterator](): Generator<T> {
    for (const entry of this.places) if (entry) yield entry.thing;
  }
}
