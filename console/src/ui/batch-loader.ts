/** The service reads at most this many records in one request. */
const MAX_IDS = 500;

interface Batch<Row> {
  ids: Set<number>;
  rows: Promise<Map<number, Row>>;
}

/**
 * Joins reads of single records into one request for each tenant: every row of a list asks for the records that it names, all
 * rows at the same time. The result is null for a record that does not exist.
 */
export function createBatchLoader<Row>(
  readMany: (ids: number[], tenantId: string | undefined) => Promise<readonly Row[]>,
  idOf: (row: Row) => number,
): (id: number, tenantId: string | undefined) => Promise<Row | null> {
  const batches = new Map<string | undefined, Batch<Row>>();
  const startBatch = (tenantId: string | undefined): Batch<Row> => {
    const ids = new Set<number>();
    const read = async () => {
      // A timer and not a microtask: retries of several reads are timers that are due at the same time.
      await new Promise((resolve) => setTimeout(resolve));
      if (batches.get(tenantId)?.ids === ids) batches.delete(tenantId);
      return new Map((await readMany([...ids], tenantId)).map((row) => [idOf(row), row]));
    };
    const batch = { ids, rows: read() };
    batches.set(tenantId, batch);
    return batch;
  };
  return async (id, tenantId) => {
    const open = batches.get(tenantId);
    const batch = open && open.ids.size < MAX_IDS ? open : startBatch(tenantId);
    batch.ids.add(id);
    return (await batch.rows).get(id) ?? null;
  };
}
