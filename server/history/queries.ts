import { type Fragment, long, type Sql, type Tx } from '../../db/sql.ts';
import type { Dept } from '../departments/schema.ts';

/** A moment, exact to the microsecond, as text: of a time, the driver would drop them. */
export type Moment = string;

/**
 * The ledger is searched by its indexes alone, whatever the planner knows of it: it may have been small when it was last
 * looked at. Conditions on ids are ranges, and rows come in an order that only the right index has.
 */
export const keepToIndexes = (tx: Tx) => tx`
  select set_config(name, value, true) from (values ('plan_cache_mode', 'force_custom_plan'), ('jit', 'off'),
    ('enable_seqscan', 'off'), ('enable_bitmapscan', 'off'), ('enable_sort', 'off')) as setting (name, value)`;

type Kind = 'department' | 'tenant' | 'user';

/**
 * The latest change of a record until a moment. Changes of one record are in the order of their ids, also when the clock
 * was set back between them. A changed password is no change of the record.
 */
export const latest = (tx: Tx, tenantId: string, kind: Kind, id: Fragment, moment: Moment) => tx`
  select c.change_id, c.time, c.after from changes c
  where c.tenant_id = ${tenantId} and c.resource = ${kind} and c.resource_id >= ${id} and c.resource_id <= ${id}
    and c.time <= (select ${moment}::text::timestamptz) ${kind === 'user' ? tx`and c.action <> 'password changed'` : tx``}
  order by c.resource_id desc, c.change_id desc limit 1`;

/** A record as it was; undefined: it was not there. */
export const readRecord = async <T>(tx: Tx, tenantId: string, kind: Kind, id: string, moment: Moment) => {
  const [row] = await tx<{ after: T | null }[]>`${latest(tx, tenantId, kind, tx`${long(id)}::bigint`, moment)}`;
  return row?.after ?? undefined;
};

export interface Above {
  deptId: number;
  parentId: number;
  deptName: string;
}

/** Departments and all above them, each once. */
export const readAbove = (tx: Tx, tenantId: string, deptIds: number[], moment: Moment) => {
  const fields = tx`(c.after ->> 'parentId')::bigint, c.after ->> 'deptName'`;
  return tx<Above[]>`
    with recursive up (id, parent_id, name) as (
      select asked.id, ${fields} from unnest(${deptIds.map(String)}::bigint[]) asked (id)
      cross join lateral (${latest(tx, tenantId, 'department', tx`asked.id`, moment)}) c
      where c.after is not null
      union
      select up.parent_id, ${fields} from up
      cross join lateral (${latest(tx, tenantId, 'department', tx`up.parent_id`, moment)}) c
      where up.parent_id <> 0 and c.after is not null
    )
    select id as "deptId", parent_id as "parentId", name as "deptName" from up`;
};

/** The children of a department: of all that ever came to it, those that were there. */
export const childrenOf = (tx: Tx, tenantId: string, parent: Fragment, moment: Moment) => tx`
  select ever.id, c.change_id, c.time, c.after, (c.after ->> 'orderNum')::int as order_num from (
    select distinct on (e.parent_id, e.resource_id) e.resource_id as id from changes e
    where e.tenant_id = ${tenantId} and e.parent_id >= ${parent} and e.parent_id <= ${parent}
    order by e.parent_id, e.resource_id
  ) ever
  cross join lateral (${latest(tx, tenantId, 'department', tx`ever.id`, moment)}) c
  where (c.after ->> 'parentId')::bigint = ${parent}`;

export const hasChildren = (tx: Tx, tenantId: string, parent: Fragment, moment: Moment) => tx`
  exists (${childrenOf(tx, tenantId, parent, moment)} limit 1)`;

export const listChildren = (
  tx: Tx,
  tenantId: string,
  parentId: string,
  { moment, after, limit }: { moment: Moment; after: { key: string; id: string } | undefined; limit: number },
) => tx<{ dept: Dept; hasChildren: boolean }[]>`
  select d.after as dept, ${hasChildren(tx, tenantId, tx`d.id`, moment)} as "hasChildren" from (
    select d.* from (${childrenOf(tx, tenantId, tx`${long(parentId)}::bigint`, moment)}) d
    ${after ? tx`where (d.order_num, d.id) > (${after.key}::int, ${long(after.id)}::bigint)` : tx``}
    order by d.order_num, d.id limit ${limit}
  ) d order by d.order_num, d.id`;

export interface LifeRow {
  id: number;
  time: string;
  by: string;
  action: string;
  before: object | null;
  after: object | null;
}

/** The changes of one department, from a change on in either direction. */
export const readLife = (
  tx: Tx,
  tenantId: string,
  deptId: string,
  { oldestFirst, beyond, limit }: { oldestFirst: boolean; beyond: string | undefined; limit: number },
) => {
  const [further, direction] = oldestFirst ? [tx`>`, tx`asc`] : [tx`<`, tx`desc`];
  return tx<LifeRow[]>`
    select c.change_id as id, to_char(c.time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as time,
      c.by_name as by, c.action, c.before, c.after
    from changes c
    where c.tenant_id = ${tenantId} and c.resource = 'department'
      and c.resource_id >= ${long(deptId)} and c.resource_id <= ${long(deptId)}
      ${beyond === undefined ? tx`` : tx`and c.change_id ${further} ${beyond}`}
    order by c.resource_id ${direction}, c.change_id ${direction} limit ${limit}`;
};

/** Whether there ever was such a department. */
export const everWas = async (tx: Tx, tenantId: string, deptId: string): Promise<boolean> => {
  const rows = await tx`select from departments d where d.tenant_id = ${tenantId} and d.dept_id = ${long(deptId)}`;
  return rows.length > 0;
};

/** Departments with changes between two moments, at most `limit`, as they were at both. */
export const readBoth = (tx: Tx, tenantId: string, from: Moment, to: Moment, limit: number) => tx<
  { before: Dept | null; after: Dept | null }[]
>`
  select b.after as before, a.after from (
    select distinct c.resource_id as id from changes c
    where c.tenant_id = ${tenantId} and c.resource = 'department'
      and c.time > (select ${from}::text::timestamptz) and c.time <= (select ${to}::text::timestamptz)
    limit ${limit}
  ) touched
  left join lateral (${latest(tx, tenantId, 'department', tx`touched.id`, from)}) b on true
  left join lateral (${latest(tx, tenantId, 'department', tx`touched.id`, to)}) a on true
  order by touched.id`;

/**
 * A moment, and whether all that was written until then can be seen: the time of a change is that of the write, and what
 * is written is seen when it is committed. Whoever writes has a transaction id, and began before he wrote.
 */
export const readMoment = async (sql: Sql, text: string) => {
  const [row] = await sql<[{ moment: Moment; future: boolean; settled: boolean; keptFrom: string | null }]>`
    select to_char(m.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as moment,
      m.at > clock_timestamp() as future,
      (select to_char(kept_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') from ledger_state
        where m.at < kept_from) as "keptFrom",
      not exists (
        select from pg_stat_activity a
        where a.datname = current_database() and a.backend_xid is not null and a.xact_start <= m.at
      ) as settled
    from (select coalesce(nullif(${text}, 'now')::timestamptz, clock_timestamp()) as at offset 0) m`;
  return row;
};
