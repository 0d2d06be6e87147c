import type { Output } from '../../server/http/access-log.ts';

/** The last log lines of the services in this process. The reporter prints them with a failed test. */

const MAX_LINES = 40;
const lines: string[] = [];

export const recentLog: Output = {
  write(line) {
    lines.push(line.trimEnd());
    if (lines.length > MAX_LINES) lines.shift();
  },
};

/** Returns and clears the lines, so that each failure shows its own. */
export const takeRecentLog = (): string[] => lines.splice(0);
