import type { Database } from '../db/connect.ts';
import type { Sql, Tx } from '../db/sql.ts';

/** The driver's own notes on a query it has sent; a fragment of another has none. */
export type Query = { string?: string; parameters?: unknown[] };

/** Sees each statement of a service as the driver built it, with its parameters. */
export function watched(queries: Query[]) {
  const watch = <T extends Sql | Tx>(sql: T): T =>
    new Proxy(sql, {
      apply(target, self, args) {
        const query = Reflect.apply(target as never, self, args) as Query;
        queries.push(query);
        return query;
      },
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name !== 'begin' && name !== 'savepoint') return value;
        return (...args: unknown[]) => {
          const work = args.pop() as (tx: Tx) => Promise<unknown>;
          return Reflect.apply(value as () => unknown, target, [...args, (tx: Tx) => work(watch(tx))]);
        };
      },
    });
  return (db: Database): Database => ({ ...db, sql: watch(db.sql) });
}
