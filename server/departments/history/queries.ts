import { bigintOf, type Fragment, raw, type Tx } from '../../../db/driver.ts';
import { latestChange } from '../../ledger/history.ts';
import type { PointInTime } from '../../ledger/point-in-time.ts';
import type { StoredRow } from '../../records/record.ts';
import { department } from '../record.ts';

// Some conditions are a range of one id (`>=` and `<=`) instead of `=`: see `forceIndexScans` (db/planner.ts).

/** The fields of a department after a change `c`. */
export const stored = {
  parentId: (tx: Tx) => tx`coalesce((c.after ->> 'parent_id')::bigint, 0)`,
  deptName: (tx: Tx) => raw(tx, department.storedText('deptName', 'c.after')),
  orderNum: (tx: Tx) => raw(tx, `${department.storedText('orderNum', 'c.after')}::int`),
  leader: (tx: Tx) => raw(tx, department.storedText('leader', 'c.after')),
  leaderId: (tx: Tx) => raw(tx, `${department.storedText('leaderId', 'c.after')}::bigint`),
  source: (tx: Tx) => raw(tx, department.storedText('source', 'c.after')),
  externalId: (tx: Tx) => raw(tx, department.storedText('externalId', 'c.after')),
  status: (tx: Tx) => raw(tx, department.storedText('status', 'c.after')),
};

interface AncestorRow {
  deptId: number;
  parentId: number;
  deptName: string;
}

/** Reads departments and all of their ancestors as they were at a point in time, each once. */
export const readAncestorsAt = (tx: Tx, tenantId: string, deptIds: number[], time: PointInTime) => {
  const fields = tx`${stored.parentId(tx)}, ${stored.deptName(tx)}`;
  return tx<AncestorRow[]>`
    with recursive up (id, parent_id, name) as (
      select wanted.id, ${fields} from unnest(${deptIds.map(String)}::bigint[]) wanted (id)
      cross join lateral (${latestChange(tx, tenantId, 'department', tx`wanted.id`, time)}) c
      where c.after is not null
      union
      select up.parent_id, ${fields} from up
      cross join lateral (${latestChange(tx, tenantId, 'department', tx`up.parent_id`, time)}) c
      where up.parent_id <> 0 and c.after is not null
    )
    select id as "deptId", parent_id as "parentId", name as "deptName" from up`;
};

/**
 * Selects the children of a department at a point in time: of all departments that ever had this parent, those that had it then.
 */
export const childrenAt = (tx: Tx, tenantId: string, parent: Fragment, time: PointInTime) => tx`
  select candidate.id, c.change_id, c.time, c.after, ${stored.orderNum(tx)} as order_num from (
    select distinct on (e.parent_id, e.resource_id) e.resource_id as id from changes e
    where e.tenant_id = ${tenantId} and e.parent_id >= ${parent} and e.parent_id <= ${parent}
    order by e.parent_id, e.resource_id
  ) candidate
  cross join lateral (${latestChange(tx, tenantId, 'department', tx`candidate.id`, time)}) c
  where c.after is not null and ${stored.parentId(tx)} = ${parent}`;

export const hadChildren = (tx: Tx, tenantId: string, parent: Fragment, time: PointInTime) => tx`
  exists (${childrenAt(tx, tenantId, parent, time)} limit 1)`;

export const listChildrenAt = (
  tx: Tx,
  tenantId: string,
  parentId: string,
  { time, after, limit }: { time: PointInTime; after: { key: string; id: string } | undefined; limit: number },
) => tx<{ row: StoredRow; orderNum: number; deptId: number; hasChildren: boolean }[]>`
  select d.after as row, d.order_num as "orderNum", d.id as "deptId",
    ${hadChildren(tx, tenantId, tx`d.id`, time)} as "hasChildren"
  from (
    select d.* from (${childrenAt(tx, tenantId, tx`${bigintOf(parentId)}::bigint`, time)}) d
    ${after ? tx`where (d.order_num, d.id) > (${after.key}::int, ${bigintOf(after.id)}::bigint)` : tx``}
    order by d.order_num, d.id limit ${limit}
  ) d order by d.order_num, d.id`;

