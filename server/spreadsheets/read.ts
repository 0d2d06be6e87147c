import { Worker } from 'node:worker_threads';
import { KeyedSemaphore, Semaphore } from '../../db/semaphore.ts';
import { apiError } from '../http/errors.ts';
import type { ReadProblem } from './read-error.ts';
import type { WorkerMessage, WorkerTask } from './read-worker.ts';
import { MAX_CELL_LENGTH, MAX_COLUMNS, MAX_ROWS, type SheetRow } from './sheet.ts';
import type { Report } from './write-report.ts';

interface ReadOptions {
  /** Aborts when nobody waits for the file any more. */
  signal?: AbortSignal | undefined;
  /** A file has to be read within this time. 100,000 rows take about 10 seconds on a busy machine. */
  readMs?: number;
  heapMegabytes?: number;
}

/** How many files a process reads at the same time: each takes a CPU and up to `heapMegabytes`. */
const reading = new Semaphore(2);
/** Files of one owner, a top-level tenant, wait for each other, so that they do not take all of these slots for a long time. */
const perOwner = new KeyedSemaphore(1);

/** Reads a spreadsheet: xlsx, or CSV in UTF-8, UTF-16 or GBK. Rows without content are left out. */
export async function readSpreadsheet(
  bytes: Uint8Array,
  owner: string,
  options: ReadOptions = {},
): Promise<SheetRow[]> {
  const rows: SheetRow[] = [];
  await runWorker({ bytes }, owner, options, (message) => {
    if ('rows' in message) for (const row of message.rows) rows.push(row);
  });
  return rows;
}

/** Returns the file with a further column for its errors. */
export async function reportErrors(
  bytes: Uint8Array,
  report: Report,
  owner: string,
  options: ReadOptions = {},
): Promise<Uint8Array> {
  let file: Uint8Array | undefined;
  await runWorker({ bytes, report }, owner, options, (message) => {
    if ('file' in message) ({ file } = message);
  });
  return file as Uint8Array;
}

const runWorker = (
  workerData: WorkerTask,
  owner: string,
  options: ReadOptions,
  receive: (message: WorkerMessage) => void,
): Promise<void> => {
  const { signal } = options;
  return perOwner.run(owner, () => reading.run(() => startWorker(workerData, options, receive), signal), signal);
};

const startWorker = (
  workerData: WorkerTask,
  { signal, readMs = 60_000, heapMegabytes = 1_024 }: ReadOptions,
  receive: (message: WorkerMessage) => void,
) =>
  new Promise<void>((resolve, reject) => {
    const worker = new Worker(new URL('./read-worker.js', import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    });
    let settled = false;
    const end = (error?: unknown) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      // The next file is read only when the memory of this thread is free again.
      worker.terminate().then(() => (error ? reject(error) : resolve()), reject);
    };
    const settle = (problem?: ReadProblem, row?: number) => end(problem && readError(problem, row));
    const abort = () => end(signal?.reason);
    signal?.addEventListener('abort', abort);
    const timer = setTimeout(() => settle('slow'), readMs);
    worker.on('message', (message: WorkerMessage) => {
      if ('problem' in message) settle(message.problem, message.row);
      else if ('done' in message) settle();
      else if (!settled) {
        receive(message);
        // The worker sends the next piece after other requests have had their turn.
        setImmediate(() => worker.postMessage('received'));
      }
    });
    // It has used up its memory.
    worker.on('error', () => settle('tooLarge'));
    worker.on('exit', () => settle('damaged'));
  });

function readError(problem: ReadProblem, row = 0) {
  if (problem === 'rows') return apiError('TOO_MANY_ROWS', { limit: MAX_ROWS });
  if (problem === 'quote') return apiError('FILE_UNREADABLE', { problem: openQuote(row) });
  return apiError('FILE_UNREADABLE', { problem: problems[problem] });
}

const openQuote = (row: number) => ({
  zh: `第 ${row} 行有未结束的引号（"），请补全或删除引号，或另存为 xlsx`,
  en: `a quotation mark in row ${row} is never closed. Close or remove it, or save the file as xlsx`,
});

const problems = {
  empty: { zh: '文件没有内容', en: 'it has no content' },
  damaged: {
    zh: '不是有效的 xlsx 或 csv 文件，请用 Excel 或 WPS 打开后另存为 xlsx',
    en: 'it is not a valid xlsx or csv file. Open it in a spreadsheet program and save it as xlsx',
  },
  encrypted: { zh: '文件有密码保护，请取消密码后重试', en: 'it is protected by a password. Remove the password' },
  oldFormat: {
    zh: '不支持 .xls 格式和有密码保护的文件，请另存为不带密码的 xlsx',
    en: 'it is an .xls file, or protected by a password. Save it as xlsx without a password',
  },
  encoding: {
    zh: '无法识别文件编码，请另存为 xlsx，或保存为 UTF-8 或 GBK 编码的 csv',
    en: 'its encoding is not UTF-8, UTF-16 or GBK. Save it as xlsx, or as csv in UTF-8',
  },
  tooLarge: {
    zh: '文件内容过大，请删除多余的行、列、图片和格式后重试',
    en: 'its content is too large. Remove unused rows, columns, images and formats',
  },
  columns: {
    zh: `超过 ${MAX_COLUMNS} 列，请删除多余的列后重试`,
    en: `it has more than ${MAX_COLUMNS} columns. Remove unused columns`,
  },
  cell: {
    zh: `有单元格超过 ${MAX_CELL_LENGTH} 个字符，请缩短后重试`,
    en: `a cell has more than ${MAX_CELL_LENGTH} characters. Shorten it`,
  },
  slow: { zh: '读取时间过长，请拆分文件后重试', en: 'reading it takes too long. Split it' },
} satisfies Record<Exclude<ReadProblem, 'rows' | 'quote'>, Record<'zh' | 'en', string>>;
