import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/sql.ts';

/** The driver's own notes on a query it has sent; a fragment of another has none. */
export type Query = { string?: string; parameters?: unknown[] };

/** Sees each statement of a service as the driver built it, with its parameters. */
export function watched(queries: Query[]) {
  const watch = (sql: Sql): Sql =>
    new Proxy(sql, {
      apply(target, self, args) {
        const query = Reflect.apply(target as never, self, args) as Query;
        queries.push(query);
        return query;
      },
    });
  return (db: Database): Database => ({ ...db, use: (work) => db.use((sql) => work(watch(sql))) });
}
