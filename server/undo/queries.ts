import { type Fragment, long, type Tx } from '../../db/sql.ts';
import type { Resource } from '../changes/schema.ts';
import type { Dept } from '../departments/schema.ts';

/** One row of the ledger. `was` and `became` tell records apart by their contents, whoever wrote them last. */
export interface Noted {
  id: number;
  batch: number;
  resource: Resource;
  resourceId: string;
  action: string;
  was: string | null;
  became: string | null;
}
export interface NotedRecords extends Noted {
  before: object | null;
  after: object | null;
  /** From before the time from which on the ledger is whole: others of its batch may have gone to the archive. */
  old: boolean;
}

/** Where a department stands above itself is not its own, and stamps are of the writing. */
const contents = (tx: Tx, record: Fragment) => tx`
  md5((${record}::jsonb - '{ancestors,createBy,createTime,updateBy,updateTime}'::text[])::text)`;

const columns = (tx: Tx) => tx`
  c.change_id as id, c.batch, c.resource, c.resource_id::text as "resourceId", c.action,
  ${contents(tx, tx`c.before`)} as was, ${contents(tx, tx`c.after`)} as became`;

/**
 * A ledger is long, and the planner takes any index of it for as good as the right one where it has no statistics. So
 * below: rows are asked for as a range, and in the order that only the right index has. Nor is a plan that was made for one
 * department, by the ledger's own triggers for one, taken for a thousand.
 */
export const keepToKeys = (tx: Tx) => tx`
  select set_config(name, value, true) from (values ('plan_cache_mode', 'force_custom_plan'), ('jit', 'off'),
    ('enable_seqscan', 'off'), ('enable_bitmapscan', 'off'), ('enable_sort', 'off')) as setting (name, value)`;

/** The batch of a row `one`: it all has one time. */
const batchOf = (tx: Tx, tenantId: string) => tx`
  select * from changes c
  where c.tenant_id = ${tenantId} and c.time >= one.time and c.time <= one.time and c.batch = one.batch
  order by c.time, c.change_id offset 0`;

/** The changes of one resource, latest first, of a row `s` with its id. */
const changesOf = (tx: Tx, tenantId: string, resource: Resource) => tx`
  select * from changes c
  where c.tenant_id = ${tenantId} and c.resource = ${resource} and c.resource_id >= s.id and c.resource_id <= s.id
  order by c.resource_id desc, c.change_id desc`;

/** What one request did, oldest first, by one of its changes. */
export const readBatch = (tx: Tx, tenantId: string, changeId: string) => tx<NotedRecords[]>`
  select ${columns(tx)}, c.before, c.after,
    exists (select from ledger_state where kept_from > c.time) as old
  from (select * from changes where tenant_id = ${tenantId} and change_id = ${long(changeId)} limit 1) one
  cross join lateral (${batchOf(tx, tenantId)}) c
  order by c.change_id`;

/**
 * What came to these resources after a change of each, oldest first; of many the latest. The batch itself is none of it:
 * in another ledger than the one it was found in, its copies have other ids.
 */
export const readLater = (
  tx: Tx,
  tenantId: string,
  { resource, batch, seen }: { resource: Resource; batch: number; seen: ReadonlyMap<string, number> },
  atMost: number,
) => tx<Noted[]>`
  select ${columns(tx)}
  from unnest(${[...seen.keys()]}::bigint[], ${[...seen.values()].map(String)}::bigint[]) s (id, seen)
  cross join lateral (
    select * from (${changesOf(tx, tenantId, resource)} limit ${atMost}) c
    where c.change_id > s.seen and c.batch <> ${batch} and c.action <> 'password changed' offset 0
  ) c order by c.change_id`;

/** As it was when it was last deleted. */
export const readLastBefore = async (tx: Tx, tenantId: string, resource: Resource, id: string) => {
  const [row] = await tx<{ before: object }[]>`
    select c.before from changes c
    where c.tenant_id = ${tenantId} and c.resource = ${resource} and c.resource_id = ${long(id)} and c.action = 'deleted'
    order by c.change_id desc limit 1`;
  return row?.before;
};

