/** Cleanup at the end of a test file, which may be registered anywhere in it. Several files share a process. */

const fileCleanups: (() => unknown)[] = [];
const workerCleanups: (() => unknown)[] = [];

export const afterFile = (work: () => unknown): void => void fileCleanups.push(work);

/** Registers the cleanup of something that all files of a process share, such as the browser. */
export const afterWorker = (work: () => unknown): void => void workerCleanups.push(work);

const hangReports: (() => Promise<string[]>)[] = [];

/** Registers a report that is printed when a file hangs, before its process is killed. */
export const onHang = (work: () => Promise<string[]>): void => void hangReports.push(work);
export const describeHang = async (): Promise<string[]> =>
  (await Promise.all(hangReports.map((work) => work()))).flat();

/** Called by scripts/test-worker.js after each file. */
export const runAfterFile = (): Promise<void> => runAll(fileCleanups);
export const runAfterWorker = (): Promise<void> => runAll(workerCleanups);

/** Runs the cleanups in reverse order. A failure does not prevent the others. */
async function runAll(pending: (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const work of pending.splice(0).reverse()) {
    try {
      await work();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors);
}
