import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/driver.ts';
import { firstSeed, MAX_DELAY_MS, seededRandom } from './scale.ts';

/** Wrappers of a service's database, for the option `wrapDatabase` of `startService`. */

/** A query as the driver built it. Fragments, which become parts of other queries, have neither property. */
export type Query = { string?: string; parameters?: unknown[] };

/** Adds each statement of the service to `queries`. */
export function captureQueries(queries: Query[]) {
  const capture = (sql: Sql): Sql =>
    new Proxy(sql, {
      apply(target, self, args) {
        const query = Reflect.apply(target as never, self, args) as Query;
        queries.push(query);
        return query;
      },
    });
  return (db: Database): Database => ({ ...db, use: (work) => db.use((sql) => work(capture(sql))) });
}

/** Awaits `first` before each statement that contains this text. */
export const runBeforeStatement =
  (text: string, first: () => Promise<void>) =>
  (db: Database): Database => {
    const delay = (sql: Sql) =>
      new Proxy(sql, {
        apply(target, self, args) {
          const query = Reflect.apply(target as never, self, args);
          return String(args[0]).includes(text) ? first().then(() => query) : query;
        },
      });
    return { ...db, use: (work) => db.use((sql) => work(delay(sql))) };
  };

const random = seededRandom(firstSeed);

/**
 * With BANYAN_TEST_DELAY_MS, about every fourth use of the database begins later, by up to this many milliseconds. It finds tests
 * that race with background work: requests and background work interleave differently than usual.
 */
export const delayRandomly = (db: Database): Database =>
  MAX_DELAY_MS === 0
    ? db
    : {
        ...db,
        use: async (work) => {
          if (random.below(4) === 0) await setTimeout(random.below(MAX_DELAY_MS));
          return db.use(work);
        },
      };

/** The ids in an array that the driver has sent as text. */
export const idsIn = (parameter: unknown) => String(parameter).match(/\d+/g) ?? [];
