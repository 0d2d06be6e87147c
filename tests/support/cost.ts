import type { Sql } from '../../db/driver.ts';
import { readServiceLogin } from '../../db/roles.ts';
import { afterFile } from './cleanup.ts';
import { connectWithoutDeadline } from './database.ts';
import type { Service } from './service.ts';
import type { Query } from './statements.ts';

/** The cost of statements in rows and blocks, which do not depend on the speed of the machine. */

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

/** Counts the rows of a table that a plan has read, including those that it filtered out. */
const countRows = (plan: Plan, table: string): number =>
  (plan['Relation Name'] === table
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0) + (plan.Plans ?? []).reduce((sum, inner) => sum + countRows(inner, table), 0);

/** Connects with the service's own role, to which row-level security applies. */
export async function connectAsService({ superuser, databaseUrl }: Service): Promise<Sql> {
  const address = Object.assign(new URL(databaseUrl), await readServiceLogin(superuser));
  const connection = connectWithoutDeadline({ url: address.href });
  afterFile(() => connection.end());
  return connection;
}

/** Repeats the statements that name tables with this prefix. Counts the rows that they read from these, also in functions. */
export async function countRowsRead(
  connection: Sql,
  tenantId: string,
  queries: Query[],
  prefix: string,
): Promise<{ statements: number; rows: number }> {
  const sent = queries.filter(({ string }) => string?.includes(prefix));
  const rows = await connection.begin(async (tx) => {
    await tx`select set_config('banyan.tenant', ${tenantId}, true)`;
    const count = async () => {
      const [row] = await tx<[{ rows: number }]>`
        select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint as rows from pg_stat_xact_user_tables
        where schemaname = 'banyan' and starts_with(relname, ${prefix})`;
      return row.rows;
    };
    const before = await count();
    for (const { string = '', parameters = [] } of sent) await tx.unsafe(string, parameters as never[]);
    return (await count()) - before;
  });
  return { statements: sent.length, rows };
}

/**
 * Repeats the statements that read a table, in the case of departments also through functions. Counts the rows of the table
 * (except in functions) and all blocks that they read.
 */
export async function measureCost(
  connection: Sql,
  tenantId: string,
  queries: Query[],
  table: 'departments' | 'users' | 'user_departments' = 'departments',
): Promise<{ statements: number; rows: number; blocks: number }> {
  const reads =
    table === 'departments'
      ? /\bfrom (departments|find_departments|search_departments|department_descendants)\b/
      : new RegExp(`\\bfrom ${table}\\b`);
  const sent = queries.filter(({ string }) => reads.test(string ?? ''));
  let [rows, blocks] = [0, 0];
  for (const { string = '', parameters = [] } of sent) {
    await connection.begin(async (tx) => {
      await tx`select set_config('banyan.tenant', ${tenantId}, true)`;
      const [{ 'QUERY PLAN': explained }] = await tx.unsafe<[{ 'QUERY PLAN': [{ Plan: Plan }] }]>(
        `explain (analyze, buffers, timing off, format json) ${string}`,
        parameters as never[],
      );
      const [{ Plan: plan }] = explained;
      rows += countRows(plan, table);
      blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    });
  }
  return { statements: sent.length, rows: Math.round(rows), blocks };
}
