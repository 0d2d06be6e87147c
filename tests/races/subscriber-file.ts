import fs from 'node:fs';

/** The options that the test sends to a subscriber process (subscriber.ts), and the file in which the subscriber saves changes. */

export interface SubscriberOptions {
  base: string;
  token: string;
  file: string;
  /** Long polling, or server-sent events. */
  transport: 'polling' | 'events';
  /** Whether it reads the tenants below too. */
  below?: boolean;
}

/** One line of the file. */
export interface Batch {
  rows: unknown[];
  next: string;
}

/** The file in which a subscriber describes its current request, for the message of a test that fails. */
export const stateFile = (file: string): string => `${file}.state`;

/** Reads what a subscriber has saved. Ignores an incomplete last line. */
export const readBatches = (file: string): Batch[] => readLines(file).map((line) => JSON.parse(line));

/** Reads the cursor of the last batch. Tests poll it, so it parses nothing else. */
export function readCursor(file: string): string {
  const last = readLines(file).at(-1);
  return last === undefined ? '0' : (JSON.parse(last) as Batch).next;
}

function readLines(file: string): string[] {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  return text.split('\n').slice(0, -1);
}
