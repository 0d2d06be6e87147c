import type { Output } from '../../server/http/log.ts';

/** The last lines that the services of this process logged. The reporter prints them beside a failed test. */

const KEPT = 40;
const lines: string[] = [];

export const recentLog: Output = {
  write(line) {
    lines.push(line.trimEnd());
    if (lines.length > KEPT) lines.shift();
  },
};

/** Returns the lines and forgets them: each failure shows its own. */
export const takeRecentLog = (): string[] => lines.splice(0);
