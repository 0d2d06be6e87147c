/** How many ids a statement gets. Sending more at once would delay other requests by several milliseconds. */
const MAX_IDS = 5_000;

/**
 * Runs a statement that reads or locks rows by their ids, in chunks if there are many ids. The chunks are in the order of ids, so
 * that all transactions take their locks in the same order.
 */
export async function readInChunks<Row>(
  ids: readonly string[],
  read: (chunk: readonly string[]) => PromiseLike<readonly Row[]>,
): Promise<Row[]> {
  if (ids.length <= MAX_IDS) return [...(await read(ids))];
  const sorted = ids.toSorted((a, b) => a.length - b.length || (a < b ? -1 : Number(a > b)));
  const rows: Row[] = [];
  for (let at = 0; at < sorted.length; at += MAX_IDS) {
    for (const row of await read(sorted.slice(at, at + MAX_IDS))) rows.push(row);
  }
  return rows;
}
