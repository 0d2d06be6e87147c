/**
 * What is under way at this moment. A Set would do, if it were not for its garbage: with things that come and go all
 * the time it makes itself a new table every few of them, and each old table keeps the next one alive, with all that
 * was in it. So whole requests outlived their answers, and a quarter of the time went into collecting them.
 */
export class UnderWay<T> {
  private readonly places: (T | undefined)[] = [];
  private readonly free: number[] = [];

  /** What is returned takes it out again, once. */
  add(thing: T): () => boolean {
    const place = this.free.pop() ?? this.places.length;
    this.places[place] = thing;
    let here = true;
    return () => {
      if (!here) return false;
      here = false;
      this.places[place] = undefined;
      this.free.push(place);
      return true;
    };
  }

  *[Symbol.iterator](): Generator<T> {
    for (const thing of this.places) if (thing !== undefined) yield thing;
  }
}
