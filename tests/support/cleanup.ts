/**
 * Cleanups that run at the end of a test or of a test file. They may be registered anywhere in it. Several files share a process.
 */

/** The cleanups of the running test, followed by those of its running subtest, if any. */
const testCleanups: (() => unknown)[][] = [];
const fileCleanups: (() => unknown)[] = [];
const workerCleanups: (() => unknown)[] = [];

/** Registers the cleanup of what the running test uses, or, outside of tests, of what the file uses. */
export const after = (work: () => unknown): void => void (testCleanups.at(-1) ?? fileCleanups).push(work);
export const afterFile = (work: () => unknown): void => void fileCleanups.push(work);

/** Registers the cleanup of something that all files of a process share, such as the browser. */
export const afterWorker = (work: () => unknown): void => void workerCleanups.push(work);

const hangReports: (() => Promise<string[]>)[] = [];

/** Registers a report that is printed when a file hangs, before its process is killed. */
export const onHang = (work: () => Promise<string[]>): void => void hangReports.push(work);
export const describeHang = async (): Promise<string[]> =>
  (await Promise.all(hangReports.map((work) => work()))).flat();

/** Called by scripts/test-worker.js before each test. It calls the functions below after each test, each file and all files. */
export function startTest(): void {
  testCleanups.push([]);
}
export const runAfterTest = (): Promise<void> => runAll(testCleanups.pop() ?? []);
/** Also runs the cleanups of tests that were skipped while they ran: node:test runs no `afterEach` for these. */
export const runAfterFile = (): Promise<void> => runAll([...fileCleanups.splice(0), ...testCleanups.splice(0).flat()]);
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
