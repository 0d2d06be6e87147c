import { type Fragment, long, type Tx } from '../../db/sql.ts';
import type { Place } from '../http/cursor.ts';
import { columns } from './queries.ts';
import type { Dept, Sort } from './schema.ts';

/** What a list is asked for; null: any. */
export interface Search {
  deptName: string | null;
  leader: string | null;
  status: string | null;
  /** '0': top level. */
  parentId: string | null;
  underId: string | null;
}

/**
 * Where the rows come from. `ids`: these departments. `branch`: walked down from `underId`. `order`: the index of the
 * order, where every row is looked at until there are enough, or no more than `look`; then whether they are in the branch
 * is not asked.
 */
export type Source = { from: 'ids'; ids: string[] } | { from: 'branch' } | { from: 'order'; look?: number };

export interface Order {
  sort: Sort;
  descending: boolean;
}

export interface Cut {
  after?: Place;
  limit: number;
  offset?: number;
}

/** A row, and its key in the order of the list, as a cursor has it. */
export type Keyed = Dept & { key: string };

/** The only texts that ever stand in an `order by`. */
const keys = {
  orderNum: (tx: Tx) => ({ key: tx`d.order_num`, shown: tx`d.order_num::text`, type: tx`int` }),
  deptName: (tx: Tx) => ({ key: tx`d.dept_name collate "C"`, shown: tx`d.dept_name`, type: tx`text` }),
  createTime: (tx: Tx) => ({ key: tx`d.create_time`, shown: exact(tx, tx`d.create_time`), type: tx`timestamptz` }),
  updateTime: (tx: Tx) => {
    // Never updated is before all updates.
    const key = tx`coalesce(d.update_time, '-infinity'::timestamptz)`;
    return { key, shown: tx`coalesce(${exact(tx, tx`d.update_time`)}, '-infinity')`, type: tx`timestamptz` };
  },
} satisfies Record<Sort, unknown>;

const exact = (tx: Tx, time: Fragment) => tx`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** A page: its rows `d` as a part of a statement, what they are sorted by, and the key that each shows. */
const cutOut = (tx: Tx, tenantId: string, search: Search, source: Source, order: Order, cut: Cut) => {
  const { key, shown, type } = keys[order.sort](tx);
  const inOrder = order.descending ? tx`${key} desc, d.dept_id desc` : tx`${key}, d.dept_id`;
  const beyond = order.descending ? tx`<` : tx`>`;
  // As text first: of a time, the driver would drop the microseconds.
  const after = cut.after
    ? tx`and (${key}, d.dept_id) ${beyond} (${cut.after.key}::text::${type}, ${long(cut.after.id)}::bigint)`
    : tx``;
  const costly = narrow(tx, search);
  const rows =
    source.from === 'order' && source.look !== undefined
      ? tx`(select * from departments d where ${plain(tx, tenantId, search, source)} ${after}
          order by ${inOrder} limit ${source.look}) d where true ${costly}`
      : tx`departments d where ${plain(tx, tenantId, search, source)} ${after} ${costly}`;
  const page = tx`(select d.* from ${rows} order by ${inOrder} limit ${cut.limit} offset ${cut.offset ?? 0}) d`;
  return { page, inOrder, shown };
};

/** `ancestors` is left to paths.ts. */
export const readPage = async (
  tx: Tx,
  tenantId: string,
  search: Search,
  source: Source,
  order: Order,
  cut: Cut,
): Promise<Keyed[]> => {
  const { page, inOrder, shown } = cutOut(tx, tenantId, search, source, order, cut);
  // The page first, its columns then: they cost something for the rows that are shown, not for those before them.
  return tx<Keyed[]>`select ${columns(tx, tx`''`)}, ${shown} as key from ${page} order by ${inOrder}`;
};

/** The ids of a page. */
export const readIds = async (
  tx: Tx,
  tenantId: string,
  search: Search,
  source: Source,
  order: Order,
  cut: Cut,
): Promise<string[]> => {
  const { page, inOrder } = cutOut(tx, tenantId, search, source, order, cut);
  const rows = await tx<{ id: string }[]>`select d.dept_id::text as id from ${page} order by ${inOrder}`;
  return rows.map(({ id }) => id);
};

export const countRows = async (tx: Tx, tenantId: string, search: Search, source: Source): Promise<number> => {
  const [{ total }] = await tx<[{ total: number }]>`
    select count(*) as total from departments d
    where ${plain(tx, tenantId, search, source)} ${narrow(tx, search)}`;
  return total;
};

/** The conditions that an index serves, or that cost next to nothing. */
const plain = (tx: Tx, tenantId: string, { status, parentId, underId }: Search, source: Source) => tx`
  d.tenant_id = ${tenantId} and d.del_flag = '0'
  ${source.from === 'ids' ? tx`and d.dept_id = any(array(select unnest(${source.ids}::bigint[])))` : tx``}
  ${source.from === 'branch' ? tx`and d.dept_id = any(array(${below(tx, tenantId, underId ?? '0')}))` : tx``}
  ${status === null ? tx`` : tx`and d.status = ${status}`}
  ${parentId === null ? tx`` : parentId === '0' ? tx`and d.parent_id is null` : tx`and d.parent_id = ${long(parentId)}`}`;

/** The conditions that cost something for each row. */
const narrow = (tx: Tx, { deptName, leader }: Search) => tx`
  ${deptName === null ? tx`` : tx`and strpos(lower(d.dept_name), lower(${deptName})) > 0`}
  ${leader === null ? tx`` : tx`and strpos(lower(d.leader), lower(${leader})) > 0`}`;

/** The ids of a branch, without the department at its top. With `atMost`, not all where there are more. */
export const below = (tx: Tx, tenantId: string, underId: string, atMost: number | null = null) => tx`
  select id from departments_below(${tenantId}, ${long(underId)}, ${atMost}) as b (id)`;

/** The ids of a branch, unless there are more than `few`: then undefined. */
export const fewBelow = async (tx: Tx, tenantId: string, underId: string, few: number) => {
  const rows = await tx<{ id: string }[]>`
    select b.id::text from (${below(tx, tenantId, underId, few + 1)}) b limit ${few + 1}`;
  return rows.length > few ? undefined : rows.map(({ id }) => id);
};

/** The ids that have these parts in name and leader, by the index, unless there are more than `few`. */
export const fewFound = async (tx: Tx, { deptName, leader }: Search, few: number) => {
  const rows = await tx<{ id: string }[]>`
    select id::text from departments_found(${deptName}, ${leader}, ${few + 1}) as f (id)`;
  return rows.length > few ? undefined : rows.map(({ id }) => id);
};

/** The departments of these ids, each once; `ancestors` is left to paths.ts. */
export const readDepts = (tx: Tx, tenantId: string, deptIds: string[]) => tx<Dept[]>`
  select ${columns(tx, tx`''`)} from unnest(${deptIds.map(long)}::bigint[]) as asked (id)
  cross join lateral (
    select * from departments d where d.tenant_id = ${tenantId} and d.dept_id = asked.id limit 1
  ) d
  where d.del_flag = '0'`;

export const readNames = (tx: Tx, tenantId: string, deptIds: string[]) => tx<{ deptId: string; deptName: string }[]>`
  select d.dept_id::text as "deptId", d.dept_name as "deptName" from unnest(${deptIds}::bigint[]) as asked (id)
  cross join lateral (
    select * from departments d where d.tenant_id = ${tenantId} and d.dept_id = asked.id limit 1
  ) d`;
