import { connectOwner, type Sql } from '../../db/sql.ts';
import { afterFile } from './cleanup.ts';
import type { Service } from './service.ts';
import type { Query } from './watched.ts';

/** What statements of the service cost: rows and blocks, which no slow machine changes. */

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

/** Rows of departments that a plan looked at, those that it threw away included. */
const looked = (plan: Plan): number =>
  (plan['Relation Name'] === 'departments'
    ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
    : 0) + (plan.Plans ?? []).reduce((sum, inner) => sum + looked(inner), 0);

/** A connection with the service's own role: row security applies to it as to the service. */
export async function connectLikeService({ superuser, databaseUrl }: Service): Promise<Sql> {
  const [{ role, password }] = await superuser<[{ role: string; password: string }]>`
    select role, password from banyan.service_login`;
  const address = Object.assign(new URL(databaseUrl), { username: role, password });
  const connection = connectOwner({ url: address.href });
  afterFile(() => connection.end());
  return connection;
}

/** Repeats the statements that read departments. Counts the rows they look at (not in functions) and all blocks. */
export async function costOf(
  connection: Sql,
  tenantId: string,
  queries: Query[],
): Promise<{ statements: number; rows: number; blocks: number }> {
  const sent = queries.filter(({ string }) => /\bfrom departments|departments_(found|below)/.test(string ?? ''));
  let [rows, blocks] = [0, 0];
  for (const { string = '', parameters = [] } of sent) {
    await connection.begin(async (tx) => {
      await tx`select set_config('banyan.tenant', ${tenantId}, true)`;
      const [{ 'QUERY PLAN': explained }] = await tx.unsafe<[{ 'QUERY PLAN': [{ Plan: Plan }] }]>(
        `explain (analyze, buffers, timing off, format json) ${string}`,
        parameters as never[],
      );
      const [{ Plan: plan }] = explained;
      rows += looked(plan);
      blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    });
  }
  return { statements: sent.length, rows: Math.round(rows), blocks };
}
