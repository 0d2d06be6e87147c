import { bigintOf, exactTime, type Tx } from '../../db/driver.ts';
import type { PageRange } from '../http/pagination.ts';
import type { Order, Search } from './filter.ts';
import { columns, usersNamed } from './queries.ts';
import type { Dept, Sort } from './schema.ts';

/**
 * Where the rows come from:
 * - `ids`: these departments.
 * - `subtree`: the descendants of `underId`.
 * - `index`: the index of the sort order, which is scanned until the page is full. With `maxScanned`, the scan stops after
 *   this many rows that match `cheapConditions`.
 *
 * Only `subtree` applies the filter `underId`.
 */
export type Source = { from: 'ids'; ids: string[] } | { from: 'subtree' } | { from: 'index'; maxScanned?: number };

/** A department with its sort key, as a cursor contains it. */
export type KeyedDept = Dept & { key: string };

/** The only expressions that an `order by` may contain; `text` is the key as a cursor contains it. */
const sortKeys = {
  orderNum: (tx: Tx) => ({ key: tx`d.order_num`, text: tx`d.order_num::text`, type: tx`int` }),
  deptName: (tx: Tx) => ({ key: tx`d.dept_name collate "C"`, text: tx`d.dept_name`, type: tx`text` }),
  createTime: (tx: Tx) => ({ key: tx`d.create_time`, text: exactTime(tx, tx`d.create_time`), type: tx`timestamptz` }),
  updateTime: (tx: Tx) => {
    // Departments that were never updated sort before all others. Under row-level security the planner does not trust
    // coalesce(), so it would not use the index to find where the page begins.
    const key = tx`(case when d.update_time is null then '-infinity'::timestamptz else d.update_time end)`;
    return { key, text: tx`coalesce(${exactTime(tx, tx`d.update_time`)}, '-infinity')`, type: tx`timestamptz` };
  },
} satisfies Record<Sort, unknown>;

/** Returns fragments: a subquery `d` with the rows of a page, its `order by`, and the text of the sort key. */
const selectPage = (tx: Tx, tenantId: string, search: Search, source: Source, order: Order, range: PageRange) => {
  const { key, text, type } = sortKeys[order.sort](tx);
  const orderBy = order.descending ? tx`${key} desc, d.dept_id desc` : tx`${key}, d.dept_id`;
  const operator = order.descending ? tx`<` : tx`>`;
  // Cast to text first: the driver converts timestamptz parameters to a Date, which has no microseconds.
  const after = range.after
    ? tx`and (${key}, d.dept_id) ${operator} (${range.after.key}::text::${type}, ${bigintOf(range.after.id)}::bigint)`
    : tx``;
  const candidates = tx`departments d where ${cheapConditions(tx, tenantId, search, source)} ${after}`;
  const matching = textConditions(tx, tenantId, search);
  const rows =
    source.from === 'index' && source.maxScanned !== undefined
      ? tx`(select * from ${candidates} order by ${orderBy} limit ${source.maxScanned}) d where true ${matching}`
      : tx`${candidates} ${matching}`;
  const page = tx`(select d.* from ${rows} order by ${orderBy} limit ${range.limit} offset ${range.offset ?? 0}) d`;
  return { page, orderBy, keyText: text };
};

/** Reads a page; `ancestors` is left empty. */
export const readPage = async (
  tx: Tx,
  tenantId: string,
  search: Search,
  source: Source,
  order: Order,
  range: PageRange,
): Promise<KeyedDept[]> => {
  const { page, orderBy, keyText } = selectPage(tx, tenantId, search, source, order, range);
  // The columns are computed outside of the subquery: for the rows of the page, and not for those that it skips.
  return tx<KeyedDept[]>`select ${columns(tx, tx`''`)}, ${keyText} as key from ${page} order by ${orderBy}`;
};

export const readPageIds = async (
  tx: Tx,
  tenantId: string,
  search: Search,
  source: Source,
  order: Order,
  range: PageRange,
): Promise<string[]> => {
  const { page, orderBy } = selectPage(tx, tenantId, search, source, order, range);
  const rows = await tx<{ id: string }[]>`select d.dept_id::text as id from ${page} order by ${orderBy}`;
  return rows.map(({ id }) => id);
};

export const countRows = async (tx: Tx, tenantId: string, search: Search, source: Source): Promise<number> => {
  const [{ total }] = await tx<[{ total: number }]>`
    select count(*) as total from departments d
    where ${cheapConditions(tx, tenantId, search, source)} ${textConditions(tx, tenantId, search)}`;
  return total;
};

