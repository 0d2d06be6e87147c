import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../db/connect.ts';
import { errorCode } from '../../db/errors.ts';
import { apiError } from '../http/errors.ts';
import { invalid } from '../http/validation.ts';
import type { Timing } from '../timing.ts';
import type { PointInTime } from './history.ts';
import { readPointInTime } from './queries.ts';

export type { PointInTime };

interface Parts {
  db: Database;
  timing: Timing;
}

/** A transaction usually commits within milliseconds; the pause between two checks grows for those that do not. */
const PAUSE_MS = { first: 5, max: 200 };

/**
 * Resolves the time that a caller names once everything that was written until then is visible: it waits for transactions
 * that wrote before that time and have not committed yet. So the same time always shows the same state.
 */
export async function resolvePointInTime({ db, timing }: Parts, text: string, field = 'asOf'): Promise<PointInTime> {
  let wanted = text;
  let pause = PAUSE_MS.first;
  const until = performance.now() + timing.historyWaitMs;
  for (;;) {
    const { time, isFuture, isSettled, completeFrom } = await db
      .use((sql) => readPointInTime(sql, wanted))
      .catch((error) => {
        // A time such as the 31st of February passes the schema.
        throw errorCode(error).startsWith('2200') ? invalid(field, 'moment') : error;
      });
    if (isFuture) throw invalid(field, 'future');
    if (completeFrom) throw apiError('HISTORY_NOT_KEPT', { from: completeFrom });
    if (isSettled) return time;
    if (performance.now() > until) throw apiError('TOO_BUSY');
    wanted = time;
    await setTimeout(pause);
    pause = Math.min(pause * 2, PAUSE_MS.max);
  }
}

export const now = (parts: Parts): Promise<PointInTime> => resolvePointInTime(parts, 'now');
