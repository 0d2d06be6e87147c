import { setTimeout } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { Database } from '../../db/connect.ts';
import { errorCode } from '../../db/errors.ts';
import { readAs } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { invalid } from '../http/validation.ts';
import type { Timing } from '../timing.ts';
import type { PointInTime } from './history.ts';
import { readPointInTime } from './queries.ts';

export type { PointInTime };

interface Dependencies {
  db: Database;
  timing: Timing;
}

/**
 * Converts PostgreSQL's error about a time that passes the schema, such as the 31st of February. Rethrows any other error. `times`
 * are the texts that the caller sent, by field; PostgreSQL's message contains the invalid one.
 */
export const asInvalidTime =
  (times: Readonly<Record<string, string | undefined>>) =>
  (error: unknown): never => {
    if (!errorCode(error).startsWith('2200')) throw error;
    const { message } = error as Error;
    const [field = 'time'] = Object.entries(times).find(([, text]) => text && message.includes(text)) ?? [];
    throw invalid(field, 'time');
  };

/** A transaction usually commits within milliseconds; the pause between two checks grows for those that do not. */
const PAUSE_MS = { first: 5, max: 200 };

/**
 * Parses a time that a caller sent, and waits until all changes up to that time are visible: transactions that wrote before
 * it may not have committed yet. So two reads with the same `asOf` always return the same state. A caller who has no access
 * does not wait.
 */
export async function resolvePointInTime(
  { db, timing }: Dependencies,
  request: FastifyRequest,
  text: string,
  field = 'asOf',
): Promise<PointInTime> {
  let wanted = text;
  let pause = PAUSE_MS.first;
  const deadline = performance.now() + timing.historyWaitMs;
  for (;;) {
    const { time, isFuture, isSettled, completeFrom } = await db
      .use((sql) => readPointInTime(sql, wanted))
      .catch(asInvalidTime({ [field]: wanted }));
    if (isFuture) throw invalid(field, 'future');
    if (completeFrom) throw apiError('HISTORY_NOT_KEPT', { from: completeFrom });
    if (isSettled) return time;
    if (pause === PAUSE_MS.first) await readAs(db, request, async () => {});
    if (performance.now() > deadline) throw apiError('TOO_BUSY');
    wanted = time;
    await setTimeout(pause);
    pause = Math.min(pause * 2, PAUSE_MS.max);
  }
}

/**
 * Returns the present time, for a caller who named none. It does not wait: like any read of the present, theirs sees what has
 * been committed.
 */
export const now = async ({ db }: Pick<Dependencies, 'db'>): Promise<PointInTime> =>
  (await db.use((sql) => readPointInTime(sql, 'now'))).time;