/** The conditions that an index serves or that cost almost nothing for each row. */
const cheapConditions = (tx: Tx, tenantId: string, search: Search, rows: Source) => {
  const { status, source, externalId, parentId, underId } = search;
  return tx`
  d.tenant_id = ${tenantId} and d.del_flag = '0'
  ${rows.from === 'ids' ? tx`and d.dept_id = any(array(select unnest(${rows.ids}::bigint[])))` : tx``}
  ${rows.from === 'subtree' ? tx`and d.dept_id = any(array(${descendantIds(tx, tenantId, underId ?? '0')}))` : tx``}
  ${status === null ? tx`` : tx`and d.status = ${status}`}
  ${source === null ? tx`` : tx`and d.source = ${source}`}
  ${externalId === null ? tx`` : tx`and d.external_id = ${externalId}`}
  ${parentId === null ? tx`` : parentId === '0' ? tx`and d.parent_id is null` : tx`and d.parent_id = ${bigintOf(parentId)}`}`;
};

/** The conditions that compare text, which is expensive for each row. */
const textConditions = (tx: Tx, tenantId: string, { deptName, exact, leader }: Search) => tx`
  ${deptName !== null && exact ? tx`and lower(d.dept_name) = lower(${deptName})` : tx``}
  ${deptName === null ? tx`` : tx`and strpos(lower(d.dept_name), lower(${deptName})) > 0`}
  ${leader === null ? tx`` : hasLeader(tx, tenantId, leader)}`;

/** The leader's text contains `part` or, for departments that show the name of a user instead, that name does. */
const hasLeader = (tx: Tx, tenantId: string, part: string) => tx`
  and (strpos(lower(d.leader), lower(${part})) > 0
    or d.leader is null and d.leader_id is not null and d.leader_id = any(array(${usersNamed(tx, tenantId, part)})))`;

const descendantIds = (tx: Tx, tenantId: string, underId: string, maxRows: number | null = null) => tx`
  select id from department_descendants(${tenantId}, ${bigintOf(underId)}, ${maxRows}) as b (id)`;

/** Reads the ids of the descendants of a department; undefined when there are more than `maxRows`. */
export const readDescendantIds = async (tx: Tx, tenantId: string, underId: string, maxRows: number) => {
  const rows = await tx<{ id: string }[]>`
    select b.id::text from (${descendantIds(tx, tenantId, underId, maxRows + 1)}) b limit ${maxRows + 1}`;
  return rows.length > maxRows ? undefined : rows.map(({ id }) => id);
};

/** Finds departments by parts of the name and the leader with the search index; undefined when more than `maxRows` match. */
export const searchIds = async (tx: Tx, { deptName, leader }: Search, maxRows: number) => {
  const rows = await tx<{ id: string }[]>`
    select id::text from search_departments(${deptName}, ${leader}, ${maxRows + 1}) as f (id)`;
  return rows.length > maxRows ? undefined : rows.map(({ id }) => id);
};

/** Reads departments by their ids, which must be distinct; `ancestors` is left empty. */
export const readDepts = (tx: Tx, tenantId: string, deptIds: string[]) => tx<Dept[]>`
  select ${columns(tx, tx`''`)} from unnest(${deptIds.map(bigintOf)}::bigint[]) as wanted (id)
  cross join lateral (
    select * from departments d where d.tenant_id = ${tenantId} and d.dept_id = wanted.id limit 1
  ) d
  where d.del_flag = '0'`;

export const readExternalIds = (tx: Tx, tenantId: string, deptIds: string[]) => tx<
  { deptId: number; source: string | null; externalId: string | null }[]
>`
  select d.dept_id as "deptId", d.source, d.external_id as "externalId" from unnest(${deptIds}::bigint[]) as wanted (id)
  cross join lateral (
    select * from departments d where d.tenant_id = ${tenantId} and d.dept_id = wanted.id limit 1
  ) d`;

export const readNames = (tx: Tx, tenantId: string, deptIds: string[]) => tx<{ deptId: string; deptName: string }[]>`
  select d.dept_id::text as "deptId", d.dept_name as "deptName" from unnest(${deptIds}::bigint[]) as wanted (id)
  cross join lateral (
    select * from departments d where d.tenant_id = ${tenantId} and d.dept_id = wanted.id limit 1
  ) d`;
