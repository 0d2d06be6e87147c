import { type Fragment, long, type Tx } from '../../db/sql.ts';
import type { Dept } from '../departments/schema.ts';
import { childrenOf, hasChildren, latest, type Moment } from './queries.ts';

/** All departments that a tenant ever had, at most so many, each with its latest change `c` until then. */
export const everyone = (tx: Tx, tenantId: string, moment: Moment, atMost: number | null = null) => tx`
  (select d.dept_id as id from departments d where d.tenant_id = ${tenantId} order by d.dept_id limit ${atMost}) ever
  left join lateral (${latest(tx, tenantId, 'department', tx`ever.id`, moment)}) c on true`;

/** All of a tenant, in the order of ids; undefined when it ever had more than `atMost`. */
export const readEveryone = async (
  tx: Tx,
  tenantId: string,
  moment: Moment,
  atMost: number,
): Promise<Dept[] | undefined> => {
  const rows: (Dept | null)[][] = await tx`select c.after from ${everyone(tx, tenantId, moment, atMost + 1)}`.values();
  if (rows.length > atMost) return undefined;
  return rows.flatMap(([dept]) => dept ?? []);
};

/** Which part of a tree: below one department, or all of it (null), and how many levels of it (null: all). */
export interface Part {
  rootId: string | null;
  depth: number | null;
}

/**
 * Level by level, the children of each department together and in display order: the walk goes through the departments
 * of a level as they came, and from each to its children. `more` are columns of a change `c` beside its id.
 */
export const walkDown = (tx: Tx, tenantId: string, { rootId, depth }: Part, moment: Moment, more: Fragment) => {
  const columns = tx`c.change_id, (c.after ->> 'parentId')::bigint as parent_id ${more}`;
  const children = (parent: Fragment) => tx`
    select c.id, ${columns} from (${childrenOf(tx, tenantId, parent, moment)}) c order by c.order_num, c.id`;
  const root = (id: Fragment) => tx`
    select ${id} as id, ${columns} from (${latest(tx, tenantId, 'department', id, moment)}) c where c.after is not null`;
  return tx`
    with recursive branch as (
      select first.*, 1 as level
      from (${rootId === null ? children(tx`0::bigint`) : root(tx`${long(rootId)}::bigint`)}) first
      union all
      select c.*, branch.level + 1 from branch cross join lateral (${children(tx`branch.id`)} offset 0) c
      where branch.level < ${depth ?? 2147483647}
    )`;
};

/** A part that is no more than `limit`; what is cut off is seen at the last level alone. */
export const readPart = (tx: Tx, tenantId: string, part: Part, moment: Moment, limit: number) => tx<
  { dept: Dept; hasChildren: boolean }[]
>`
  ${walkDown(tx, tenantId, part, moment, tx`, c.after`)}
  select b.after as dept,
    b.level = ${part.depth}::int is true and ${hasChildren(tx, tenantId, tx`b.id`, moment)} as "hasChildren"
  from branch b limit ${limit}`;

/** The shape of a whole tenant, in no order, to be fetched in pieces: none of the statements needs long. */
export const openEveryone = (tx: Tx, tenantId: string, moment: Moment) => tx`
  declare past no scroll cursor for
  select ever.id, (c.after ->> 'parentId')::bigint, c.change_id, (c.after ->> 'orderNum')::int
  from ${everyone(tx, tenantId, moment)} where c.after is not null`;

/** The shape of a part, the children of one parent together and in display order. */
export const openPart = (tx: Tx, tenantId: string, part: Part, moment: Moment) => tx`
  declare past no scroll cursor for
  ${walkDown(tx, tenantId, part, moment, tx``)}
  select b.id, b.parent_id, b.change_id, 0 from branch b`;

type Shape = [deptId: number, parentId: number, changeId: number, orderNum: number];

export const fetchShape = async (tx: Tx): Promise<Shape[]> =>
  (await tx`fetch forward 5000 from past`.values()) as never;

export const closeShape = (tx: Tx) => tx`close past`;

/** The departments as some changes left them, in no order; `cut`: some may have children that are not shown. */
export const readAfter = (tx: Tx, tenantId: string, changeIds: number[], moment: Moment, cut: boolean) => tx<
  { dept: Dept; hasChildren: boolean }[]
>`
  select node.after as dept,
    ${cut ? hasChildren(tx, tenantId, tx`node.resource_id`, moment) : tx`false`} as "hasChildren"
  from unnest(${changeIds.map(String)}::bigint[]) asked (id) cross join lateral (
    select c.resource_id, c.after from changes c
    where c.tenant_id = ${tenantId} and c.change_id >= asked.id and c.change_id <= asked.id
    order by c.change_id limit 1
  ) node`;
