import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/driver.ts';

/** Wrappers of a service's database, for the option `wrapDatabase` of `startService`. */

/** A query as the driver built it. Fragments of other queries have neither property. */
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
