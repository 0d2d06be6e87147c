/** Long work on the event loop is done in slices, so that other requests are served in between. */

/**
 * How long a slice may take before other requests are served. A write needs several turns of the event loop, so each of them has
 * to be short.
 */
const SLICE_MS = 1;

const waiting: (() => void)[] = [];
let scheduled = false;

/** Resumes one waiter per turn of the event loop: however many large responses there are, each turn has only one slice. */
function resumeNext(): void {
  scheduled = false;
  waiting.shift()?.();
  if (waiting.length > 0) schedule();
}

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  setImmediate(resumeNext);
}

const nextTurn = () =>
  new Promise<void>((resume) => {
    waiting.push(resume);
    schedule();
  });

/** Returns a function to be awaited between two pieces of work. It waits for the next turn when the slice is used up. */
export function createSlices(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}

export async function mapInSlices<T, Result>(items: Iterable<T>, map: (item: T) => Result): Promise<Result[]> {
  const pause = createSlices();
  const results: Result[] = [];
  for (const item of items) {
    results.push(map(item));
    await pause();
  }
  return results;
}

/** How many elements are sorted at once; this takes about a millisecond. */
const RUN_SIZE = 2_048;

/** Sorts in slices: first short runs, which are then merged. */
export async function sortInSlices(
  items: Int32Array<ArrayBuffer>,
  compare: (a: number, b: number) => number,
): Promise<Int32Array> {
  const pause = createSlices();
  for (let at = 0; at < items.length; at += RUN_SIZE) {
    items.subarray(at, at + RUN_SIZE).sort(compare);
    await pause();
  }
  let [from, to] = [items, new Int32Array(items.length)];
  for (let size = RUN_SIZE; size < items.length; size *= 2) {
    for (let start = 0; start < items.length; start += 2 * size) {
      const middle = Math.min(start + size, items.length);
      const end = Math.min(start + 2 * size, items.length);
      let [left, right] = [start, middle];
      for (let at = start; at < end; at++) {
        const takeLeft = right >= end || (left < middle && compare(from[left] as number, from[right] as number) <= 0);
        to[at] = from[takeLeft ? left++ : right++] as number;
        if (at % RUN_SIZE === 0) await pause();
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