/** Whether a department was disabled already when a change came. */
export const wasDisabled = async (tx: Tx, tenantId: string, deptId: string, changeId: number): Promise<boolean> => {
  const [row] = await tx<{ status: string | null }[]>`
    select c.after ->> 'status' as status from changes c
    where c.tenant_id = ${tenantId} and c.resource = 'department' and c.resource_id = ${long(deptId)}
      and c.change_id < ${changeId}
    order by c.change_id desc limit 1`;
  return row?.status === '1';
};

/** A deleted department, and what was deleted by the same request and has been so ever since. */
export const readDeletedWith = (tx: Tx, tenantId: string, deptId: string) => tx<
  { deptId: string; parentId: string | null }[]
>`
  select dept_id::text as "deptId", parent_id::text as "parentId" from departments
  where tenant_id = ${tenantId} and dept_id = ${long(deptId)} and del_flag = '2'
  union
  select d.dept_id::text, d.parent_id::text
  from (
    select c.* from (values (${long(deptId)}::bigint)) s (id)
    cross join lateral (${changesOf(tx, tenantId, 'department')} limit 1) c
  ) one
  cross join lateral (${batchOf(tx, tenantId)}) b
  cross join lateral (select b.resource_id as id) s
  cross join lateral (${changesOf(tx, tenantId, 'department')} limit 1) l
  cross join lateral (
    select * from departments d where d.tenant_id = ${tenantId} and d.dept_id = s.id limit 1
  ) d
  where b.resource = 'department' and b.action = 'deleted' and l.change_id = b.change_id and d.del_flag = '2'`;

/** Deleted ones too: locked for ourselves, in the order of ids, as everywhere. */
export const lockDepts = (tx: Tx, tenantId: string, deptIds: string[]) => tx<
  { deptId: string; parentId: string | null; status: string; delFlag: string }[]
>`
  select dept_id::text as "deptId", parent_id::text as "parentId", status, del_flag as "delFlag" from departments
  where tenant_id = ${tenantId} and dept_id = any(${deptIds.map(long)}::bigint[])
  order by dept_id for update`;

/**
 * Back to existence, each below the parent that is said; null: top level. In pieces: each leaves its row in the ledger
 * too, and no statement is to need long. Who changes his place comes before those below him: their paths lead over him.
 */
export async function restoreDepts(
  tx: Tx,
  tenantId: string,
  by: string,
  parents: ReadonlyMap<string, string | null>,
): Promise<void> {
  const all = [...parents];
  for (let at = 0; at < all.length; at += PIECE) {
    const piece = all.slice(at, at + PIECE);
    const ids = piece.map(([id]) => id);
    await tx`
      update departments d set del_flag = '0', parent_id = n.parent_id, update_by = ${by}, update_time = now()
      from unnest(${ids}::bigint[], ${piece.map(([, parentId]) => parentId)}::bigint[]) as n (dept_id, parent_id)
      where d.tenant_id = ${tenantId} and d.dept_id = any(${ids}::bigint[]) and d.dept_id = n.dept_id
        and d.del_flag = '2'`;
  }
}
const PIECE = 20_000;

export const markDeleted = (tx: Tx, tenantId: string, by: string, deptIds: string[]) => tx`
  update departments set del_flag = '2', update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and dept_id = any(${deptIds}::bigint[]) and del_flag = '0'`;

/** The fields of many, in place. */
export const writeDepts = (tx: Tx, tenantId: string, by: string, records: Dept[]) => tx`
  update departments d set
    dept_name = n."deptName", order_num = n."orderNum", leader = n.leader, phone = n.phone, email = n.email,
    status = n.status, update_by = ${by}, update_time = now()
  from json_to_recordset(${JSON.stringify(records)}::text::json) as n (
    "deptId" bigint, "deptName" text, "orderNum" int, leader text, phone text, email text, status text
  )
  where d.tenant_id = ${tenantId} and d.dept_id = any(${records.map(({ deptId }) => String(deptId))}::bigint[])
    and d.dept_id = n."deptId" and d.del_flag = '0'`;

/** In the order of ids, deleted ones too. */
export const lockUsers = (tx: Tx, tenantId: string, userIds: string[]) => tx`
  select from users where tenant_id = ${tenantId} and user_id = any(${userIds.map(long)}::bigint[])
  order by user_id for no key update`;
