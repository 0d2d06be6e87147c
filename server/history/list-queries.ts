import { long, type Tx } from '../../db/sql.ts';
import type { Dept, Sort } from '../departments/schema.ts';
import { childrenOf, type Moment } from './queries.ts';
import { everyone, walkDown } from './tree-queries.ts';

/** What a list is asked for; null: any. */
export interface Search {
  deptName: string | null;
  leader: string | null;
  status: string | null;
  parentId: string | null;
  underId: string | null;
}

export interface Order {
  sort: Sort;
  descending: boolean;
}

/**
 * The only texts that ever stand in an `order by`. Records have their times to the second: within one, those who were
 * changed are in the order of their changes, as the list of today has them.
 */
const keys = {
  orderNum: (tx: Tx) => tx`r."orderNum" as key, 0 as key2`,
  deptName: (tx: Tx) => tx`r."deptName" collate "C" as key, 0 as key2`,
  createTime: (tx: Tx, tenantId: string) => tx`
    (select d.create_time from departments d where d.tenant_id = ${tenantId} and d.dept_id = r."deptId") as key, 0 as key2`,
  updateTime: (tx: Tx) => tx`
    coalesce(r."updateTime", '') collate "C" as key,
    case when r."updateTime" is null then '-infinity' else c.time end as key2`,
} satisfies Record<Sort, unknown>;

/** Whether a tenant ever had more departments than this. */
export const hadMore = async (tx: Tx, tenantId: string, limit: number): Promise<boolean> => {
  const rows = await tx`select from departments d where d.tenant_id = ${tenantId} offset ${limit} limit 1`;
  return rows.length > 0;
};

export const readPage = async (
  tx: Tx,
  tenantId: string,
  { deptName, leader, status, parentId, underId }: Search,
  { sort, descending }: Order,
  { moment, limit, offset }: { moment: Moment; limit: number; offset: number },
): Promise<{ total: number; rows: Dept[] }> => {
  const inOrder = descending ? tx`key desc, key2 desc, id desc` : tx`key, key2, id`;
  const under = { rootId: underId, depth: null };
  const source =
    underId !== null
      ? tx`(${walkDown(tx, tenantId, under, moment, tx`, c.time, c.after`)} select * from branch b where b.level > 1) c`
      : parentId !== null
        ? tx`(${childrenOf(tx, tenantId, tx`${long(parentId)}::bigint`, moment)}) c`
        : everyone(tx, tenantId, moment);
  const rows = await tx<{ total: number; dept: Dept | null }[]>`
    with found as materialized (
      select c.after as dept, r."deptId" as id, ${keys[sort](tx, tenantId)}
      from ${source} cross join lateral json_to_record(c.after) as r (
        "deptId" bigint, "parentId" bigint, "deptName" text, "orderNum" int, leader text, status text, "updateTime" text)
      where c.after is not null
        ${status === null ? tx`` : tx`and r.status = ${status}`}
        ${parentId === null ? tx`` : tx`and r."parentId" = ${long(parentId)}`}
        ${deptName === null ? tx`` : tx`and strpos(lower(r."deptName"), lower(${deptName})) > 0`}
        ${leader === null ? tx`` : tx`and strpos(lower(r.leader), lower(${leader})) > 0`}
    )
    select t.total, page.dept from (select count(*) as total from found) t
    left join lateral (select * from found order by ${inOrder} limit ${limit} offset ${offset}) page on true
    order by ${inOrder}`;
  return { total: rows[0]?.total ?? 0, rows: rows.flatMap(({ dept }) => dept ?? []) };
};
