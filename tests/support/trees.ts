import http from 'node:http';
import type { Sql } from '../../db/driver.ts';
import type { Client } from './service.ts';

/** Helpers that insert large trees directly into the database, and read them as slowly as a test wants. */

/**
 * Inserts `count` departments with the ids `first` + n, where n counts from 1. `parentOf` is an SQL expression for the n of the
 * parent; null makes a top-level department. Skips the ledger, because sealing all changes in the background would be slow.
 */
export const insertDepartments = (
  superuser: Sql,
  tenantId: string,
  {
    first,
    count,
    parentOf,
    name = `'部门 ' || n`,
    leader = `case when n % 3 = 0 then '张三 "' || n end`,
  }: { first: number; count: number; parentOf: string; name?: string; leader?: string },
) =>
  superuser.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx.unsafe(
      `insert into banyan.departments (tenant_id, dept_id, parent_id, dept_name, order_num, leader, status, create_by)
        select $1, ${first} + n, ${first} + (${parentOf}), ${name}, (n::bigint * 7919 % 5)::int,
          ${leader}, case when n % 11 = 0 then '1' else '0' end, 'test'
        from generate_series(1, ${count}) n`,
      [tenantId],
    );
  });

/** Drops the indexes that only searches and sorted lists use: without them inserts are several times faster. */
export const dropSearchIndexes = (superuser: Sql) =>
  superuser`drop index departments_search, departments_by_name, departments_by_creation, departments_by_update`;

interface Row {
  deptId: number;
  parentId: number;
}

/** Returns the expected response text of a tree, computed in a simple way from all rows. */
export async function expectedTree(superuser: Sql, tenantId: string, rootId = 0): Promise<string> {
  const rows = await superuser<Row[]>`
    select dept_id as "deptId", coalesce(parent_id, 0) as "parentId", dept_name as "deptName", order_num as "orderNum",
      leader, status
    from departments where tenant_id = ${tenantId} and del_flag = '0' order by order_num, dept_id`;
  const nodes = new Map(rows.map((row) => [row.deptId, { ...row, hasChildren: false, children: [] as unknown[] }]));
  const roots: unknown[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.parentId);
    if (parent) parent.hasChildren = true;
    if (node.deptId === rootId || (rootId === 0 && !parent)) roots.push(node);
    else parent?.children.push(node);
  }
  return JSON.stringify({ code: 200, msg: '操作成功', data: roots });
}

export interface UnreadResponse {
  response: http.IncomingMessage;
  /** Reads the rest until the response ends or is aborted. */
  rest(): Promise<{ bytes: number; complete: boolean; text: () => string }>;
}

/** Requests a tree and reads nothing of the body yet. */
export const requestTree = (client: Client, query = ''): Promise<UnreadResponse> =>
  requestUnread(client, `/system/dept-api/tree${query && `?${query}`}`);

/** Sends a GET request and reads nothing of the body yet. */
export function requestUnread({ base, token }: Client, path: string): Promise<UnreadResponse> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const request = http.get(base + path, { headers, agent: false }, (response) => {
      response.pause();
      const rest = () =>
        new Promise<{ bytes: number; complete: boolean; text: () => string }>((done) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('error', () => {});
          response.on('close', () => {
            const all = Buffer.concat(chunks);
            done({ bytes: all.length, complete: response.complete, text: () => all.toString() });
          });
          response.resume();
        });
      resolve({ response, rest });
    });
    request.on('error', reject);
  });
}

/** Counts the open transactions of the service, without those of background work. */
export async function countOpenTransactions(superuser: Sql): Promise<number> {
  const [row] = await superuser<[{ count: number }]>`
    select count(*) from pg_stat_activity
    where datname = current_database() and usename like 'banyan\\_service%' and xact_start is not null
      and query !~ 'due_webhooks|tenants_with_unsealed_changes|seal_changes|order_changes|change_order|mark_subtree_webhooks_due'`;
  return row.count;
}
