import { bigintOf, type Tx } from '../../../db/driver.ts';
import type { PointInTime } from '../../ledger/point-in-time.ts';
import type { StoredRow } from '../../records/record.ts';
import type { Order, Search } from '../filter.ts';
import type { Sort } from '../schema.ts';
import { leaderAt } from './leader-queries.ts';
import { childrenAt, stored } from './queries.ts';
import { allDepartments, traverseDown } from './tree-queries.ts';

/** The only expressions that an `order by` may contain, for a change `c`. */
const sortKeys = {
  orderNum: (tx: Tx) => stored.orderNum(tx),
  deptName: (tx: Tx) => tx`${stored.deptName(tx)} collate "C"`,
  createTime: (tx: Tx) => tx`(c.after ->> 'create_time')::timestamptz`,
  updateTime: (tx: Tx) => tx`coalesce((c.after ->> 'update_time')::timestamptz, '-infinity')`,
} satisfies Record<Sort, unknown>;

/** Whether a tenant has more departments than this, deleted ones included. */
export const everHadMoreDepartmentsThan = async (tx: Tx, tenantId: string, limit: number): Promise<boolean> => {
  const rows = await tx`select from departments d where d.tenant_id = ${tenantId} offset ${limit} limit 1`;
  return rows.length > 0;
};

export const readPage = async (
  tx: Tx,
  tenantId: string,
  { deptName, exact, leader, status, source: externalSource, externalId, parentId, underId }: Search,
  { sort, descending }: Order,
  { time, limit, offset }: { time: PointInTime; limit: number; offset: number },
): Promise<{ total: number; rows: StoredRow[] }> => {
  const order = descending ? tx`key desc, id desc` : tx`key, id`;
  const subtree = { rootId: underId, depth: null };
  const source =
    underId !== null
      ? tx`(${traverseDown(tx, tenantId, subtree, time, tx`, c.time, c.after`)} select * from subtree b where b.level > 1) c`
      : parentId !== null
        ? tx`(${childrenAt(tx, tenantId, tx`${bigintOf(parentId)}::bigint`, time)}) c`
        : allDepartments(tx, tenantId, time);
  const rows = await tx<{ total: number; row: StoredRow | null }[]>`
    with found as materialized (
      select c.after as row, (c.after ->> 'dept_id')::bigint as id, ${sortKeys[sort](tx)} as key
      from ${source}
      where c.after is not null
        ${status === null ? tx`` : tx`and ${stored.status(tx)} = ${status}`}
        ${externalSource === null ? tx`` : tx`and ${stored.source(tx)} = ${externalSource}`}
        ${externalId === null ? tx`` : tx`and ${stored.externalId(tx)} = ${externalId}`}
        ${parentId === null ? tx`` : tx`and ${stored.parentId(tx)} = ${bigintOf(parentId)}`}
        ${deptName === null ? tx`` : tx`and strpos(lower(${stored.deptName(tx)}), lower(${deptName})) > 0`}
        ${deptName !== null && exact ? tx`and lower(${stored.deptName(tx)}) = lower(${deptName})` : tx``}
        ${leader === null ? tx`` : tx`and strpos(lower(${leaderAt(tx, tenantId, stored.leader(tx), time)}), lower(${leader})) > 0`}
    )
    select t.total, page.row from (select count(*) as total from found) t
    left join lateral (select * from found order by ${order} limit ${limit} offset ${offset}) page on true
    order by ${order}`;
  return { total: rows[0]?.total ?? 0, rows: rows.flatMap(({ row }) => (row ? [row] : [])) };
};
