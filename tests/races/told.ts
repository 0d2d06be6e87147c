import fs from 'node:fs';

/** What a follower (follower.ts) is told by the test, and what he keeps for it. */

export interface Order {
  base: string;
  token: string;
  file: string;
  /** By calls that wait for news, or as server-sent events. */
  way: 'calls' | 'events';
}

/** A line of the file. */
export interface Piece {
  rows: unknown[];
  next: string;
}

/** What he had kept when he was killed, without a last line that was not written to its end. */
export function readPieces(file: string): Piece[] {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
