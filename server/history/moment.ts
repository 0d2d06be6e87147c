import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../db/connect.ts';
import { codeOf } from '../../db/sql.ts';
import { refuse } from '../http/refusals.ts';
import { invalid } from '../http/validation.ts';
import type { Timing } from '../timing.ts';
import { type Moment, readMoment } from './queries.ts';

export type { Moment };

interface MomentParts {
  db: Database;
  timing: Timing;
}

/** What is written at this moment is mostly committed in the next; what is not may take its time. */
const LOOK_AGAIN_MS = { first: 5, most: 200 };

/**
 * The moment that a caller names. When it is told, all that was done until then can be seen, so whoever asks for it
 * again is told the same: who wrote before it and has not committed yet is waited for.
 */
export async function momentOf({ db, timing }: MomentParts, text: string, field = 'asOf'): Promise<Moment> {
  let asked = text;
  let pause = LOOK_AGAIN_MS.first;
  const until = performance.now() + timing.historyWaitMs;
  for (;;) {
    const { moment, future, settled, keptFrom } = await db
      .use((sql) => readMoment(sql, asked))
      .catch((error) => {
        // Such as the 31st of February.
        throw codeOf(error).startsWith('2200') ? invalid(field, 'moment') : error;
      });
    if (future) throw invalid(field, 'future');
    if (keptFrom) throw refuse('HISTORY_NOT_KEPT', { from: keptFrom });
    if (settled) return moment;
    if (performance.now() > until) throw refuse('TOO_BUSY');
    asked = moment;
    await setTimeout(pause);
    pause = Math.min(pause * 2, LOOK_AGAIN_MS.most);
  }
}

export const now = (parts: MomentParts): Promise<Moment> => momentOf(parts, 'now');