export const everExisted = async (tx: Tx, tenantId: string, deptId: string): Promise<boolean> => {
  const rows = await tx`select from departments d where d.tenant_id = ${tenantId} and d.dept_id = ${bigintOf(deptId)}`;
  return rows.length > 0;
};

/** Reads the departments that changed between two times, at most `limit`, with their rows at both times. */
export const readChangedBetween = (tx: Tx, tenantId: string, from: PointInTime, to: PointInTime, limit: number) => tx<
  { before: StoredRow | null; after: StoredRow | null }[]
>`
  select b.after as before, a.after from (
    select distinct c.resource_id as id from changes c
    where c.tenant_id = ${tenantId} and c.resource = 'department'
      and c.time > (select ${from}::text::timestamptz) and c.time <= (select ${to}::text::timestamptz)
    limit ${limit}
  ) changed
  left join lateral (${latestChange(tx, tenantId, 'department', tx`changed.id`, from)}) b on true
  left join lateral (${latestChange(tx, tenantId, 'department', tx`changed.id`, to)}) a on true
  order by changed.id`;

/** A department whose path is requested, as it was after a change. */
interface WantedPath {
  deptId: number;
  changeId: number;
  time: string;
}

/**
 * Reads the ancestors of departments as they were after given changes. Only a move or a restore changes a path, so the state
 * after a change lasts `until` the next of these, and each ancestor is read once for all changes with the same `until`. The
 * changes of a batch have the same time and share one state: `until` is after the last of them. Where the changes of a
 * department were removed from the archive, its current row is used.
 */
export const readPathsAfter = (tx: Tx, tenantId: string, wanted: readonly WantedPath[]) => {
  const next = (table: Fragment) => tx`
    (select c.change_id from ${table} c
    where c.tenant_id = ${tenantId} and c.change_id > b.change_id
      and c.resource = 'department' and c.action in ('moved', 'restored')
    order by c.change_id limit 1)`;
  const latest = (table: Fragment, id: Fragment, until: Fragment) => tx`
    (select coalesce((coalesce(c.after, c.before) ->> 'parent_id')::bigint, 0) as parent_id from ${table} c
    where c.tenant_id = ${tenantId} and c.resource = 'department' and c.resource_id >= ${id} and c.resource_id <= ${id}
      and c.change_id < ${until}
    order by c.resource_id desc, c.change_id desc limit 1)`;
  const parentOf = (id: Fragment, until: Fragment) => tx`
    cross join lateral (
      select parent_id from (
        ${latest(tx`changes`, id, until)}
        union all
        ${latest(tx`changes_archive`, id, until)}
        union all
        (select coalesce(d.parent_id, 0) from departments d
        where d.tenant_id = ${tenantId} and d.dept_id = ${id} limit 1)
      ) p limit 1
    ) p`;
  const column = <K extends keyof WantedPath>(name: K) => wanted.map((each) => String(each[name]));
  // The statement returns two kinds of rows: `until` of each wanted path by its number, and the parent of each ancestor.
  return tx<({ n: number; until: string; deptId: null } | { until: string; deptId: number; parentId: number })[]>`
    with recursive wanted as materialized (
      select w.n, w.dept_id, coalesce(least(${next(tx`changes`)}, ${next(tx`changes_archive`)}),
        9223372036854775807) as until
      from unnest(${column('deptId')}::bigint[], ${column('changeId')}::bigint[], ${column('time')}::text[])
        with ordinality w (dept_id, change_id, time, n)
      cross join lateral (
        select greatest((
          select c.change_id from changes c
          where c.tenant_id = ${tenantId} and c.time >= w.time::timestamptz and c.time <= w.time::timestamptz
          order by c.time desc, c.change_id desc limit 1
        ), w.change_id) as change_id
      ) b
    ), up (dept_id, until, parent_id) as (
      select s.dept_id, s.until, p.parent_id from (select distinct dept_id, until from wanted) s
      ${parentOf(tx`s.dept_id`, tx`s.until`)}
      union
      select up.parent_id, up.until, p.parent_id from up
      ${parentOf(tx`up.parent_id`, tx`up.until`)}
      where up.parent_id <> 0
    )
    select n, until::text, null as "deptId", null as "parentId" from wanted
    union all
    select null, until::text, dept_id, parent_id from up`;
};
