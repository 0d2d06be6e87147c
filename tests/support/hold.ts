import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/sql.ts';

/** Runs `first` before each statement that contains this text, and only then the statement. For `between` of a service. */
export const holdStatement =
  (text: string, first: () => Promise<void>) =>
  (db: Database): Database => {
    const hold = (sql: Sql) =>
      new Proxy(sql, {
        apply(target, self, args) {
          const query = Reflect.apply(target as never, self, args);
          return String(args[0]).includes(text) ? first().then(() => query) : query;
        },
      });
    return { ...db, use: (work) => db.use((sql) => work(hold(sql))) };
  };
