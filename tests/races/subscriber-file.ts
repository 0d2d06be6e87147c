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

/** Reads what a subscriber had saved when it was killed. Ignores an incomplete last line. */
export function readBatches(file: string): Batch[] {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  return complete
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
