import { once } from 'node:events';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { isOle2, isZip } from './file-kind.ts';
import { readCsv } from './read-csv.ts';
import { ReadError, type ReadProblem } from './read-error.ts';
import { piecesOf } from './rows.ts';
import type { SheetRow } from './sheet.ts';
import type { Report } from './write-report.ts';

/**
 * The code of the worker thread that reads a file: parsing takes seconds, and a hostile file may use up the thread's
 * memory. Each file has its own thread, so the code for workbooks is loaded only for those: it takes longer than
 * reading a small CSV file.
 */

async function read(bytes: Uint8Array): Promise<SheetRow[]> {
  if (bytes.length === 0) throw new ReadError('empty');
  if (isOle2(bytes)) throw new ReadError('oldFormat');
  const rows = isZip(bytes) ? await (await import('./read-xlsx.ts')).readXlsx(bytes) : readCsv(bytes);
  if (rows.length === 0) throw new ReadError('empty');
  return rows;
}

const port = parentPort as MessagePort;
try {
  const { bytes, report } = workerData as WorkerTask;
  const rows = await read(bytes);
  if (report) {
    const { writeReport } = await import('./write-report.ts');
    const file = await writeReport(rows, report);
    port.postMessage({ file } satisfies WorkerMessage);
  } else {
    // Wait until the service has received a piece: it would receive all that are queued at once, and do nothing else meanwhile.
    for (const piece of piecesOf(rows)) {
      const received = once(port, 'message');
      port.postMessage({ rows: piece } satisfies WorkerMessage);
      await received;
    }
  }
  port.postMessage({ done: true } satisfies WorkerMessage);
} catch (error) {
  const { problem, row } = error instanceof ReadError ? error : new ReadError('damaged');
  port.postMessage({ problem, row } satisfies WorkerMessage);
}

export interface WorkerTask {
  bytes: Uint8Array;
  /** Instead of the rows, return the file with its errors. */
  report?: Report;
}

export type WorkerMessage =
  | { rows: SheetRow[] }
  | { file: Uint8Array }
  | { problem: ReadProblem; row: number | undefined }
  | { done: true };
