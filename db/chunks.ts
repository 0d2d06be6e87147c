/** How many values a statement gets. Sending more at once would delay other requests by several milliseconds. */
const MAX_VALUES = 5_000;

/** Runs a statement that reads rows by their ids or names, in chunks if there are many. */
export async function readInChunks<Row>(
  values: readonly string[],
  read: (chunk: string[]) => PromiseLike<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let at = 0; at < values.length; at += MAX_VALUES) {
    for (const row of await read(values.slice(at, at + MAX_VALUES))) rows.push(row);
  }
  return rows;
}

/** The same, in the order of ids: all transactions take their locks in this order. */
export function readInIdOrder<Row>(
  ids: readonly string[],
  read: (chunk: string[]) => PromiseLike<readonly Row[]>,
): Promise<Row[]> {
  if (ids.length <= MAX_VALUES) return readInChunks(ids, read);
  return readInChunks(
    ids.toSorted((a, b) => a.length - b.length || (a < b ? -1 : Number(a > b))),
    read,
  );
}
