/** What a test file leaves behind is removed at its end, wherever in the file it was made: several files share a process. */

const ofFile: (() => unknown)[] = [];
const ofWorker: (() => unknown)[] = [];

export const afterFile = (work: () => unknown): void => void ofFile.push(work);

/** For what all files of a process share, such as the browser. */
export const afterWorker = (work: () => unknown): void => void ofWorker.push(work);

const ofHang: (() => Promise<string[]>)[] = [];

/** Tells what there is to see when a file hangs, before its process is ended. */
export const onHang = (work: () => Promise<string[]>): void => void ofHang.push(work);
export const describeHang = async (): Promise<string[]> => (await Promise.all(ofHang.map((work) => work()))).flat();

/** Called by scripts/test-worker.js after each file. */
export const runAfterFile = (): Promise<void> => runAll(ofFile);
export const runAfterWorker = (): Promise<void> => runAll(ofWorker);

/** The latest first. All of them run, whatever fails. */
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
